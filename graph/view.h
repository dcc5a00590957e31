/* view.h - views as values: steps that can be composed, moved across an elementwise op, and built.
 *
 * A step is what one RESHAPE, PERMUTE, EXPAND, SLICE, FLIP or UNFOLD does to a shape; the last is
 * not moved.  A chain is steps in order of application, short by design: what does not fit stays
 * where it is. */
#ifndef TC_VIEW_H
#define TC_VIEW_H

#include "graph/graph.h"

typedef struct tc_view_step {
  tc_op op;
  int narg;
  /* PERMUTE, FLIP: axes; SLICE: axis start stop step; UNFOLD: axis size step; else unused */
  tc_dim arg[TC_MAX_RANK];
  tc_type to;              /* shape of the result (its dtype has no meaning) */
} tc_view_step;

enum { TC_VIEW_CHAIN = 4 };
typedef struct tc_view_chain {
  int n;
  tc_view_step at[TC_VIEW_CHAIN];
} tc_view_chain;

/* The step that such a node performs. */
tc_view_step tc_view_of(const tc_node *n);
tc_view_step tc_view_reshape(const tc_type *to);
/* The step that undoes s, which led from shape `from`; false: s loses elements or is an EXPAND. */
bool tc_view_inverse(const tc_view_step *s, const tc_type *from, tc_view_step *out);

/* false: the chain is full. */
bool tc_view_append(tc_view_chain *c, const tc_view_step *s);

/* Step s is applied to an array of shape `whole`; `part` broadcasts to it.  Appends to c the steps
 * that bring `part` to a shape which broadcasts to s's result in the same way, and updates *part.
 * false: there is none (a reshape that merges a broadcast axis with another). */
bool tc_view_adjust(tc_dims *dims, const tc_view_step *s, const tc_type *whole, tc_type *part,
                    tc_view_chain *c);

/* Axes a[i..i_end) and b[j..j_end) with equal products, which a reshape from a to b makes of each
 * other. */
typedef struct tc_view_group {
  int i, i_end, j, j_end;
} tc_view_group;
/* Moves *g, zero at first, on to the smallest group behind it, which is all that is left where no
 * products are known to be equal (in an empty array, that of other axes being 0, they may differ);
 * false: there is none, though axes are left. */
bool tc_view_next_group(tc_dims *dims, const tc_type *a, const tc_type *b, tc_view_group *g);
/* Are axes left behind the group? */
bool tc_view_has_group(const tc_type *a, const tc_type *b, const tc_view_group *g);

/* x seen through s or c: composed with the view that x may be already; identities vanish. */
tc_ref tc_view_apply(tc_graph *g, tc_ref x, const tc_view_step *s, tc_loc loc);
tc_ref tc_view_apply_all(tc_graph *g, tc_ref x, const tc_view_chain *c, tc_loc loc);

#endif
