/* extremum.h - comparisons of values with their own maximum or minimum: "x == max x", by which
 * gradients go to the elements that are the maximum.  It holds somewhere only where x has the same
 * bits in both. */
#ifndef TC_GRAPH_EXTREMUM_H
#define TC_GRAPH_EXTREMUM_H

#include "graph/graph.h"

/* The AMAX or AMIN that r is, through views, casts and selections; id 0: none. */
tc_ref tc_extremum_behind(const tc_graph *g, tc_ref r);
/* n compares an operand with an extremum: the operand; and the extremum, if that is not NULL.  id
 * 0: it does not. */
tc_ref tc_compared_with_extremum(const tc_graph *g, const tc_node *n, tc_ref *extremum);

#endif
