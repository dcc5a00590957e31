/* softmax.c - see softmax.h. */
#include "graph/passes/softmax.h"

bool tc_is_by_element(const tc_node *n) {
  const tc_class cls = tc_op_get(n->op)->cls;
  return cls == TC_CLASS_EW || cls == TC_CLASS_VIEW;
}

bool tc_is_made_of(const tc_graph *g, tc_ref r, tc_op op, uint8_t *reached) {
  bool found = false;
  for (uint32_t i = 1; i <= r.id; i++) reached[i] = i == r.id;
  for (uint32_t i = r.id; i > 0; i--) {
    const tc_node *n = tc_graph_node(g, (tc_ref){i});
    found |= reached[i] && n->op == op;
    for (int k = 0; reached[i] && tc_is_by_element(n) && k < n->nin; k++) reached[n->in[k].id] = 1;
  }
  return found;
}

tc_ref tc_softmax_operand(const tc_graph *g, tc_ref r, uint8_t *reached) {
  const tc_node *n = tc_graph_node(g, r);
  if (n->op != OP_EXP) return (tc_ref){0};
  n = tc_graph_node(g, n->in[0]);
  if (n->op != OP_SUB || !tc_is_made_of(g, n->in[1], OP_AMAX, reached)) return (tc_ref){0};
  return n->in[0];
}
