/* convolution_build.c - operands of a product with the channels last. */
#include "lower/convolution.h"

#include <string.h>

/* ---- arrays with the channels last ----------------------------------------------------------- */

/* The axes of [N, D1 .., C], in the order of [N, C, D1 ..], and the other way round. */
static void channels_first(int rank, int *axes) {
  for (int i = 0; i < rank; i++) axes[i] = i == 0 ? 0 : i == 1 ? rank - 1 : i - 1;
}

static void channels_last(int rank, int *axes) {
  for (int i = 0; i < rank; i++) axes[i] = i == 0 ? 0 : i == rank - 1 ? 1 : i + 1;
}

tc_ref cv_shown_last(tc_graph *g, tc_ref r) {
  const tc_node *n = tc_graph_node(g, r);
  const tc_dim *at;
  int axes[TC_MAX_RANK];
  if (n->op != OP_PERMUTE || n->type.rank < 3) return (tc_ref){0};
  const int rank = tc_attr_list(n, "axes", &at);
  channels_first(rank, axes);
  for (int i = 0; i < rank; i++)
    if (tc_dim_value(at[i]) != axes[i]) return (tc_ref){0};
  return n->in[0];
}

tc_ref cv_as_last(tc_graph *g, tc_ref r, tc_loc loc) {
  int axes[TC_MAX_RANK];
  const tc_ref shown = cv_shown_last(g, r);
  const int rank = tc_graph_type(g, r)->rank;
  channels_last(rank, axes);
  return shown.id ? shown : tc_build_permute(g, r, rank, axes, loc);
}

tc_ref cv_as_first(tc_graph *g, tc_ref r, tc_loc loc) {
  int axes[TC_MAX_RANK];
  const int rank = tc_graph_type(g, r)->rank;
  channels_first(rank, axes);
  return tc_build_permute(g, r, rank, axes, loc);
}

/* Channels up to the next multiple of what a matrix unit's operand is read in; of groups, none.  A
 * number that is not known does not have an image copied for their sake that has its channels last
 * already. */
tc_dim cv_more_channels(tc_graph *g, const cv_conv *v, tc_ref x) {
  enum { WIDE = 8 };
  tc_dims *d = tc_graph_dims(g);
  const tc_dim wide = tc_dim_const(WIDE);
  if (v->grouped || (!tc_dim_is_const(v->channels) && cv_shown_last(g, x).id))
    return tc_dim_const(0);
  return tc_dim_sub(d, tc_dim_mul(d, wide, tc_dim_ceildiv(d, v->channels, wide)), v->channels);
}

/* ---- the product ----------------------------------------------------------------------------- */

tc_ref cv_permuted_by(const dc *c, tc_ref x, int rank, const int *order) {
  const tc_node *n = tc_graph_node(c->g, x);
  const tc_dim *axes;
  int both[TC_MAX_RANK];
  bool same = true;
  memcpy(both, order, (size_t)rank * sizeof *order);
  if (n->op == OP_PERMUTE) {
    tc_attr_list(n, "axes", &axes);
    for (int i = 0; i < rank; i++) both[i] = (int)tc_dim_value(axes[order[i]]);
    x = n->in[0];
  }
  for (int i = 0; i < rank; i++) same = same && both[i] == i;
  return same ? x : tc_build_permute(c->g, x, rank, both, c->loc);
}

tc_ref cv_reshaped_to(const dc *c, tc_ref x, int rank, const tc_dim *dims) {
  const tc_node *n = tc_graph_node(c->g, x);
  const tc_type *t = n->op == OP_RESHAPE ? tc_graph_type(c->g, n->in[0]) : NULL;
  bool same = t && t->rank == rank;
  for (int i = 0; same && i < rank; i++) same = tc_dim_same(t->dim[i], dims[i]);
  return same ? n->in[0] : dc_reshape(c, x, rank, dims);
}

/* Zeros around [N, D1 .., C]; `more` channels of zeros. */
static tc_ref padded(const dc *c, const cv_conv *v, tc_ref x, tc_dim more) {
  const tc_type *t = tc_graph_type(c->g, x);
  tc_dim attr[2 * TC_MAX_RANK + 2];
  bool any = !tc_dim_is(more, 0);
  attr[0] = attr[1 + t->rank] = tc_dim_const(t->rank);
  for (int i = 0; i < t->rank; i++) {
    const bool spatial = i && i <= v->space;
    attr[1 + i] = spatial ? v->before[i - 1] : tc_dim_const(0);
    attr[2 + t->rank + i] = spatial ? v->after[i - 1] : i == t->rank - 1 ? more : tc_dim_const(0);
    any |= !tc_dim_is(attr[1 + i], 0) || !tc_dim_is(attr[2 + t->rank + i], 0);
  }
  const tc_ref in[] = {x, tc_graph_const_f(c->g, (tc_dtype)t->dtype, true, 0, c->loc)};
  return any ? tc_build(c->g, OP_PAD, 2, in, 2 * t->rank + 2, attr, NULL, c->loc) : x;
}

/* The windows of axis 1 + i of x[N, D1 .., C, windows ..], as the last axis. */
static tc_ref with_windows(const dc *c, const cv_conv *v, tc_ref x, int i) {
  tc_dims *d = tc_graph_dims(c->g);
  const tc_dim one = tc_dim_const(1);
  const tc_dim points[] = {tc_dim_const(1 + i), tc_dim_const(0), tc_graph_type(c->g, x)->dim[1 + i],
                           v->step[i]};
  if (!v->windows[i])
    return tc_dim_is(v->step[i], 1) ? x : tc_build(c->g, OP_SLICE, 1, &x, 4, points, NULL, c->loc);
  const tc_dim span =
      tc_dim_add(d, tc_dim_mul(d, tc_dim_sub(d, v->size[i], one), v->dilation[i]), one);
  const tc_dim unfold[] = {tc_dim_const(1 + i), span, v->step[i]};
  x = tc_build(c->g, OP_UNFOLD, 1, &x, 3, unfold, NULL, c->loc);
  const int rank = tc_graph_type(c->g, x)->rank;
  const tc_dim slice[] = {tc_dim_const(rank - 1), tc_dim_const(0), span, v->dilation[i]};
  return tc_dim_is(v->dilation[i], 1) ? x : tc_build(c->g, OP_SLICE, 1, &x, 4, slice, NULL, c->loc);
}

tc_ref cv_left_operand(const dc *c, const cv_conv *v, tc_ref x) {
  tc_dims *d = tc_graph_dims(c->g);
  const tc_dim channels = tc_dim_add(d, v->channels, v->more);
  int n = 0, rank = 0, order[TC_MAX_RANK];
  tc_dim dims[TC_MAX_RANK];
  const tc_dim images = tc_graph_type(c->g, x)->dim[0];
  x = padded(c, v, x, v->more);
  if (v->grouped) {
    memcpy(dims, tc_graph_type(c->g, x)->dim, sizeof dims);
    dims[v->space + 1] = v->groups, dims[v->space + 2] = channels;
    x = dc_reshape(c, x, v->space + 3, dims);
    order[n++] = v->space + 1;
  }
  for (int i = 0; i < v->space; i++) x = with_windows(c, v, x, i);
  const int last = v->space + 1 + v->grouped;
  for (int i = 0; i <= v->space; i++) order[n++] = i;
  for (int i = 0, at = last + 1; i < v->space; i++)
    if (v->windows[i]) order[n++] = at++;
  order[n++] = last;
  x = cv_permuted_by(c, x, n, order);
  tc_dim deep = channels;
  for (int i = 0; i < v->space; i++) deep = tc_dim_mul(d, deep, v->size[i]);
  if (v->grouped) dims[rank++] = v->groups;
  dims[rank++] = tc_dim_mul(d, images, v->points);
  dims[rank++] = deep;
  return dc_reshape(c, x, rank, dims);
}

tc_ref cv_right_operand(const dc *c, const cv_conv *v, tc_ref w) {
  tc_dims *d = tc_graph_dims(c->g);
  const int first = v->grouped; /* of the results */
  tc_dim dims[TC_MAX_RANK], deep = tc_dim_add(d, v->channels, v->more);
  int n = 0, order[TC_MAX_RANK];
  memcpy(dims, tc_graph_type(c->g, w)->dim, sizeof dims);
  for (int i = 0; i < v->space; i++) deep = tc_dim_mul(d, deep, v->size[i]);
  for (int i = 0; i <= first; i++) order[n++] = i;
  for (int i = 0; i < v->space; i++) order[n++] = first + 2 + i;
  order[n++] = first + 1;
  w = padded(c, &(cv_conv){.space = 0}, cv_permuted_by(c, w, n, order), v->more);
  dims[first + 1] = deep;
  w = dc_reshape(c, w, first + 2, dims);
  order[0] = 0, order[first] = first + 1, order[first + 1] = first;
  return cv_permuted_by(c, w, first + 2, order);
}
