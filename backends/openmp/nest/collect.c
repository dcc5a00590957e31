/* collect.c - rows that are reduced, as many at a time as a vector has lanes.
 *
 * The accumulators of all of them are combined across lanes together: 3 operations a row where one
 * alone takes 8.  Their results are the lanes of a vector then, and the last stage runs once for
 * all. */
#include "backends/openmp/nest/nest.h"

/* The rows `first` + q: each<i>[q] is what row q has in accumulator i, and of rows that are missing
 * what the first has. */
static void put_rows(tc_omp_nest *x, const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i)
    tc_print_line(&x->s, "tc_v%s each%u[TC_L];",
                  tc_print_tuple_type(st->action[i].reducer, st->action[i].dtype).text,
                  st->action[i].index);
  tc_print_line(&x->s, "for (int64_t q = 0; q < count; ++q) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t %s = first + q;", x->axis_text[0]);
  uint8_t *outer = tc_print_enter(&x->s);
  x->collecting = true;
  tc_omp_put_front_stages(x);
  x->collecting = false;
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_results(tc_omp_nest *x, const tc_action *a) {
  const uint32_t n = a->index;
  tc_print_line(&x->s, "for (int64_t q = count; q < TC_L; ++q) each%u[q] = each%u[0];", n, n);
  tc_print_line(&x->s, "const tc_v%s r%u = tc_collect_%s_%s(each%u);",
                tc_print_tuple_type(a->reducer, a->dtype).text, n,
                tc_print_combine(a->reducer).text, tc_print_compute(a->dtype), n);
}

/* The last stage, with lanes along the rows. */
static void put_last(tc_omp_nest *x) {
  const tc_omp_nest_schedule *const plan = x->plan;
  const int vector = plan->vector;
  tc_omp_nest_schedule along_rows = *plan;
  along_rows.vector = 0;
  x->plan = &along_rows, x->f.vector = x->s.vector = 0, x->s.lanes = "count";
  tc_print_line(&x->s, "const int64_t %s = first;", x->axis_text[0]);
  uint8_t *outer = tc_print_enter(&x->s);
  tc_omp_put_last_stage(x);
  tc_print_leave(&x->s, outer);
  x->plan = plan, x->f.vector = x->s.vector = vector, x->s.lanes = NULL;
}

void tc_omp_put_collected(tc_omp_nest *x, bool team) {
  const tc_stage *st = &x->nest->stage[0];
  tc_buf rows = {0};
  tc_print_dim(x->s.p, x->nest->axis[0].extent, &rows);
  tc_print_line(&x->s, "const int64_t tasks = TC_CEILDIV(%s, TC_L);", rows.text);
  tc_omp_put_task_loop(x, team, "++task");
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t first = task * TC_L, count = TC_MIN(TC_L, %s - first);",
                rows.text);
  put_rows(x, st);
  for (uint32_t i = 0; i < st->naction; ++i) put_results(x, &st->action[i]);
  put_last(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&rows);
}
