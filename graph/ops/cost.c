/* cost.c - what an op costs, by its class: arithmetic counted as it is written, not as it is run.
 */
#include "graph/graph.h"

/* Products that do not fit count as huge. */
static tc_dim times(tc_dims *c, tc_dim a, tc_dim b) {
  const tc_dim p = tc_dim_mul(c, a, b);
  return tc_dim_bad(p) ? tc_dim_const(INT64_MAX / 4) : p;
}

static tc_dim elements(tc_graph *g, const tc_type *t) {
  tc_dim n = tc_dim_const(1);
  for (int i = 0; i < t->rank; i++) n = times(tc_graph_dims(g), n, t->dim[i]);
  return n;
}

static bool on_floats(tc_graph *g, const tc_node *n) {
  bool floats = tc_dtype_is_float(n->type.dtype);
  for (int k = 0; k < n->nin; k++)
    floats |= n->in[k].id && tc_dtype_is_float(tc_graph_type(g, n->in[k])->dtype);
  return floats;
}

tc_dim tc_node_flops(tc_graph *g, tc_ref r) {
  const tc_node *n = tc_graph_node(g, r);
  const tc_dim none = tc_dim_const(0);
  if (!on_floats(g, n)) return none;
  const tc_op_info *op = tc_op_get(n->op);
  switch (op->cls) {
  case TC_CLASS_EW:
    if (op->moves) return none;
    return times(tc_graph_dims(g), elements(g, &n->type), tc_dim_const(op->flops ? op->flops : 1));
  case TC_CLASS_REDUCE:
  case TC_CLASS_SCAN:
    return elements(g, tc_graph_type(g, n->in[0]));
  case TC_CLASS_SCATTER:
    return op->reduction ? elements(g, tc_graph_type(g, n->in[2])) : none;
  case TC_CLASS_MATMUL: {
    const tc_type *a = tc_graph_type(g, n->in[0]);
    const tc_dim products = times(tc_graph_dims(g), elements(g, &n->type), a->dim[a->rank - 1]);
    return times(tc_graph_dims(g), products, tc_dim_const(2));
  }
  default:
    return none;
  }
}
