/* decompose.c
 *
 * requires: verified graph.  keeps: locations, types of what it replaces.  Replaces every op that
 * has a decomposition; a decomposition may use such ops itself, so it repeats until none is left.
 */
#include "graph/passes/pass.h"
#include "graph/passes/rewrite.h"

static bool keeps_types(const tc_graph *g, tc_ref y, const tc_graph *old, tc_ref r) {
  const tc_type *now = tc_graph_type(g, y), *was = tc_graph_type(old, r);
  const int count = tc_graph_node(old, r)->nresult;
  if (tc_graph_node(g, y)->nresult != count) return false;
  for (int i = 0; i < count; i++)
    if (!tc_type_alike(&now[i], &was[i])) return false;
  return true;
}

static tc_ref decompose_node(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  tc_decomp_fn *rule = tc_op_decomp(n->op);
  if (!rule) return tc_rewrite_copy(w->g, w->old, n, in);
  tc_ref y = rule(w->g, n, in);
  if (!y.id || keeps_types(w->g, y, w->old, r)) return y;
  tc_report(tc_graph_diag(w->g), TC_MISSED, n->loc,
            "not compiled: the decomposition of %s changes its type (internal error)",
            tc_op_get(n->op)->text);
  return (tc_ref){0};
}

static bool has_composite(const tc_graph *g) {
  for (uint32_t id = 1; id <= tc_graph_count(g); id++)
    if (tc_op_decomp(tc_graph_node(g, (tc_ref){id})->op)) return true;
  return false;
}

tc_graph *tc_pass_decompose(tc_graph *g) {
  tc_graph *at = g;
  while (at && has_composite(at)) {
    tc_graph *next = tc_rewrite_run(at, decompose_node, NULL);
    if (at != g) tc_graph_free(at);
    at = next;
  }
  return at;
}
