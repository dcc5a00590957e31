/* rewrite.h - the walk that passes share: old nodes in order, each giving a node of a new graph.
 *
 * One pass is one walk, so its time is linear in the graph. */
#ifndef TC_REWRITE_H
#define TC_REWRITE_H

#include "graph/graph.h"

typedef struct tc_rewrite {
  tc_graph *old, *g;
  tc_ref *map; /* [count of old + 1]: where an old node went; 0: nowhere yet */
  /* [count of old + 1]: operand slots of live nodes and roots that read it; 0: dead */
  uint32_t *uses;
  void *self; /* the pass's own state */
} tc_rewrite;

/* The new node for old node r; in[] are its operands in the new graph.  ref 0 after reporting. */
typedef tc_ref tc_rewrite_fn(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in);

/* Walks what the roots of g reach and returns the new graph, or g itself when it came out equal, or
 * NULL.  Constants and arguments are copied without asking the rule.  g is not freed. */
tc_graph *tc_rewrite_run(tc_graph *g, tc_rewrite_fn *rule, void *self);
/* The same where some node of g is an op; else g. */
tc_graph *tc_rewrite_where(tc_graph *g, tc_op op, tc_rewrite_fn *rule);
/* The same; `plan` runs first, with old and uses set.  false from it gives NULL. */
typedef bool tc_rewrite_plan_fn(tc_rewrite *w);
tc_graph *tc_rewrite_run_planned(tc_graph *g, tc_rewrite_plan_fn *plan, tc_rewrite_fn *rule,
                                 void *self);

/* A node of the graph that is rewritten. */
static inline const tc_node *tc_rewrite_node(const tc_rewrite *w, tc_ref r) {
  return tc_graph_node(w->old, r);
}

/* n with operands in[], in graph g (n may be of another graph, whose strings are read from `of`).
 */
tc_ref tc_rewrite_copy(tc_graph *g, tc_graph *of, const tc_node *n, const tc_ref *in);

/* Same nodes, operands, attributes and roots. */
bool tc_graph_equal(const tc_graph *a, const tc_graph *b);

#endif
