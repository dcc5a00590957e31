/* order.c - sorting: the positions of elements in order, and the elements at these. */
#include "graph/decomp/decomp.h"
#include "graph/decomp/rules.h"

static tc_ref order(tc_graph *g, const tc_node *n, tc_ref x, tc_dim k, bool descending) {
  if (x.id && tc_graph_type(g, x)->rank == 0) return tc_graph_const_i(g, TC_I64, false, 0, n->loc);
  const tc_dim attr[] = {k, tc_attr_int(n, "axis"), tc_dim_const(descending)};
  return tc_build(g, OP_ORDER, 1, &x, 3, attr, NULL, n->loc);
}

/* A scalar is as a row of one. */
static tc_dim size_along(const tc_graph *g, const tc_node *n, tc_ref x) {
  const tc_type *t = tc_graph_type(g, x);
  return t->rank ? t->dim[dc_axis(n, "axis", t->rank)] : tc_dim_const(1);
}

static bool is_set(const tc_node *n, const char *name) {
  return tc_dim_value(tc_attr_int(n, name)) != 0;
}

tc_ref tc_decomp_argsort(tc_graph *g, const tc_node *n, const tc_ref *in) {
  return order(g, n, in[0], size_along(g, n, in[0]), is_set(n, "descending"));
}

/* Elements at positions, and these. */
static tc_ref with_positions(tc_graph *g, const tc_node *n, tc_ref x, tc_ref position) {
  const dc c = dc_begin_choice(g, n);
  if (!x.id || !position.id) return (tc_ref){0};
  const int rank = tc_graph_type(g, x)->rank;
  const tc_ref in[] = {x, position};
  tc_ref value = rank ? dc_axis_op(&c, OP_GATHER, 2, in, dc_axis(n, "axis", rank)) : x;
  return tc_build_tuple(g, 2, (const tc_ref[]){value, position}, n->loc);
}

tc_ref tc_decomp_sort(tc_graph *g, const tc_node *n, const tc_ref *in) {
  return with_positions(g, n, in[0],
                        order(g, n, in[0], size_along(g, n, in[0]), is_set(n, "descending")));
}

tc_ref tc_decomp_topk(tc_graph *g, const tc_node *n, const tc_ref *in) {
  return with_positions(g, n, in[0], order(g, n, in[0], tc_attr_int(n, "k"), is_set(n, "largest")));
}
