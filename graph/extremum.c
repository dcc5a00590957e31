#include "graph/extremum.h"

tc_ref tc_extremum_behind(const tc_graph *g, tc_ref r) {
  const tc_node *n = tc_graph_node(g, r);
  while (tc_op_get(n->op)->cls == TC_CLASS_VIEW || n->op == OP_CAST || n->op == OP_WHERE) {
    r = n->in[n->op == OP_WHERE];
    n = tc_graph_node(g, r);
  }
  return n->op == OP_AMAX || n->op == OP_AMIN ? r : (tc_ref){0};
}

static bool is_comparison(tc_op op) {
  return op == OP_EQ || op == OP_NE || op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE;
}

tc_ref tc_compared_with_extremum(const tc_graph *g, const tc_node *n, tc_ref *extremum) {
  for (int i = 0; is_comparison(n->op) && i < 2; i++) {
    const tc_ref found = tc_extremum_behind(g, n->in[1 - i]);
    if (!found.id) continue;
    if (extremum) *extremum = found;
    return n->in[i];
  }
  return (tc_ref){0};
}
