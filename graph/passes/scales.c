/* scales.c
 *
 * requires: primitives.  keeps: locations.  Scales of dequantised operands go behind the product:
 *
 *   matmul(A, Q s)  =  matmul(A, Q) s        where s does not vary along k: of whole Q, of its columns, of batches
 *   matmul(t P, B)  =  t matmul(P, B)        of its rows
 *
 * and Q, P are made of integers, which are exact in the dtype of the product, so that the numbers
 * are equal but for rounding and no sum leaves the range that the scaled one keeps to.  What is
 * left of the operand is a conversion, and the scale is multiplied once for each result.  (Jacob et
 * al., Quantization and training of neural networks for efficient integer-arithmetic-only
 * inference, 2018, section 2.2.) */
#include "graph/passes/pass.h"
#include "graph/passes/rewrite.h"

enum { MOST_STEPS = 8 }; /* between an operand and its integers */

static bool is_integer(const tc_type *t) {
  return tc_dtype_is_int((tc_dtype)t->dtype) && tc_dtype_bytes((tc_dtype)t->dtype) <= 2;
}

/* Small integers as floating numbers, perhaps from a zero point on, in any view. */
static bool is_made_of_integers(const tc_graph *g, tc_ref r) {
  for (int i = 0; i < MOST_STEPS; i++) {
    const tc_node *n = tc_graph_node(g, r);
    if (n->op == OP_CAST && is_integer(tc_graph_type(g, n->in[0]))) return true;
    if (n->op != OP_SUB && n->op != OP_CAST && tc_op_get(n->op)->cls != TC_CLASS_VIEW) return false;
    r = n->in[0];
  }
  return false;
}

/* The size of the axis that is `from_last` in front of the last one; 1 where there is none. */
static tc_dim size_at(const tc_type *t, int from_last) {
  return from_last < t->rank ? t->dim[t->rank - 1 - from_last] : tc_dim_const(1);
}

static bool has_matrices_of(const tc_type *a, const tc_type *b) {
  return a->rank >= 2 && a->dtype == b->dtype && tc_dim_same(size_at(a, 0), size_at(b, 0)) &&
         tc_dim_same(size_at(a, 1), size_at(b, 1));
}

/* Operand r of a product, whose k is `deep` in front of its last axis, as x times a scale. */
static bool is_scaled(const tc_graph *g, tc_ref r, int deep, tc_ref *x, tc_ref *scale) {
  const tc_node *n = tc_graph_node(g, r);
  for (int i = 0; n->op == OP_MUL && i < 2; i++) {
    *x = n->in[i];
    *scale = n->in[1 - i];
    if (tc_dim_is(size_at(tc_graph_type(g, *scale), deep), 1) &&
        has_matrices_of(tc_graph_type(g, *x), &n->type) && is_made_of_integers(g, *x))
      return true;
  }
  return false;
}

static bool is_matrix_product(const tc_graph *g, const tc_node *n, const tc_ref *in) {
  const tc_dtype d = (tc_dtype)n->type.dtype;
  return n->op == OP_MATMUL && (d == TC_F32 || d == TC_F64) && tc_graph_type(g, in[0])->rank >= 2 &&
         tc_graph_type(g, in[1])->rank >= 2;
}

static tc_ref rewrite(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  tc_ref operand[2], scale[2];
  (void)r;
  if (!is_matrix_product(w->g, n, in)) return tc_rewrite_copy(w->g, w->old, n, in);
  bool scaled[2];
  for (int k = 0; k < 2; k++) {
    scaled[k] = is_scaled(w->g, in[k], k, &operand[k], &scale[k]);
    if (!scaled[k]) operand[k] = in[k];
  }
  tc_ref y = tc_rewrite_copy(w->g, w->old, n, operand);
  for (int k = 0; k < 2 && y.id; k++)
    if (scaled[k]) y = tc_build2(w->g, OP_MUL, y, scale[k], n->loc);
  return y;
}

tc_graph *tc_pass_scales(tc_graph *g) { return tc_rewrite_run(g, rewrite, NULL); }
