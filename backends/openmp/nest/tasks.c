/* tasks.c - the loop over the tasks of a nest. */
#include "backends/openmp/nest/nest.h"

void tc_omp_put_task_loop(tc_omp_nest *x, bool team, const char *step) {
  if (!team) tc_print_line(&x->s, "for (int64_t task = 0, last = tasks; task < last; %s) {", step);
  else
    tc_print_line(&x->s,
                  "for (int64_t task = tc_share(tasks, part, parts), "
                  "last = tc_share(tasks, part + 1, parts); task < last; %s) {",
                  step);
}
