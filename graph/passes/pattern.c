/* pattern.c - questions about nodes; see pattern.h. */
#include "graph/passes/pattern.h"

#include <math.h>

bool tc_same_shape(const tc_type *a, const tc_type *b) {
  bool same = a->rank == b->rank;
  for (int i = 0; same && i < a->rank; i++) same = tc_dim_same(a->dim[i], b->dim[i]);
  return same;
}

bool tc_const_value(const tc_graph *g, tc_ref r, tc_scalar_value *v) {
  const tc_node *n = tc_graph_node(g, r);
  tc_dtype dtype = (tc_dtype)n->type.dtype;
  if (n->op == OP_FULL) n = tc_graph_node(g, n->in[0]);
  v->dtype = (tc_dtype)n->type.dtype;
  if (!tc_node_const(n, &v->f, &v->i)) return false;
  if (v->dtype != dtype) *v = tc_scalar_convert(*v, dtype);
  return true;
}

bool tc_is_value(const tc_graph *g, tc_ref r, double v) {
  tc_scalar_value c;
  if (!tc_const_value(g, r, &c)) return false;
  double f = tc_dtype_is_float(c.dtype) ? c.f : (double)c.i;
  return f == v && signbit(f) == signbit(v);
}

bool tc_is_int_value(const tc_graph *g, tc_ref r, int64_t v) {
  tc_scalar_value c;
  return tc_const_value(g, r, &c) && tc_dtype_is_int(c.dtype) && c.i == v;
}

tc_ref tc_const_of(tc_graph *g, tc_scalar_value v, bool weak, tc_loc loc) {
  if (tc_dtype_is_float(v.dtype)) return tc_graph_const_f(g, v.dtype, weak, v.f, loc);
  return tc_graph_const_i(g, v.dtype, weak, v.i, loc);
}

tc_ref tc_full_of(tc_graph *g, tc_ref scalar, const tc_type *type, tc_loc loc) {
  tc_dim attr[TC_MAX_RANK + 2] = {tc_dim_const(type->rank)};
  for (int i = 0; i < type->rank; i++) attr[1 + i] = type->dim[i];
  attr[1 + type->rank] = tc_dim_const(type->dtype);
  return tc_build(g, OP_FULL, 1, &scalar, type->rank + 2, attr, NULL, loc);
}

tc_ref tc_filled(tc_graph *g, double v, const tc_type *type, tc_loc loc) {
  tc_scalar_value value = tc_scalar_convert((tc_scalar_value){TC_F64, v, 0}, (tc_dtype)type->dtype);
  tc_ref scalar = tc_const_of(g, value, type->rank == 0 && type->weak, loc);
  return type->rank ? tc_full_of(g, scalar, type, loc) : scalar;
}
