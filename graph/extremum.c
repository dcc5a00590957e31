#include "graph/extremum.h"

static bool is_extremum(tc_op op) { return op == OP_AMAX || op == OP_AMIN; }

/* Its result has elements of its first operand. */
static bool is_selection(tc_op op) {
  return op == OP_GATHER || op == OP_INDEX_SELECT || op == OP_RUNNING_MAX || op == OP_RUNNING_MIN;
}

/* What r is made of through views, casts and, with `choices`, what is taken where a condition holds. */
static tc_ref behind(const tc_graph *g, tc_ref r, bool choices) {
  const tc_node *n = tc_graph_node(g, r);
  while (tc_op_get(n->op)->cls == TC_CLASS_VIEW || n->op == OP_CAST ||
         (choices && n->op == OP_WHERE)) {
    r = n->in[n->op == OP_WHERE];
    n = tc_graph_node(g, r);
  }
  return r;
}

/* The selection that n->in[1 - i] is, which may be one of n->in[i]: an extremum, or any other one of that operand itself. */
static tc_ref selection(const tc_graph *g, const tc_node *n, int i) {
  const tc_ref r = behind(g, n->in[1 - i], true);
  const tc_node *from = tc_graph_node(g, r);
  if (is_extremum(from->op)) return r;
  if (!is_selection(from->op)) return (tc_ref){0};
  const bool own = behind(g, from->in[0], false).id == behind(g, n->in[i], false).id;
  return own ? r : (tc_ref){0};
}

static bool is_comparison(tc_op op) {
  return op == OP_EQ || op == OP_NE || op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE;
}

tc_ref tc_compared_with_extremum(const tc_graph *g, const tc_node *n, tc_ref *extremum) {
  for (int i = 0; is_comparison(n->op) && i < 2; i++) {
    const tc_ref found = selection(g, n, i);
    if (!found.id) continue;
    if (extremum) *extremum = found;
    return n->in[i];
  }
  return (tc_ref){0};
}

int tc_own_extremum(const tc_graph *g, const tc_node *n) {
  return selection(g, n, 0).id ? 1 : selection(g, n, 1).id ? 0 : -1;
}
