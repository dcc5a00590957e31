/* pass.h - graph passes and their driver.
 *
 * A pass takes a verified graph and makes a new one (or returns the same).  The driver owns timing,
 * dumps (TC_DUMP=passname,... or all, to stderr, "(unchanged)" when equal) and verification. */
#ifndef TC_PASS_H
#define TC_PASS_H

#include "graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef tc_graph *tc_pass_fn(tc_graph *g); /* NULL after reporting; g itself if nothing changed */

typedef struct tc_pass_desc {
  const char *name;
  tc_pass_fn *run;
} tc_pass_desc;

/* keeps: locations.  Removes COMP ops and everything with a decomp rule; repeats until none is
 * left. */
tc_graph *tc_pass_decompose(tc_graph *g);
/* requires: primitives.  Folds operations on constants (in double or int64, rounded to the
 * dtype). */
tc_graph *tc_pass_fold(tc_graph *g);
/* x+0, x*1, x*0 for integers, --x, cast of cast, pow by small integers, sqrt by division, ... never
 * changing NaN, inf or signed-zero results. */
tc_graph *tc_pass_simplify(tc_graph *g);
/* Composes views; moves reshape, permute, expand, slice, flip up through elementwise ops so that
 * they land on inputs, templates and reductions; drops identities. */
tc_graph *tc_pass_views(tc_graph *g);
/* Scales of dequantised operands behind their product; numbers are equal but for rounding. */
tc_graph *tc_pass_scales(tc_graph *g);
/* One identity of products and sums of their rows; numbers are equal but for rounding. */
tc_graph *tc_pass_products(tc_graph *g);
/* Interning makes equal nodes one; this one also merges commutative operands in either order. */
tc_graph *tc_pass_cse(tc_graph *g);
/* Drops every node no root reaches; inputs and scalars stay. */
tc_graph *tc_pass_dce(tc_graph *g);

/* The standard pipeline in order.  Takes g over (frees it if a pass replaced it); NULL after
 * reporting. */
tc_graph *tc_graph_optimize(tc_graph *g);
extern const tc_pass_desc tc_graph_pipeline[];
extern const int tc_graph_pipeline_length;

/* Checks the rules of graph.h: operand order, counts, types equal to what inference gives, roots.
 * false with the first violation in message. */
bool tc_graph_verify(tc_graph *g, char *message, size_t size);

#ifdef __cplusplus
}
#endif
#endif
