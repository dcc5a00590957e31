/* prefetch.c - software prefetch of the rows of later outer points.
 *
 * A nest that reads a row in several stages waits for memory in the first of them and for arithmetic
 * in the others.  The last stage that reads a row prefetches the row of the outer point after the next
 * one into the second-level cache: memory works all the time, and a row has the time of a whole point
 * to arrive.  Rows that are written through the caches are prefetched too, for their lines are read
 * before they are written. */
#include "backends/openmp/nest/nest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DISTANCE = 2 }; /* outer points from a row to the one that is prefetched */

/* Elements in order, of which every outer point has its own. */
static bool is_row(const tc_omp_nest *x, const tc_address *a) {
  const tc_dim next = a->coef[x->nest->nparallel - 1];
  return !a->nterm && tc_dim_is(a->coef[x->nest->vector], 1) && !tc_dim_is(next, 0) &&
         !tc_dim_bad(next);
}

static bool reads_row(const tc_omp_nest *x, const tc_expr *e) {
  if (e->kind != TC_EX_LOAD || e->guard.id) return false;
  const tc_buf_kind kind = tc_omp_buffer(x, e->buffer)->kind;
  return (kind == TC_BUF_INPUT || kind == TC_BUF_ARENA) && is_row(x, &e->address);
}

static bool writes_row(const tc_omp_nest *x, const tc_stage *st, const tc_action *a) {
  if (!x->prefetches || a->kind != TC_ACT_STORE || a->guard.id) return false;
  const tc_buf_kind kind = tc_omp_buffer(x, a->buffer)->kind;
  return (kind == TC_BUF_OUTPUT || kind == TC_BUF_ARENA) && st->axes >> x->nest->vector & 1 &&
         is_row(x, &a->address);
}

bool tc_omp_plan_prefetch(tc_omp_nest *x) {
  const tc_nest *n = x->nest;
  x->prefetch_stage = calloc(x->s.k->nexpr + 1, sizeof *x->prefetch_stage);
  uint8_t *need = x->prefetch_stage ? malloc(x->s.k->nexpr + 1) : NULL;
  if (!need) return false;
  int stages = 0;
  for (uint32_t i = 0; i < n->nstage; ++i) stages += n->stage[i].axes != 0;
  x->prefetches = stages > 1 && n->nparallel > 0 && n->vector >= n->nparallel && !n->serial;
  for (uint32_t i = 0; x->prefetches && i < n->nstage; ++i) {
    if (!(n->stage[i].axes >> n->vector & 1)) continue;
    memset(need, 0, x->s.k->nexpr + 1);
    tc_omp_mark_stage(x, &n->stage[i], need);
    for (uint32_t id = 1; id < x->s.k->nexpr; ++id)
      if (need[id] && reads_row(x, &x->s.k->expr[id])) x->prefetch_stage[id] = i + 1;
  }
  free(need);
  return true;
}

static size_t element_bytes(const tc_omp_nest *x, uint32_t buffer) {
  return tc_dtype_bytes(tc_omp_buffer(x, buffer)->dtype);
}

void tc_omp_row_bytes(const tc_omp_nest *x, tc_buf *out) {
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    const tc_expr *e = &x->s.k->expr[id];
    if (!x->prefetch_stage[id]) continue;
    tc_put(out, out->len ? " + (" : "(");
    tc_print_dim(x->s.p, e->address.coef[x->nest->nparallel - 1], out);
    tc_putf(out, ") * %zu", element_bytes(x, e->buffer));
  }
}

/* A row that a stage prefetches; name: of its variables. */
typedef struct row {
  char name[24];
  uint32_t buffer;
  const tc_address *address;
  bool written;
} row;

typedef void row_fn(tc_omp_nest *x, const row *r, int vectors);

static void for_rows(tc_omp_nest *x, uint32_t stage, row_fn *f, int vectors) {
  const tc_stage *st = &x->nest->stage[stage];
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    const tc_expr *e = &x->s.k->expr[id];
    row r = {.buffer = e->buffer, .address = &e->address};
    if (x->prefetch_stage[id] != stage + 1) continue;
    snprintf(r.name, sizeof r.name, "%u", id);
    f(x, &r, vectors);
  }
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    row r = {.buffer = a->buffer, .address = &a->address, .written = true};
    if (!writes_row(x, st, a)) continue;
    snprintf(r.name, sizeof r.name, "_b%u_%u", a->buffer, i);
    f(x, &r, vectors);
  }
}

/* step<name>, the bytes from one row to the next, and prefetch<name>, the prefetch distance in bytes; the
 * latter is 0 where the row is too large for the cache or written by nontemporal stores. */
static void put_distance(tc_omp_nest *x, const row *r, int vectors) {
  (void)vectors;
  const bool nontemporal = r->written && x->s.nontemporal;
  tc_buf step = {0};
  tc_print_dim(x->s.p, r->address->coef[x->nest->nparallel - 1], &step);
  tc_print_line(&x->s, "const int64_t step%s = (%s) * %zu%s;", r->name, step.text,
                element_bytes(x, r->buffer), x->grouped ? " * group" : "");
  tc_print_line(&x->s,
                "const int64_t prefetch%s = %s%s%sstep%s <= TC_PREFETCH_BYTES ? %d * step%s : 0;",
                r->name, nontemporal ? "!" : "", nontemporal ? x->s.nontemporal : "",
                nontemporal ? " && " : "", r->name, DISTANCE, r->name);
  tc_buf_free(&step);
}

/* Of a row that is read the prefetch is not conditional: at distance 0 it names the elements that are
 * read anyway.  Writes wait for nothing, so one request for each line will do. */
static void put_row_prefetch(tc_omp_nest *x, const row *r, int vectors) {
  tc_buf at = {0}, call = {0};
  tc_print_address(&x->s, r->address, &at);
  if (r->written) tc_putf(&call, "if (prefetch%s) tc_prefetch_once", r->name);
  else tc_put(&call, "tc_prefetch");
  tc_print_line(&x->s, "%s(b%u + (%s), prefetch%s, %d * TC_L);", call.text, r->buffer, at.text,
                r->name, vectors * (int)element_bytes(x, r->buffer));
  tc_buf_free(&at);
  tc_buf_free(&call);
}

void tc_omp_put_prefetch_distance(tc_omp_nest *x, uint32_t stage) {
  for_rows(x, stage, put_distance, 0);
}

void tc_omp_put_prefetch(tc_omp_nest *x, uint32_t stage, int vectors) {
  if (x->jam_points) tc_omp_begin_points(x);
  for_rows(x, stage, put_row_prefetch, vectors);
  if (x->jam_points) tc_omp_end_points(x);
}
