/* actions.c - what a stage does at a point, and the blocks of its sums. */
#include "backends/openmp/nest/stage.h"

static void put_store(tc_omp_nest *x, const tc_stage *st, const tc_action *a, bool interleave) {
  bool first = false;
  if (!interleave || !tc_omp_is_interleaved(&x->f, st, a, &first))
    tc_print_store(&x->s, a);
  else if (first) tc_omp_put_interleaved(x, st, a);
}

/* All values first, so that an in-place store cannot reach a value of the same point; values that
 * need a scan of this stage come behind it. */
void tc_omp_put_actions(tc_omp_nest *x, const tc_omp_run *r, const char *u) {
  const tc_stage *st = r->st;
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind == TC_ACT_SCAN) {
      tc_print_hoist_action(&x->s, &st->action[i], ~0u);
      tc_omp_put_scan(x, r, &st->action[i]);
    }
  for (uint32_t i = 0; i < st->naction; ++i)
    if (!tc_omp_is_deinterleaved_sum(x, st, &st->action[i]))
      tc_print_hoist_action(&x->s, &st->action[i], ~0u);
  for (uint32_t i = 0; i < st->naction; ++i) {
    if (tc_omp_is_deinterleaved_sum(x, st, &st->action[i]))
      tc_omp_put_deinterleaved_sum(x, &st->action[i], u);
    else if (st->action[i].kind == TC_ACT_REDUCE) tc_omp_put_reduce(x, r, &st->action[i], u);
    if (st->action[i].kind == TC_ACT_STORE || st->action[i].kind == TC_ACT_ADD)
      put_store(x, st, &st->action[i], x->stage[r->index].interleave);
  }
}

void tc_omp_open_block(tc_omp_nest *x, const tc_omp_run *r, const char *extent) {
  const long long size = r->block;
  if (r->one) {
    tc_print_line(&x->s, "int64_t block = 0;");
    tc_print_line(&x->s, "for (;; block += %lld) {", size);
  } else tc_print_line(&x->s, "for (int64_t block = 0; block < %s; block += %lld) {", extent, size);
  x->s.indent += 2;
}
