/* extremum.h - comparisons of values with one of their own: with their maximum or minimum, "x == max x",
 * by which gradients go to the elements that are the maximum; with a running one; with what was
 * gathered of them, "x < the fifth of them in order".  They hold where they should only if x has the
 * same bits in both. */
#ifndef TC_GRAPH_EXTREMUM_H
#define TC_GRAPH_EXTREMUM_H

#include "graph/graph.h"

/* n compares an operand with an extremum, or with another selection of its own elements: the operand;
 * and the node that selects from its in[0], if that is not NULL.  id 0: it does not. */
tc_ref tc_compared_with_extremum(const tc_graph *g, const tc_node *n, tc_ref *extremum);
/* Which of n's two operands is such a selection of the other one; -1: none. */
int tc_own_extremum(const tc_graph *g, const tc_node *n);

#endif
