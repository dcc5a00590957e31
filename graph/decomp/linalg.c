/* linalg.c - linear and outer; einsum has its own file.
 *
 * f16 and bf16 operands are widened and the result is rounded once, after the bias: a matmul of
 * widened operands accumulates the same exact products that a bf16 multiplier does, so lowering may
 * feed it the narrow values. */
#include "graph/decomp/decomp.h"
#include "graph/decomp/rules.h"

/* x[..,I] w[O,I]^T + bias[O] */
tc_ref tc_decomp_linear(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_ref bias = n->nin > 2 ? in[2] : (tc_ref){0};
  if (!bias.id) c.dtype = (tc_dtype)n->type.dtype; /* the matmul itself rounds once */
  tc_ref w = tc_build_permute(g, in[1], 2, (const int[]){1, 0}, n->loc);
  tc_ref y = dc2(&c, OP_MATMUL, dc_in(&c, in[0]), dc_in(&c, w));
  if (bias.id) y = dc2(&c, OP_ADD, y, dc_in(&c, bias));
  return dc_out(&c, n, y);
}

/* a[M,1] * b[N] */
tc_ref tc_decomp_outer(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_dim column[2] = {n->type.dim[0], tc_dim_const(1)};
  tc_ref a = dc_reshape(&c, in[0], 2, column);
  return dc_out(&c, n, dc2(&c, OP_MUL, a, in[1]));
}
