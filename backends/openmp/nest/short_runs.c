/* short_runs.c - a reduction along a vector axis of few vectors, again and again
 * (schedule/short_runs.c): accumulators are of neighbouring points of the outermost loop; in blocks
 * of whole runs, where f32 sums join a total. */
#include "backends/openmp/nest/stage.h"

#include <stdio.h>

/* One point of the outermost loop, whose elements join accumulator `acc`. */
static void put_run(tc_omp_nest *x, const tc_omp_run *r, const char *acc, uint32_t mask) {
  tc_omp_run run = *r;
  run.unroll = 1;
  run.block = 0;
  run.acc = acc;
  uint8_t *outer = tc_print_enter(&x->s);
  x->s.indent += 2;
  tc_omp_put_loops(x, &run, 1, mask | 1u << r->loop[0]);
  x->s.indent -= 2;
  tc_print_leave(&x->s, outer);
}

/* The outermost loop from `from` to `to`: accumulators are of neighbouring points. */
static void put_unrolled_runs(tc_omp_nest *x, const tc_omp_run *r, const char *from, const char *to,
                              uint32_t mask) {
  const int axis = r->loop[0];
  char *i = x->axis_text[axis], base[16];
  snprintf(base, sizeof base, "%s", i);
  tc_print_line(&x->s, "int64_t %s = %s;", base, from);
  tc_print_line(&x->s, "for (; %s + %d <= %s; %s += %d)", base, r->unroll, to, base, r->unroll);
  tc_print_line(&x->s, "  TC_UNROLL for (int u = 0; u < %d; ++u) {", r->unroll);
  snprintf(i, sizeof x->axis_text[axis], "j%d", axis);
  x->s.indent += 2;
  tc_print_line(&x->s, "  const int64_t %s = %s + u;", i, base);
  put_run(x, r, "u", mask);
  x->s.indent -= 2;
  snprintf(i, sizeof x->axis_text[axis], "%s", base);
  tc_print_line(&x->s, "  }");
  tc_print_line(&x->s, "for (; %s < %s; ++%s) {", base, to, base);
  put_run(x, r, "0", mask);
  tc_print_line(&x->s, "}");
}

void tc_omp_put_short_runs(tc_omp_nest *x, const tc_omp_run *r, uint32_t mask) {
  tc_print_hoist_stage(&x->s, r->st, mask);
  const int axis = r->loop[0];
  const int64_t points = tc_omp_run_points(&x->f, r->st),
                runs = r->block > points ? r->block / points : 1;
  char end[16], stop[16];
  tc_buf e = {0};
  tc_print_extent(&x->s, &x->nest->axis[axis], &e);
  snprintf(end, sizeof end, "end%d", axis);
  snprintf(stop, sizeof stop, "stop%d", axis);
  tc_print_line(&x->s, "const int64_t %s = %s;", end, e.text);
  tc_buf_free(&e);
  if (!r->block) {
    put_unrolled_runs(x, r, "0", end, mask);
    return;
  }
  tc_print_line(&x->s, "for (int64_t block = 0; block < %s; block += %lld) {", end,
                (long long)runs);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t %s = TC_MIN(block + %lld, %s);", stop, (long long)runs, end);
  tc_omp_put_fresh(x, r);
  put_unrolled_runs(x, r, "block", stop, mask);
  tc_omp_put_fold(x, r, "0");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}
