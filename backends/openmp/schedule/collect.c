/* collect.c - rows that are reduced, as many at a time as a vector has lanes (nest/collect.c). */
#include "backends/openmp/schedule/plan.h"

static bool reduces_alone(const tc_omp_facts *f, const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    if (a->kind != TC_ACT_REDUCE || a->serves || tc_print_is_tuple(a)) return false;
  }
  return st->axes == 1u << f->vector && !st->skip_if.id && !st->if_skipped;
}

static bool stores_alone(const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind != TC_ACT_STORE) return false;
  return !st->axes && !st->skip_if.id && !st->if_skipped;
}

/* One stage along rows, and one of their results. */
bool tc_omp_may_collect(const tc_omp_facts *f) {
  const tc_nest *n = f->nest;
  return n->nparallel == 1 && n->naxis == 2 && f->vector == 1 && n->nstage == 2 && !n->serial &&
         !tc_omp_has_parts(f) && !tc_omp_keeps_rows(f) && reduces_alone(f, &n->stage[0]) &&
         stores_alone(&n->stage[1]);
}

/* Rows that share what they are reduced with are better jammed. */
int64_t tc_omp_plan_collect(const tc_omp_facts *f) {
  tc_omp_nest_schedule none = {.vector = f->vector};
  const tc_omp_choice c = {.f = *f, .nest = &none};
  int64_t lo, hi;
  if (!tc_omp_may_collect(f) || tc_omp_plan_jam_rows(&c)) return 0;
  tc_dim_range(tc_graph_dims(f->p->graph), f->nest->axis[1].extent, &lo, &hi);
  return lo < TC_OMP_COLLECT ? TC_OMP_COLLECT : 0;
}
