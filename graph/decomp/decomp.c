/* decomp.c - the vocabulary of decompositions; see decomp.h. */
#include "graph/decomp/decomp.h"

static tc_dtype widened(tc_dtype d) { return tc_dtype_is_half(d) ? TC_F32 : d; }

dc dc_begin(tc_graph *g, const tc_node *n) {
  return (dc){g, n->loc, widened((tc_dtype)n->type.dtype), n->type.weak};
}

dc dc_begin_choice(tc_graph *g, const tc_node *n) {
  return (dc){g, n->loc, (tc_dtype)n->type.dtype, n->type.weak};
}

dc dc_begin_reduce(tc_graph *g, const tc_node *n, tc_ref x) {
  dc c = dc_begin(g, n);
  if (x.id && !tc_dtype_is_float((tc_dtype)tc_graph_type(g, x)->dtype)) c.dtype = TC_F64;
  return c;
}

static tc_ref cast_to(const dc *c, tc_ref x, tc_dtype dtype) {
  if (!x.id || tc_graph_type(c->g, x)->dtype == dtype) return x;
  return tc_build_cast(c->g, x, dtype, c->loc);
}

tc_ref dc_in(const dc *c, tc_ref x) { return cast_to(c, x, c->dtype); }

tc_ref dc_out(const dc *c, const tc_node *n, tc_ref y) {
  return cast_to(c, y, (tc_dtype)n->type.dtype);
}

tc_ref dc_const(const dc *c, double v) {
  if (tc_dtype_is_float(c->dtype)) return tc_graph_const_f(c->g, c->dtype, c->weak, v, c->loc);
  return tc_graph_const_i(c->g, c->dtype, c->weak, (int64_t)v, c->loc);
}

tc_ref dc_count(const dc *c, tc_dim d) {
  if (tc_dim_is_const(d)) return dc_const(c, (double)tc_dim_value(d));
  return dc_in(c, tc_graph_dim_value(c->g, d, c->weak, c->loc));
}

tc_ref dc1(const dc *c, tc_op op, tc_ref a) { return tc_build1(c->g, op, a, c->loc); }

tc_ref dc2(const dc *c, tc_op op, tc_ref a, tc_ref b) { return tc_build2(c->g, op, a, b, c->loc); }

tc_ref dc3(const dc *c, tc_op op, tc_ref x, tc_ref y, tc_ref z) {
  return tc_build3(c->g, op, x, y, z, c->loc);
}

tc_ref dc_reduce(const dc *c, tc_op op, tc_ref a, const dc_axes *axes, bool keep) {
  return tc_build_reduce(c->g, op, a, axes->n, axes->at, keep, c->loc);
}

tc_ref dc_reshape(const dc *c, tc_ref a, int rank, const tc_dim *dims) {
  if (!a.id) return a;
  const tc_type *t = tc_graph_type(c->g, a);
  bool same = t->rank == rank;
  for (int i = 0; same && i < rank; i++) same = tc_dim_same(t->dim[i], dims[i]);
  return same ? a : tc_build_reshape(c->g, a, rank, dims, c->loc);
}

tc_ref dc_reshape_to(const dc *c, tc_ref a, const tc_node *n) {
  return dc_reshape(c, a, n->type.rank, n->type.dim);
}

tc_ref dc_slice(const dc *c, tc_ref a, int axis, tc_dim start, tc_dim stop) {
  tc_dim attr[4] = {tc_dim_const(axis), start, stop, tc_dim_const(1)};
  return tc_build(c->g, OP_SLICE, 1, &a, 4, attr, NULL, c->loc);
}

tc_ref dc_axis_op(const dc *c, tc_op op, int nin, const tc_ref *in, int axis) {
  tc_dim attr = tc_dim_const(axis);
  return tc_build(c->g, op, nin, in, 1, &attr, NULL, c->loc);
}

int dc_axis(const tc_node *n, const char *name, int rank) {
  int64_t axis = tc_dim_value(tc_attr_int(n, name));
  return (int)(axis < 0 ? axis + rank : axis);
}

dc_axes dc_reduced(const tc_node *n, int rank) {
  const tc_dim *items;
  int count = tc_attr_list(n, "axes", &items);
  if (count == 0) return dc_last(rank, rank);
  dc_axes axes = {count, {0}};
  for (int i = 0; i < count; i++) {
    int64_t axis = tc_dim_value(items[i]);
    axes.at[i] = (int)(axis < 0 ? axis + rank : axis);
  }
  return axes;
}

dc_axes dc_last(int naxes, int rank) {
  dc_axes axes = {naxes, {0}};
  for (int i = 0; i < naxes; i++) axes.at[i] = rank - naxes + i;
  return axes;
}

tc_dim dc_numel(const dc *c, tc_ref a, const dc_axes *axes) {
  tc_dim n = tc_dim_const(1);
  if (!a.id) return n;
  for (int i = 0; i < axes->n; i++) {
    tc_dim d = tc_graph_type(c->g, a)->dim[axes->at[i]];
    n = tc_dim_mul(tc_graph_dims(c->g), n, d);
  }
  return n;
}

bool dc_empty(const dc *c, tc_ref a, const dc_axes *axes) {
  return tc_dim_is(dc_numel(c, a, axes), 0);
}

tc_ref dc_mean(const dc *c, tc_ref x, const dc_axes *axes, bool keep) {
  tc_ref sum = dc_reduce(c, OP_SUM, x, axes, keep);
  return dc2(c, OP_DIV, sum, dc_count(c, dc_numel(c, x, axes)));
}

tc_ref dc_variance(const dc *c, tc_ref x, const dc_axes *axes, tc_dim correction, bool keep) {
  tc_dims *dims = tc_graph_dims(c->g);
  tc_ref d = dc2(c, OP_SUB, x, dc_mean(c, x, axes, true));
  tc_dim n = tc_dim_sub(dims, dc_numel(c, x, axes), correction);
  tc_ref count = dc_count(c, tc_dim_max(dims, n, tc_dim_const(0)));
  return dc2(c, OP_DIV, dc_reduce(c, OP_SUM, dc1(c, OP_SQUARE, d), axes, keep), count);
}
