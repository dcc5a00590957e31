/* dot.c - a product with one row (or one column) whose other operand has k contiguous: every
 * element is a dot product of two rows, bound by reading the large operand once.  Packing would
 * move it twice more, so it is printed as a nest that reduces along k. */
#include <stdlib.h>
#include <string.h>

#include "backends/openmp/gemm/matmul.h"

bool tc_omp_mm_is_dot(const tc_omp_matmul *x) {
  const tc_axis *axis = x->mm->axis;
  if (tc_dim_is(axis[x->am].extent, 1)) return tc_omp_mm_lanes(x, x->mm->b, x->an, x->ak) == x->ak;
  if (tc_dim_is(axis[x->an].extent, 1)) return tc_omp_mm_lanes(x, x->mm->a, x->ak, x->am) == x->ak;
  return false;
}

bool tc_omp_mm_may_be_dot(const tc_omp_matmul *x) {
  int64_t least, most;
  tc_dim_range(tc_graph_dims(x->p->graph), x->mm->axis[x->am].extent, &least, &most);
  return least < most && least <= 1 && most >= 1 &&
         tc_omp_mm_lanes(x, x->mm->b, x->an, x->ak) == x->ak;
}

/* outer batch, m, n; inner k: reduce #0 = sum of a * b; then the epilogue. */
bool tc_omp_mm_emit_dot(const tc_omp_matmul *x) {
  tc_dims *c = tc_graph_dims(x->p->graph);
  const tc_mm_loop *mm = x->mm;
  tc_kernel k = *x->k;
  tc_expr *pool = malloc((k.nexpr + 1) * sizeof *pool);
  if (!pool) return false;
  memcpy(pool, k.expr, k.nexpr * sizeof *pool);
  const tc_val product = {k.nexpr};
  pool[k.nexpr++] =
      (tc_expr){.kind = TC_EX_OP, .op = OP_MUL, .dtype = mm->acc, .in = {mm->a, mm->b}};
  tc_action sum = {.kind = TC_ACT_REDUCE, .reducer = TC_REDUCE_SUM, .value = product, .dtype = mm->acc};
  tc_stage stage[2] = {{.axes = 1u << x->ak, .naction = 1, .action = &sum}, mm->epilogue};
  stage[1].axes = 0;
  tc_nest nest = {.naxis = x->ak + 1,
                  .nparallel = x->ak,
                  .nstage = 2,
                  .stage = stage,
                  .nresult = 1,
                  .vector = x->ak,
                  .work = tc_dim_const(1)};
  for (int i = 0; i < nest.naxis; ++i) {
    nest.axis[i] = mm->axis[i];
    nest.work = tc_dim_mul(c, nest.work, mm->axis[i].extent);
  }
  k.kind = TC_KERNEL_NESTS;
  k.expr = pool;
  k.nnest = 1;
  k.nest = &nest;
  const bool ok = tc_omp_emit_nests(&k, x->p, x->out);
  free(pool);
  return ok;
}
