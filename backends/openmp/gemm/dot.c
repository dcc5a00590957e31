/* dot.c - a product with one row (or one column) whose other operand has k contiguous: every
 * element is a dot product of two rows, bound by reading the large operand once.  Packing would
 * move it twice more, so it is printed as a nest that reduces along k. */
#include <string.h>

#include "backends/openmp/gemm/matmul.h"
#include "backends/schedule/schedule.h"

bool tc_omp_mm_is_dot(const tc_omp_matmul *x) {
  const tc_axis *axis = x->mm->axis;
  if (x->mm->npart || tc_mm_is_chain(x->mm)) return false;
  if (tc_dim_is(axis[x->am].extent, 1)) return tc_omp_mm_lanes(x, x->mm->b, x->an, x->ak) == x->ak;
  if (tc_dim_is(axis[x->an].extent, 1)) return tc_omp_mm_lanes(x, x->mm->a, x->ak, x->am) == x->ak;
  return false;
}

bool tc_omp_mm_may_be_dot(const tc_omp_matmul *x) {
  int64_t least, most;
  tc_dim_range(tc_graph_dims(x->p->graph), x->mm->axis[x->am].extent, &least, &most);
  return !x->mm->npart && !tc_mm_is_chain(x->mm) && least < most && least <= 1 && most >= 1 &&
         tc_omp_mm_lanes(x, x->mm->b, x->an, x->ak) == x->ak;
}

static void *copy(tc_program *p, const void *of, size_t bytes, size_t room) {
  void *to = tc_arena_alloc(p->arena, room);
  return to ? memcpy(to, of, bytes) : NULL;
}

/* outer batch, m, n; inner k: reduce #0 = sum of a * b; then the epilogue. */
static bool make_nest(const tc_omp_matmul *x, tc_program *p, tc_val product, tc_nest *nest) {
  tc_dims *c = tc_graph_dims(p->graph);
  const tc_action sum = {
      .kind = TC_ACT_REDUCE, .reducer = TC_REDUCE_SUM, .value = product, .dtype = x->mm->acc};
  tc_stage stage[2] = {{.axes = 1u << x->ak, .naction = 1}, x->mm->epilogue};
  stage[0].action = copy(p, &sum, sizeof sum, sizeof sum);
  stage[1].axes = 0;
  *nest = (tc_nest){.naxis = x->ak + 1,
                    .nparallel = x->ak,
                    .nstage = 2,
                    .stage = copy(p, stage, sizeof stage, sizeof stage),
                    .nresult = 1,
                    .vector = x->ak,
                    .work = tc_dim_const(1)};
  for (int i = 0; i < nest->naxis; ++i) {
    nest->axis[i] = x->mm->axis[i];
    nest->work = tc_dim_mul(c, nest->work, x->mm->axis[i].extent);
  }
  return nest->stage && stage[0].action;
}

tc_kernel *tc_omp_mm_make_dot(const tc_omp_matmul *x, tc_program *p) {
  const uint32_t n = x->k->nexpr;
  tc_kernel *k = copy(p, x->k, sizeof *k, sizeof *k);
  if (!k) return NULL;
  k->kind = TC_KERNEL_NESTS;
  k->expr = copy(p, x->k->expr, n * sizeof *k->expr, (n + 1) * sizeof *k->expr);
  k->nexpr = n + 1;
  k->nest = tc_arena_alloc(p->arena, sizeof *k->nest);
  k->nnest = 1;
  if (!k->expr || !k->nest || !make_nest(x, p, (tc_val){n}, k->nest)) return NULL;
  k->expr[n] =
      (tc_expr){.kind = TC_EX_OP, .op = OP_MUL, .dtype = x->mm->acc, .in = {x->mm->a, x->mm->b}};
  return k;
}

bool tc_omp_mm_emit_dot(const tc_omp_matmul *x) {
  const tc_schedule *s = x->k->schedule;
  return s && s->product && tc_omp_emit_nests(s->product, x->p, x->out);
}
