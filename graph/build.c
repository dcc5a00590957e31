/* Shorthands for building common nodes. */
#include "graph/graph.h"

tc_ref tc_build1(tc_graph *g, tc_op op, tc_ref a, tc_loc loc) {
  return tc_build(g, op, 1, &a, 0, NULL, NULL, loc);
}

tc_ref tc_build2(tc_graph *g, tc_op op, tc_ref a, tc_ref b, tc_loc loc) {
  return tc_build(g, op, 2, (tc_ref[]){a, b}, 0, NULL, NULL, loc);
}

tc_ref tc_build3(tc_graph *g, tc_op op, tc_ref a, tc_ref b, tc_ref c, tc_loc loc) {
  return tc_build(g, op, 3, (tc_ref[]){a, b, c}, 0, NULL, NULL, loc);
}

tc_ref tc_build_tuple(tc_graph *g, int n, const tc_ref *in, tc_loc loc) {
  return tc_build(g, OP_TUPLE, n, in, 0, NULL, NULL, loc);
}

tc_ref tc_build_result(tc_graph *g, tc_ref r, int i, tc_loc loc) {
  tc_dim attr = tc_dim_const(i);
  return tc_build(g, OP_RESULT, 1, &r, 1, &attr, NULL, loc);
}

tc_ref tc_build_cast(tc_graph *g, tc_ref a, tc_dtype dtype, tc_loc loc) {
  const tc_type *t = tc_graph_type(g, a);
  if (t && t->dtype == dtype) return a;
  tc_dim attr = tc_dim_const(dtype);
  return tc_build(g, OP_CAST, 1, &a, 1, &attr, NULL, loc);
}

/* A list attribute of up to TC_MAX_RANK entries; longer ones keep their length and fail inference.
 */
static int put_axes(tc_dim *attr, int n, const int *axes) {
  attr[0] = tc_dim_const(n);
  if (n > TC_MAX_RANK) return 1;
  for (int i = 0; i < n; i++) attr[1 + i] = tc_dim_const(axes[i]);
  return 1 + n;
}

static int put_dims(tc_dim *attr, int n, const tc_dim *dims) {
  attr[0] = tc_dim_const(n);
  if (n > TC_MAX_RANK) return 1;
  for (int i = 0; i < n; i++) attr[1 + i] = dims[i];
  return 1 + n;
}

tc_ref tc_build_reduce(tc_graph *g, tc_op op, tc_ref a, int naxes, const int *axes, bool keep,
                       tc_loc loc) {
  tc_dim attr[TC_MAX_RANK + 2];
  int n = put_axes(attr, naxes, axes);
  attr[n++] = tc_dim_const(keep);
  return tc_build(g, op, 1, &a, n, attr, NULL, loc);
}

tc_ref tc_build_reshape(tc_graph *g, tc_ref a, int rank, const tc_dim *dims, tc_loc loc) {
  tc_dim attr[TC_MAX_RANK + 1];
  return tc_build(g, OP_RESHAPE, 1, &a, put_dims(attr, rank, dims), attr, NULL, loc);
}

tc_ref tc_build_expand(tc_graph *g, tc_ref a, int rank, const tc_dim *dims, tc_loc loc) {
  tc_dim attr[TC_MAX_RANK + 1];
  return tc_build(g, OP_EXPAND, 1, &a, put_dims(attr, rank, dims), attr, NULL, loc);
}

tc_ref tc_build_permute(tc_graph *g, tc_ref a, int rank, const int *axes, tc_loc loc) {
  tc_dim attr[TC_MAX_RANK + 1];
  return tc_build(g, OP_PERMUTE, 1, &a, put_axes(attr, rank, axes), attr, NULL, loc);
}
