/* pattern.h - questions that rewriting passes ask about nodes of the graph they build. */
#ifndef TC_PATTERN_H
#define TC_PATTERN_H

#include "graph/ops/scalar.h"

bool tc_same_shape(const tc_type *a, const tc_type *b);

/* The value of every element of r: a constant, or a FULL of one. */
bool tc_const_value(const tc_graph *g, tc_ref r, tc_scalar_value *v);
bool tc_is_value(const tc_graph *g, tc_ref r, double v);      /* every element is v; -0 is not 0 */
bool tc_is_int_value(const tc_graph *g, tc_ref r, int64_t v); /* likewise, integer dtypes only */

/* A rank-0 constant, and an array of constants with the type's dtype and shape. */
tc_ref tc_const_of(tc_graph *g, tc_scalar_value v, bool weak, tc_loc loc);
tc_ref tc_full_of(tc_graph *g, tc_ref scalar, const tc_type *type, tc_loc loc);
/* v everywhere: rank 0 a CONST, else a FULL. */
tc_ref tc_filled(tc_graph *g, double v, const tc_type *type, tc_loc loc);

#endif
