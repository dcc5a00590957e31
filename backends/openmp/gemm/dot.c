/* dot.c - a product with one row (or one column): bound by reading the large operand once.  Packing would move it twice
 * more, so it is printed as a nest that reduces along k.  Where that operand has k contiguous, every element is a dot
 * product of two rows; where it has n contiguous, the result is a sum of its rows, each times a number. */
#include <string.h>

#include "backends/openmp/gemm/matmul.h"
#include "backends/schedule/schedule.h"

/* Are k's the only axes of several parts? */
static bool has_rows_and_columns(const tc_omp_matmul *x) {
  for (int i = tc_mm_first_part(x->mm); i < tc_mm_axes(x->mm); ++i)
    if (x->mm->axis[i].of != x->ak) return false;
  return !tc_mm_is_chain(x->mm);
}

/* Of one column A is the large operand, of one row B. */
static bool has_one_column(const tc_omp_matmul *x) {
  return tc_dim_is(x->mm->axis[x->an].extent, 1) && !tc_dim_is(x->mm->axis[x->am].extent, 1);
}

/* The axis that the large operand has contiguous: k, or its other one. */
static int contiguous_axis(const tc_omp_matmul *x) {
  return has_one_column(x) ? tc_omp_mm_lanes(x, x->mm->a, x->ak, x->am) : tc_omp_mm_lanes(x, x->mm->b, x->an, x->ak);
}

/* Lanes run along parts of k, else along all of an axis. */
static bool has_lanes(const tc_omp_matmul *x) { return contiguous_axis(x) == x->ak || !x->mm->npart; }

bool tc_omp_mm_is_dot(const tc_omp_matmul *x) {
  const tc_axis *axis = x->mm->axis;
  const bool one = tc_dim_is(axis[x->am].extent, 1) || tc_dim_is(axis[x->an].extent, 1);
  return one && has_rows_and_columns(x) && has_lanes(x);
}

bool tc_omp_mm_may_be_dot(const tc_omp_matmul *x) {
  int64_t least, most;
  tc_dim_range(tc_graph_dims(x->p->graph), x->mm->axis[x->am].extent, &least, &most);
  return has_rows_and_columns(x) && least < most && least <= 1 && most >= 1 && has_lanes(x);
}

static void *copy(tc_program *p, const void *of, size_t bytes, size_t room) {
  void *to = tc_arena_alloc(p->arena, room);
  return to ? memcpy(to, of, bytes) : NULL;
}

/* k is one axis, or its parts are the nest's. */
static int deep_axes(const tc_omp_matmul *x) { return x->mm->npart ? x->mm->npart : 1; }

/* In axes of the nest: a step along k is one along each of its parts. */
static void by_parts(const tc_omp_matmul *x, tc_dims *c, tc_address *a) {
  const int first = tc_mm_first_part(x->mm), n = x->mm->npart;
  const tc_dim k = a->coef[x->ak];
  for (int i = 0; i < n; ++i) {
    const tc_dim along = tc_dim_mul(c, k, tc_mm_inner(c, x->mm, first + i));
    a->coef[x->ak + i] = tc_dim_add(c, a->coef[first + i], along);
  }
  for (int i = x->ak + n; n && i < TC_MAX_AXES; ++i) a->coef[i] = tc_dim_const(0);
}

/* outer batch, m, n; inner k, or its parts: reduce #0 = sum of a * b; then the epilogue. */
static bool make_nest(const tc_omp_matmul *x, tc_program *p, tc_val product, tc_nest *nest) {
  tc_dims *c = tc_graph_dims(p->graph);
  const tc_action sum = {
      .kind = TC_ACT_REDUCE, .reducer = TC_REDUCE_SUM, .value = product, .dtype = x->mm->acc};
  const int deep = deep_axes(x), lanes = contiguous_axis(x);
  tc_stage stage[2] = {{.axes = ((1u << deep) - 1) << x->ak, .naction = 1}, x->mm->epilogue};
  stage[0].action = copy(p, &sum, sizeof sum, sizeof sum);
  stage[1].axes = 0;
  *nest = (tc_nest){.naxis = x->ak + deep,
                    .nparallel = x->ak,
                    .nstage = 2,
                    .stage = copy(p, stage, sizeof stage, sizeof stage),
                    .nresult = 1,
                    .vector = lanes == x->ak ? x->ak + deep - 1 : lanes,
                    .work = tc_dim_const(1)};
  for (int i = 0; i < nest->naxis; ++i) {
    nest->axis[i] =
        x->mm->axis[i < x->ak || !x->mm->npart ? i : tc_mm_first_part(x->mm) + i - x->ak];
    nest->axis[i].of = -1;
    nest->work = tc_dim_mul(c, nest->work, nest->axis[i].extent);
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
  for (uint32_t i = 1; i < n; ++i)
    if (tc_expr_has_address(&k->expr[i])) by_parts(x, tc_graph_dims(p->graph), &k->expr[i].address);
  k->expr[n] =
      (tc_expr){.kind = TC_EX_OP, .op = OP_MUL, .dtype = x->mm->acc, .in = {x->mm->a, x->mm->b}};
  return k;
}

bool tc_omp_mm_emit_dot(const tc_omp_matmul *x) {
  const tc_schedule *s = x->k->schedule;
  return s && s->product && tc_omp_emit_nests(s->product, x->p, x->out);
}
