/* view.c - views and data movement in terms of reshape, permute, expand, slice and concat.
 */
#include "graph/decomp/decomp.h"
#include "graph/decomp/rules.h"

/* Operands before typed refs exist: a failed operand fails the rule. */
static int rank_of(const dc *c, tc_ref x) { return tc_graph_type(c->g, x)->rank; }

tc_ref tc_decomp_transpose(tc_graph *g, const tc_node *n, const tc_ref *in) {
  int rank = n->type.rank, axes[TC_MAX_RANK];
  int a = dc_axis(n, "a", rank), b = dc_axis(n, "b", rank);
  if (a == b) return in[0];
  for (int i = 0; i < rank; i++) axes[i] = i == a ? b : i == b ? a : i;
  return tc_build_permute(g, in[0], rank, axes, n->loc);
}

/* x[.., i, ..] = reshape of x[.., i : i+1, ..]; a negative index counts from the end. */
tc_ref tc_decomp_select(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  int axis = dc_axis(n, "axis", rank_of(&c, in[0]));
  tc_dim i = tc_attr_int(n, "index");
  int64_t lo, hi;
  tc_dim_range(tc_graph_dims(g), i, &lo, &hi);
  if (hi < 0) i = tc_dim_add(tc_graph_dims(g), i, tc_graph_type(g, in[0])->dim[axis]);
  tc_dim end = tc_dim_add(tc_graph_dims(g), i, tc_dim_const(1));
  return dc_reshape_to(&c, dc_slice(&c, in[0], axis, i, end), n);
}

/* squeeze, unsqueeze, flatten: the inferred shape says it all. */
tc_ref tc_decomp_reshape_like(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  return dc_reshape_to(&c, in[0], n);
}

/* Values have no layout inside a graph. */
tc_ref tc_decomp_identity(tc_graph *g, const tc_node *n, const tc_ref *in) {
  (void)g, (void)n;
  return in[0];
}

/* Each operand gets a new axis of size 1; then they join along it. */
tc_ref tc_decomp_stack(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  int axis = dc_axis(n, "axis", n->type.rank);
  tc_type piece = n->type;
  piece.dim[axis] = tc_dim_const(1);
  tc_ref *pieces = tc_arena_alloc(tc_graph_arena(g), n->nin * sizeof *pieces);
  if (!pieces) return (tc_ref){0};
  for (int i = 0; i < n->nin; i++)
    pieces[i] = dc_reshape(&c, dc_out(&c, n, in[i]), piece.rank, piece.dim);
  return dc_axis_op(&c, OP_CONCAT, n->nin, pieces, axis);
}

/* Tiles x `times` along one axis.  With P the sizes before it and Q those from it on, x is [P,1,Q];
 * expanded to [P,times,Q] it is the result in row-major order, whatever the rank. */
static tc_ref repeat_axis(const dc *c, tc_ref x, int axis, tc_dim times) {
  if (!x.id || tc_dim_is(times, 1)) return x;
  tc_dims *dims = tc_graph_dims(c->g);
  tc_type t = *tc_graph_type(c->g, x);
  tc_dim size = t.dim[axis];
  tc_dim flat[3] = {tc_dim_const(1), tc_dim_const(1), tc_dim_const(1)};
  for (int i = 0; i < t.rank; i++)
    flat[i < axis ? 0 : 2] = tc_dim_mul(dims, flat[i < axis ? 0 : 2], t.dim[i]);
  t.dim[axis] = tc_dim_mul(dims, size, times);
  if (tc_dim_is(size, 1)) return tc_build_expand(c->g, x, t.rank, t.dim, c->loc);
  tc_ref y = dc_reshape(c, x, 3, flat);
  flat[1] = times;
  return dc_reshape(c, tc_build_expand(c->g, y, 3, flat, c->loc), t.rank, t.dim);
}

tc_ref tc_decomp_repeat(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  const tc_dim *times;
  int rank = tc_attr_list(n, "times", &times);
  const tc_type *t = tc_graph_type(g, in[0]);
  tc_dim dims[TC_MAX_RANK];
  int added = rank - t->rank;
  for (int i = 0; i < rank; i++) dims[i] = i < added ? tc_dim_const(1) : t->dim[i - added];
  tc_ref y = dc_reshape(&c, in[0], rank, dims);
  for (int i = 0; i < rank; i++) y = repeat_axis(&c, y, i, times[i]);
  return y;
}

/* shift mod size, without a remainder where that is known: of a shift by less than the size, and by
 * one place, which is that or none.  The order of such places along an axis is known. */
static tc_dim remainder_of_shift(tc_dims *dims, tc_dim shift, tc_dim size) {
  const tc_dim zero = tc_dim_const(0), one = tc_dim_const(1);
  const tc_dim back = tc_dim_add(dims, size, shift), before_last = tc_dim_sub(dims, size, one);
  if (tc_dim_known_le(dims, zero, shift) && tc_dim_known_le(dims, shift, before_last)) return shift;
  if (tc_dim_known_le(dims, shift, zero) && tc_dim_known_le(dims, one, back)) return back;
  if (tc_dim_is(shift, 1)) return tc_dim_max(dims, tc_dim_min(dims, one, before_last), zero);
  if (tc_dim_is(shift, -1)) return tc_dim_max(dims, before_last, zero);
  return tc_dim_mod(dims, shift, size);
}

/* y[i] = x[(i - shift) mod size]: the last shift mod size elements come first. */
tc_ref tc_decomp_roll(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_dims *dims = tc_graph_dims(g);
  int axis = dc_axis(n, "axis", n->type.rank);
  tc_dim size = n->type.dim[axis];
  if (tc_dim_is(size, 0) || tc_dim_is(size, 1)) return in[0];
  tc_dim shift = remainder_of_shift(dims, tc_attr_int(n, "shift"), size);
  if (tc_dim_is(shift, 0)) return in[0];
  tc_dim cut = tc_dim_sub(dims, size, shift);
  tc_ref parts[2] = {dc_slice(&c, in[0], axis, cut, size),
                     dc_slice(&c, in[0], axis, tc_dim_const(0), cut)};
  return dc_reshape_to(&c, dc_axis_op(&c, OP_CONCAT, 2, parts, axis), n); /* the size, as it was */
}
