/* adjoin.c - cotangents of parts of one array: parts that lie side by side are joined, where each
 * of them among zeros, all of them added, would read and write the array once for every part. */
#include "autodiff/vjp.h"

typedef struct part {
  tc_ref x;
  int axis; /* along which there are zeros before and behind it */
  tc_dim before, after;
} part;

/* d is a part among zeros. */
static bool part_of(const tc_graph *g, tc_ref d, part *p) {
  const tc_node *n = tc_graph_node(g, d);
  const tc_dim *before, *after;
  double f = 1;
  int64_t i;
  if (n->op != OP_PAD || !tc_node_const(tc_graph_node(g, n->in[1]), &f, &i) || f != 0) return false;
  *p = (part){.x = n->in[0], .axis = -1};
  tc_attr_list(n, "before", &before);
  tc_attr_list(n, "after", &after);
  for (int a = 0; a < n->type.rank; a++) {
    if (tc_dim_is(before[a], 0) && tc_dim_is(after[a], 0)) continue;
    if (p->axis >= 0) return false;
    *p = (part){n->in[0], a, before[a], after[a]};
  }
  return p->axis >= 0;
}

/* a in front of b, in an array of `size`: does b begin where a ends? */
static bool meets(tc_dims *dims, const part *a, const part *b, tc_dim size) {
  const tc_dim end = tc_dim_sub(dims, size, a->after);
  return a->axis == b->axis && tc_dim_same(tc_dim_norm(dims, end), tc_dim_norm(dims, b->before));
}

tc_ref vj_adjoin(tc_graph *g, tc_ref d, tc_ref e, tc_loc loc) {
  const tc_ref none = {0};
  tc_dims *dims = tc_graph_dims(g);
  part a, b;
  if (!part_of(g, d, &a) || !part_of(g, e, &b)) return none;
  const tc_type type = *tc_graph_type(g, d);
  if (meets(dims, &b, &a, type.dim[a.axis])) {
    const part behind = a;
    a = b;
    b = behind;
  } else if (!meets(dims, &a, &b, type.dim[a.axis])) {
    return none;
  }
  tc_dim attr = tc_dim_const(a.axis);
  tc_ref both = tc_build(g, OP_CONCAT, 2, (tc_ref[]){a.x, b.x}, 1, &attr, NULL, loc);
  return both.id ? vj_place(g, both, a.axis, a.before, b.after, type.weak, loc) : both;
}
