/* type_impl.h - helpers on types for the inside of graph/. */
#ifndef TC_TYPE_IMPL_H
#define TC_TYPE_IMPL_H

#include "graph/graph.h"

/* Result dtype of n operands (NULL entries do not count). */
tc_dtype tc_promote_all(const tc_type *const *t, int n);

#endif
