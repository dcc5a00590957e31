/* cse.c
 *
 * requires: verified graph.  keeps: locations of the first of equal nodes.  Building interns equal
 * nodes; this pass also gives the operands of commutative ops one order, smaller id first, so that
 * a+b and b+a are one node.  Order of evaluation is not touched: these ops round the same both
 * ways. */
#include "graph/passes/pass.h"
#include "graph/passes/rewrite.h"

static bool is_commutative(tc_op op) {
  switch (op) {
  case OP_ADD:
  case OP_MUL:
  case OP_MAXIMUM:
  case OP_MINIMUM:
  case OP_HYPOT:
  case OP_EQ:
  case OP_NE:
  case OP_AND:
  case OP_OR:
  case OP_XOR:
  case OP_BITAND:
  case OP_BITOR:
  case OP_BITXOR:
    return true;
  default:
    return false;
  }
}

/* a > b is b < a: one spelling for each comparison. */
static tc_op mirrored(tc_op op) { return op == OP_GT ? OP_LT : op == OP_GE ? OP_LE : op; }

/* Constants go last, which reads well and is what patterns look for first. */
static bool swaps(const tc_graph *g, tc_ref a, tc_ref b) {
  bool ca = tc_graph_node(g, a)->op == OP_CONST, cb = tc_graph_node(g, b)->op == OP_CONST;
  return ca != cb ? ca : a.id > b.id;
}

static tc_ref merge(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  (void)r;
  if (is_commutative(n->op) && swaps(w->g, in[0], in[1]))
    return tc_build2(w->g, n->op, in[1], in[0], n->loc);
  if (mirrored(n->op) != n->op) return tc_build2(w->g, mirrored(n->op), in[1], in[0], n->loc);
  return tc_rewrite_copy(w->g, w->old, n, in);
}

tc_graph *tc_pass_cse(tc_graph *g) { return tc_rewrite_run(g, merge, NULL); }
