/* unroll.c - how many vectors and points a stage's loop takes at once. */
#include "backends/openmp/schedule/plan.h"

/* Operations of the stage at each point of the vector axis. */
static int operations(const tc_omp_facts *f, const tc_stage *st) {
  const uint8_t *need = tc_omp_needs(f, st);
  int n = 0;
  for (uint32_t id = 1; id < f->k->nexpr; ++id)
    n += need[id] && f->k->expr[id].kind == TC_EX_OP && f->depends[id] >> f->vector & 1;
  return n;
}

/* Does the stage store bytes or words, by few operations?  A vector of them is a part of a
 * register, over which the loop has to be no longer than what is done. */
static bool is_narrow(const tc_omp_facts *f, const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    if (a->kind != TC_ACT_STORE || tc_dtype_bytes(tc_omp_buffer(f, a->buffer)->dtype) > 2)
      return false;
  }
  return operations(f, st) <= TC_OMP_LIGHT;
}

/* Bytes of the smallest elements that the stage loads along the vector axis. */
static int64_t loaded_bytes(const tc_omp_facts *f, const tc_stage *st) {
  const uint8_t *need = tc_omp_needs(f, st);
  size_t least = 8;
  for (uint32_t id = 1; id < f->k->nexpr; ++id) {
    const tc_expr *e = &f->k->expr[id];
    if (!need[id] || e->kind != TC_EX_LOAD || !tc_dim_is(e->address.coef[f->vector], 1)) continue;
    const size_t bytes = tc_dtype_bytes(tc_omp_buffer(f, e->buffer)->dtype);
    if (bytes < least) least = bytes;
  }
  return (int64_t)least;
}

/* A reduction along the vector axis keeps several vectors of partial results, one chain of
 * dependent operations each.  Of bytes they are twice as many: hardware prefetchers follow a row
 * that is read by two lines at a time far ahead, one that is read by single lines hardly. */
int64_t tc_omp_plan_unroll(const tc_omp_choice *c, const tc_stage *st) {
  if (!tc_omp_along(&c->f, st)) return 1;
  if (tc_omp_has_kind(st, TC_ACT_REDUCE) && !tc_omp_has_kind(st, TC_ACT_SCAN))
    return loaded_bytes(&c->f, st) > 1 ? TC_OMP_UNROLL : 2 * TC_OMP_UNROLL;
  if (is_narrow(&c->f, st)) return TC_OMP_UNROLL;
  return tc_omp_may_deinterleave(&c->f, st) ? 2 : 1;
}

/* ---- totals ---------------------------------------------------------------------------------- */

bool tc_omp_has_f64_total(const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind == TC_ACT_REDUCE &&
        (tc_print_sums_in_f64(&st->action[i]) || st->action[i].term.id))
      return true;
  return false;
}

/* Is the number of points that one accumulator set sums known to be no more than `set`? */
static bool is_short(const tc_omp_facts *f, const tc_stage *st, int64_t set) {
  int64_t points = 1;
  for (int i = 0; i < f->nest->naxis; ++i) {
    if (!(st->axes >> i & 1)) continue;
    int64_t lo, hi;
    tc_dim_range(tc_graph_dims(f->p->graph), f->nest->axis[i].extent, &lo, &hi);
    if (hi > set || hi < 0) return false;
    points *= hi;
    if (points > set) return false;
  }
  return true;
}

/* f32 sums join an f64 total block by block, which bounds their error by that of a short sum. */
int64_t tc_omp_plan_block(const tc_omp_choice *c, const tc_stage *st, int64_t set) {
  if (!st->axes || !tc_omp_has_f64_total(st) || is_short(&c->f, st, set)) return 0;
  return tc_omp_along(&c->f, st) ? set : TC_OMP_FOLD;
}
