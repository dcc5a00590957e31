/* linalg.c - products of matrices.
 *
 * They stay in the dtype of the result: a product of f16 or bf16 accumulates wider and rounds
 * once. */
#include "autodiff/rules.h"

static void keep_dtype(tc_vjp *v) { v->c.dtype = (tc_dtype)v->n->type.dtype; }

static tc_ref product(const tc_vjp *v, tc_ref a, tc_ref b) { return dc2(&v->c, OP_MATMUL, a, b); }

/* a with a new axis of size 1 at `axis`. */
static tc_ref with_axis(const tc_vjp *v, tc_ref a, int axis) {
  tc_dim attr = tc_dim_const(axis);
  return tc_build(v->c.g, OP_UNSQUEEZE, 1, &a, 1, &attr, NULL, v->c.loc);
}

/* All axes but the last as one. */
static tc_ref as_rows(const tc_vjp *v, tc_ref a) {
  if (!a.id) return a;
  const tc_type *t = tc_graph_type(v->c.g, a);
  const tc_dim one = tc_dim_const(1), last = t->dim[t->rank - 1];
  tc_dim rows = one;
  for (int i = 0; i < t->rank - 1; i++) rows = tc_dim_mul(tc_graph_dims(v->c.g), rows, t->dim[i]);
  return dc_reshape(&v->c, a, 2, (tc_dim[]){rows, last});
}

/* The product a[..,M,K] b[..,K,N] with vectors as a row, a column: */
typedef struct operands {
  tc_ref a, b, dy; /* dy[..,M,N] */
  int rank_a, rank_b;
} operands;

static operands matrices(const tc_vjp *v) {
  operands o = {vj_in(v, 0), vj_in(v, 1), vj_dy(v), vj_type(v, 0)->rank, vj_type(v, 1)->rank};
  if (o.rank_a == 1) o.a = with_axis(v, o.a, 0);
  if (o.rank_b == 1) o.b = with_axis(v, o.b, 1);
  if (o.rank_a == 1) o.dy = with_axis(v, o.dy, o.rank_b == 1 ? 0 : -2);
  if (o.rank_b == 1) o.dy = with_axis(v, o.dy, -1);
  return o;
}

/* [..,K,1] to [..,K], where sums over the leading axes make it the vector's. */
static tc_ref as_vector(const tc_vjp *v, tc_ref d) {
  tc_dim last = tc_dim_const(-1);
  return tc_build(v->c.g, OP_SQUEEZE, 1, &d, 1, &last, NULL, v->c.loc);
}

/* da = dy b^T, db = a^T dy; summed over batches that an operand lacks, by the product itself where
 * all of a's batches share one b. */
void tc_vjp_matmul(tc_vjp *v) {
  keep_dtype(v);
  operands o = matrices(v);
  if (v->want[0]) v->din[0] = product(v, o.dy, vj_swap(v, o.b));
  if (!v->want[1]) return;
  if (o.rank_b <= 2 && o.rank_a > 2) {
    o.a = as_rows(v, o.a);
    o.dy = as_rows(v, o.dy);
  }
  v->din[1] = product(v, vj_swap(v, o.a), o.dy);
  if (o.rank_b == 1) v->din[1] = as_vector(v, v->din[1]);
}

/* y = x w^T + bias: dx = dy w, dw = dy^T x */
void tc_vjp_linear(tc_vjp *v) {
  keep_dtype(v);
  tc_ref dy = vj_dy(v);
  if (v->want[0]) v->din[0] = product(v, dy, vj_in(v, 1));
  if (v->want[1]) v->din[1] = product(v, vj_swap(v, as_rows(v, dy)), as_rows(v, vj_in(v, 0)));
  if (vj_wants(v, 2)) v->din[2] = v->dy[0];
}

/* y[i,j] = a[i] b[j] */
void tc_vjp_outer(tc_vjp *v) {
  keep_dtype(v);
  if (v->want[0]) v->din[0] = product(v, vj_dy(v), vj_in(v, 1));
  if (v->want[1]) v->din[1] = product(v, vj_in(v, 0), vj_dy(v));
}
