/* software_pipeline.c - the last stage of an outer point runs in the loop of a stage of the next
 * point (schedule/pipeline.c). */
#include "backends/openmp/nest/nest.h"

/* The state that the last stage takes from one outer point to the next: h<a>, the axes, and p<i>,
 * the results. */
void tc_omp_declare_pipeline(tc_omp_nest *x) {
  tc_print_line(&x->s,
                "int64_t pending = 0; /* elements that the task before has still to store */");
  if (x->plan->align)
    tc_print_line(&x->s, "int64_t shift = 0; /* of them lie in front of the first whole line */");
  for (int i = 0; i < x->nest->nparallel; ++i) tc_print_line(&x->s, "int64_t h%d = 0;", i);
  for (uint32_t i = 0; i + 1 < x->nest->nstage; ++i)
    for (uint32_t j = 0; j < x->nest->stage[i].naction; ++j) {
      const tc_action *a = &x->nest->stage[i].action[j];
      if (a->kind == TC_ACT_REDUCE) tc_omp_declare_results(x, a, "p", " = {0}");
    }
}

void tc_omp_carry_pipeline(tc_omp_nest *x) {
  const int v = x->plan->vector;
  tc_buf end = {0}, distance = {0};
  tc_print_extent(&x->s, &x->nest->axis[v], &end);
  tc_print_line(&x->s, "pending = %s;", end.text);
  if (x->plan->align) {
    tc_omp_put_head_length(x, x->nest->stage[x->nest->nstage - 1].action, "0", &distance);
    tc_print_line(&x->s, "shift = TC_MIN(%s, pending);", distance.text);
    tc_omp_put_border_prefetch(x, x->nest->nstage - 1, "0");
  }
  for (int i = 0; i < x->nest->nparallel; ++i)
    tc_print_line(&x->s, "h%d = %s;", i, x->axis_text[i]);
  for (uint32_t i = 0; i < x->nest->nresult; ++i)
    tc_print_line(&x->s, "p%u = %s;", i, x->result[i]);
  tc_buf_free(&end);
  tc_buf_free(&distance);
}
