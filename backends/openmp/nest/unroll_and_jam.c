/* unroll_and_jam.c - a stage that runs for two points of a group in one loop (schedule/jam.c). */
#include "backends/openmp/nest/nest.h"

void tc_omp_begin_points(tc_omp_nest *x) {
  tc_print_line(&x->s, "TC_UNROLL for (int p = 0; p < %d; ++p) {", TC_OMP_PAIR);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t q = first + p, %s = task + q;", x->axis_text[0]);
}

void tc_omp_end_points(tc_omp_nest *x) {
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static const char *type(const tc_omp_nest *x, uint32_t id) {
  return tc_print_compute(x->s.k->expr[id].dtype);
}

void tc_omp_use_hoisted(tc_omp_nest *x) {
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    if (!x->hoisted[id]) continue;
    tc_print_line(&x->s, "const tc_v%s v%u = k%u[p];", type(x, id), id, id);
    x->s.printed[id] |= 1;
  }
}

/* Hoists what is equal along the stage's own axes; vectors among it are stored for each point. */
static void put_hoisted(tc_omp_nest *x, const tc_stage *st) {
  uint8_t *outer = tc_print_enter(&x->s);
  if (!outer) return;
  tc_print_hoist_stage(&x->s, st, x->f.parallel);
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    x->hoisted[id] = x->s.printed[id] & ~outer[id] & 1;
    if (x->hoisted[id]) tc_print_line(&x->s, "k%u[p] = v%u;", id, id);
  }
  tc_print_leave(&x->s, outer);
}

void tc_omp_hoist_points(tc_omp_nest *x, const tc_stage *st) {
  tc_buf body = {0}, *out = x->s.out;
  bool any = false;
  tc_print_hoist_stage(&x->s, st, 0);
  x->s.out = &body;
  tc_omp_begin_points(x);
  put_hoisted(x, st);
  tc_omp_end_points(x);
  x->s.out = out;
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    if (!x->hoisted[id]) continue;
    tc_print_line(&x->s, "tc_v%s k%u[%d];", type(x, id), id, TC_OMP_PAIR);
    any = true;
  }
  if (any) tc_put(out, body.text);
  out->failed |= body.failed;
  tc_buf_free(&body);
}
