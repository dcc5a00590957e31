/* prefetch.c - software prefetch of the rows of later outer points (schedule/prefetch.c). */
#include "backends/openmp/nest/nest.h"

#include <stdio.h>

static size_t element_bytes(const tc_omp_nest *x, uint32_t buffer) {
  return tc_dtype_bytes(tc_omp_buffer(&x->f, buffer)->dtype);
}

static bool is_prefetched(const tc_omp_nest *x, uint32_t id) {
  for (uint32_t i = 0; i < x->nest->nstage; ++i)
    if (tc_schedule_has(&x->stage[i].prefetch, id)) return true;
  return false;
}

/* Elements of a row with what belongs to it, whatever lies between rows of an operand. */
static tc_dim row_length(const tc_omp_nest *x, const tc_address *a) {
  return tc_dense_step(x->s.p, a->coef[x->nest->nparallel - 1]);
}

void tc_omp_row_bytes(const tc_omp_nest *x, tc_buf *out) {
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    const tc_expr *e = &x->s.k->expr[id];
    if (!is_prefetched(x, id)) continue;
    tc_put(out, out->len ? " + (" : "(");
    tc_print_dim(x->s.p, row_length(x, &e->address), out);
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
  const tc_schedule_list *loads = &x->stage[stage].prefetch,
                         *stores = &x->stage[stage].prefetch_store;
  for (uint32_t i = 0; i < loads->n; ++i) {
    const tc_expr *e = &x->s.k->expr[loads->at[i]];
    row r = {.buffer = e->buffer, .address = &e->address};
    snprintf(r.name, sizeof r.name, "%u", loads->at[i]);
    f(x, &r, vectors);
  }
  for (uint32_t i = 0; i < stores->n; ++i) {
    const tc_action *a = &x->nest->stage[stage].action[stores->at[i]];
    row r = {.buffer = a->buffer, .address = &a->address, .written = true};
    snprintf(r.name, sizeof r.name, "_b%u_%u", a->buffer, stores->at[i]);
    f(x, &r, vectors);
  }
}

/* step<name>, the bytes from one row to the next, and prefetch<name>, the prefetch distance in
 * bytes; the latter is 0 where the row is too large for the cache or written by nontemporal
 * stores. */
static void put_distance(tc_omp_nest *x, const row *r, int vectors) {
  (void)vectors;
  const bool nontemporal = r->written && x->s.nontemporal;
  const char *const group = x->plan->group ? " * group" : "";
  const tc_dim next = r->address->coef[x->nest->nparallel - 1], length = row_length(x, r->address);
  tc_buf step = {0}, own = {0}, bytes = {0};
  tc_print_dim(x->s.p, next, &step);
  tc_print_dim(x->s.p, length, &own);
  tc_print_line(&x->s, "const int64_t step%s = (%s) * %zu%s;", r->name, step.text,
                element_bytes(x, r->buffer), group);
  if (tc_dim_same(next, length)) tc_putf(&bytes, "step%s", r->name);
  else tc_putf(&bytes, "(%s) * %zu%s", own.text, element_bytes(x, r->buffer), group);
  tc_print_line(&x->s,
                "const int64_t prefetch%s = %s%s%s%s <= TC_PREFETCH_BYTES ? %lld * step%s : 0;",
                r->name, nontemporal ? "!" : "", nontemporal ? x->s.nontemporal : "",
                nontemporal ? " && " : "", bytes.text, (long long)x->plan->distance, r->name);
  tc_buf_free(&step);
  tc_buf_free(&own);
  tc_buf_free(&bytes);
}

/* Of a row that is read the prefetch is not conditional: at distance 0 it names the elements that
 * are read anyway.  Writes wait for nothing, so one request for each line will do. */
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
