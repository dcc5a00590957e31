/* strides.h - where the eager library puts the elements of views: which ones share memory with what
 * they show, and which copy it because strides cannot express them.
 *
 * Symbolic: sizes count as equal where their expressions are, and as other than 1 and 0 where they
 * are not constants.  The answer is that for typical sizes; layouts at run time may differ. */
#ifndef TC_STRIDES_H
#define TC_STRIDES_H

#include "graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_strides {
  tc_dim at[TC_MAX_RANK]; /* in elements */
} tc_strides;

tc_strides tc_strides_row_major(tc_dims *dims, const tc_type *t);

/* n shows an array of type `from` with strides *s: these become n's.  false: n copies it, to
 * row-major order. */
bool tc_strides_view(tc_dims *dims, const tc_node *n, const tc_type *from, tc_strides *s);

#ifdef __cplusplus
}
#endif
#endif
