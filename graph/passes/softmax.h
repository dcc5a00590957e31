/* softmax.h - where a graph of primitives has a softmax, and of what. */
#ifndef TC_SOFTMAX_H
#define TC_SOFTMAX_H

#include "graph/graph.h"

/* Does the value have an element for each one of an operand, or fewer? */
bool tc_is_by_element(const tc_node *n);
/* Is the operation r, or one of those that r is made of element by element?  reached[id] becomes whether r is made of that, for
 * all ids up to r's. */
bool tc_is_made_of(const tc_graph *g, tc_ref r, tc_op op, uint8_t *reached);
/* x, where r is e^(x - c) and c is made of a maximum; ref 0: it is not. */
tc_ref tc_softmax_operand(const tc_graph *g, tc_ref r, uint8_t *reached);

#endif
