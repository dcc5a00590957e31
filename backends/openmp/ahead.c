/* ahead.c - asks the memory for the next outer point's rows while this one's are computed.
 *
 * A nest that reads a row in several stages waits for memory in the first of them and for
 * arithmetic in the others.  Every stage that reads a row asks for a part of the next one: the
 * first n - 1 of n stages for one part in 2^s (at least four) each, the last, which most often has
 * the most to compute, for the rest.  So memory works all the time. */
#include "backends/openmp/nest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = 64 }; /* later ones ask for nothing */

void tc_omp_mark_stage(const tc_omp_nest *x, const tc_stage *st, uint8_t *need) {
  for (uint32_t i = 0; i < st->naction; ++i)
    need[st->action[i].value.id] = need[st->action[i].position.id] = need[st->action[i].guard.id] =
        1;
  for (uint32_t i = x->s.k->nexpr; i-- > 1;) {
    if (!need[i]) continue;
    const tc_expr *e = &x->s.k->expr[i];
    for (int j = 0; j < 3; ++j) need[e->in[j].id] = 1;
  }
}

/* A row of its own for every outer point, read in order. */
static bool is_row(const tc_omp_nest *x, const tc_expr *e) {
  if (e->kind != TC_EX_LOAD || e->guard.id || e->address.nterm) return false;
  const tc_buf_kind kind = x->s.p->buffer[x->s.k->buffer[e->buffer]].kind;
  const tc_dim next = e->address.coef[x->nest->nouter - 1];
  return (kind == TC_BUF_INPUT || kind == TC_BUF_ARENA) &&
         tc_dim_is(e->address.coef[x->nest->vector], 1) && !tc_dim_is(next, 0) && !tc_dim_bad(next);
}

bool tc_omp_plan_ahead(tc_omp_nest *x) {
  const tc_nest *n = x->nest;
  x->readers = calloc(x->s.k->nexpr + 1, sizeof *x->readers);
  uint8_t *need = x->readers ? malloc(x->s.k->nexpr + 1) : NULL;
  if (!need) return false;
  int stages = 0;
  for (uint32_t i = 0; i < n->nstage; ++i) stages += n->stage[i].axes != 0;
  const bool rows = stages > 1 && n->nouter > 0 && n->vector >= n->nouter && !n->serial;
  for (uint32_t i = 0; rows && i < n->nstage && i < STAGES; ++i) {
    if (!(n->stage[i].axes >> n->vector & 1)) continue;
    memset(need, 0, x->s.k->nexpr + 1);
    tc_omp_mark_stage(x, &n->stage[i], need);
    for (uint32_t id = 1; id < x->s.k->nexpr; ++id)
      if (need[id] && is_row(x, &x->s.k->expr[id])) x->readers[id] |= UINT64_C(1) << i;
  }
  free(need);
  return true;
}

static void put_each(tc_omp_nest *x, uint32_t stage, int vectors,
                     void (*put)(tc_omp_nest *, uint32_t id, uint32_t stage, int vectors)) {
  for (uint32_t id = 1; stage < STAGES && id < x->s.k->nexpr; ++id)
    if (x->readers[id] >> stage & 1) put(x, id, stage, vectors);
}

static size_t element_bytes(const tc_omp_nest *x, const tc_expr *e) {
  return tc_dtype_bytes(x->s.p->buffer[x->s.k->buffer[e->buffer]].dtype);
}

void tc_omp_row_bytes(const tc_omp_nest *x, tc_buf *out) {
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    const tc_expr *e = &x->s.k->expr[id];
    if (!x->readers[id]) continue;
    tc_put(out, out->len ? " + (" : "(");
    tc_print_dim(x->s.p, e->address.coef[x->nest->nouter - 1], out);
    tc_putf(out, ") * %zu", element_bytes(x, e));
  }
}

/* A stage's part of the next row, in 2^shift-ths: `size` from `first` on. */
typedef struct part {
  int first, size, shift;
} part;

static part part_of(uint64_t readers, uint32_t stage) {
  const int all = __builtin_popcountll(readers);
  part p = {.first = __builtin_popcountll(readers & ((UINT64_C(1) << stage) - 1)), .shift = 2};
  while (1 << p.shift < all) ++p.shift;
  p.size = p.first == all - 1 ? (1 << p.shift) - p.first : 1;
  return p;
}

static bool is_whole(part p) { return p.size == 1 << p.shift; }

/* How far the next row is, in elements, or 0: too large to be kept.  Element i of this one then
 * asks for from + i * rate, scaled, of that one, else for itself, which is at hand. */
static void put_distance(tc_omp_nest *x, uint32_t id, uint32_t stage, int vectors) {
  const tc_expr *e = &x->s.k->expr[id];
  const part p = part_of(x->readers[id], stage);
  tc_buf step = {0};
  (void)vectors;
  tc_put(&step, "(");
  tc_print_dim(x->s.p, e->address.coef[x->nest->nouter - 1], &step);
  tc_put(&step, x->grouped ? ") * group" : ")");
  tc_print_line(&x->s, "const int64_t next%u = %s * %zu <= TC_AHEAD_BYTES ? %s : 0;", id, step.text,
                element_bytes(x, e), step.text);
  if (!is_whole(p))
    tc_print_line(&x->s,
                  "const int64_t from%u = next%u ? end%d * %d : 0, rate%u = next%u ? %d : %d;", id,
                  id, x->nest->vector, p.first, id, id, p.size, 1 << p.shift);
  tc_buf_free(&step);
}

static void put_request(tc_omp_nest *x, uint32_t id, uint32_t stage, int vectors) {
  const tc_expr *e = &x->s.k->expr[id];
  const part p = part_of(x->readers[id], stage);
  const int v = x->nest->vector, size = (int)element_bytes(x, e);
  const char *const i = x->s.axis[v];
  char place[80];
  tc_buf at = {0};
  snprintf(place, sizeof place, "((from%u + %s * rate%u) >> %d)", id, i, id, p.shift);
  if (!is_whole(p)) x->s.axis[v] = place;
  tc_print_address(&x->s, &e->address, &at);
  x->s.axis[v] = i;
  tc_print_line(&x->s, "tc_ahead(b%u + (%s), next%u * %d, %d * TC_L >> %d);", e->buffer, at.text,
                id, size, vectors * size * p.size, p.shift);
  tc_buf_free(&at);
}

void tc_omp_ahead_distance(tc_omp_nest *x, uint32_t stage) { put_each(x, stage, 0, put_distance); }
void tc_omp_ahead(tc_omp_nest *x, uint32_t stage, int vectors) {
  put_each(x, stage, vectors, put_request);
}
