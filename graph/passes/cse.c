/* cse.c
 *
 * requires: verified graph.  keeps: locations of the first of equal nodes.  Building interns equal
 * nodes; this pass also gives the operands of commutative ops one order, smaller id first, so that
 * a+b and b+a are one node.  Order of evaluation is not touched: these ops round the same both
 * ways. */
#include "graph/passes/pass.h"
#include "graph/passes/rewrite.h"

/* Constants go last, which reads well and is what patterns look for first. */
static bool swaps(const tc_graph *g, tc_ref a, tc_ref b) {
  bool ca = tc_graph_node(g, a)->op == OP_CONST, cb = tc_graph_node(g, b)->op == OP_CONST;
  return ca != cb ? ca : a.id > b.id;
}

static tc_ref merge(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  (void)r;
  const tc_op_info *op = tc_op_get(n->op);
  if (op->commutes && swaps(w->g, in[0], in[1]))
    return tc_build2(w->g, n->op, in[1], in[0], n->loc);
  if (op->swapped) return tc_build2(w->g, op->swapped, in[1], in[0], n->loc); /* a > b is b < a */
  return tc_rewrite_copy(w->g, w->old, n, in);
}

tc_graph *tc_pass_cse(tc_graph *g) { return tc_rewrite_run(g, merge, NULL); }
