/* dce.c
 *
 * requires: verified graph.  keeps: order of live nodes, locations, all arguments.  Drops every
 * node that no root reaches: the walk visits no others. */
#include "graph/passes/pass.h"
#include "graph/passes/rewrite.h"

static tc_ref keep(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  (void)r;
  return tc_rewrite_copy(w->g, w->old, n, in);
}

tc_graph *tc_pass_dce(tc_graph *g) { return tc_rewrite_run(g, keep, NULL); }
