/* convolution_gradients.c - gradients of convolutions as products of windows, too.
 *
 * Of the weights, a sum over images of products with windows, as one product along images and points:
 *
 *   dw[o, (c, r, s)] = sum over (n, p) of dy[n, o, p] x[n, c, step p + dilation (r, s)]
 *
 * There are few results, each of many points: parts of them are summed side by side, in f32.
 *
 * Of the image, the transpose of taking windows: elements of w' dy are added up where windows overlap, position by position
 * (autodiff/rules/view.c).  With steps of 1 that is a convolution of dy, among zeros, with the weights turned round:
 *
 *   dx[n, c, q] = sum over (o, r, s) of dy[n, o, q + before - (r, s)] w[o, c, r, s] */
#include "lower/convolution.h"

#include <string.h>

static const tc_node *node_of(const tc_rewrite *w, tc_ref r) { return tc_graph_node(w->old, r); }

static bool is_swap(const tc_node *n, int rank) {
  const tc_dim *axes;
  return n->op == OP_PERMUTE && tc_attr_list(n, "axes", &axes) == rank && tc_dim_value(axes[rank - 1]) == rank - 2 &&
         tc_dim_value(axes[rank - 2]) == rank - 1;
}

/* ---- by the weights -------------------------------------------------------------------------- */

/* sum over n of dy[n, O, P] windows[n, K, P]' */
static bool find_by_weights(const tc_rewrite *w, const tc_node *n, cv_conv *c, tc_ref *dy) {
  const tc_dim *axes;
  if (n->op != OP_SUM || !cv_is_half(n) || n->type.rank != 2 || tc_attr_list(n, "axes", &axes) != 1 || tc_dim_value(axes[0])) return false;
  const tc_node *product = node_of(w, n->in[0]);
  if (product->op != OP_MATMUL || product->type.rank != 3 || w->uses[n->in[0].id] != 1) return false;
  const tc_node *turned = node_of(w, product->in[1]);
  if (!is_swap(turned, 3) || tc_graph_type(w->old, product->in[0])->rank != 3) return false;
  *dy = product->in[0];
  return cv_find_windows(w, turned->in[0], c) && !c->grouped;
}

/* Parts of the images, so many that the tiles of all products feed a machine. */
static tc_dim parts_of(tc_dim images, tc_dim rows, tc_dim columns) {
  enum { TILE = 128, ENOUGH = 256 };
  if (!tc_dim_is_const(images) || !tc_dim_is_const(rows) || !tc_dim_is_const(columns)) return images;
  const int64_t tiles = ((tc_dim_value(rows) + TILE - 1) / TILE) * ((tc_dim_value(columns) + TILE - 1) / TILE);
  int64_t parts = 1;
  while (parts < tc_dim_value(images) && (tiles * parts < ENOUGH || tc_dim_value(images) % parts)) parts++;
  return tc_dim_const(parts);
}

/* [M, K] as [parts, M / parts, K], in f32 where there are several, as the sums of each are: what is multiplied is narrow. */
static tc_ref in_parts(const dc *c, tc_ref x, tc_dim parts) {
  const tc_type *t = tc_graph_type(c->g, x);
  const tc_dim dims[] = {parts, tc_dim_div(tc_graph_dims(c->g), t->dim[0], parts), t->dim[1]};
  if (tc_dim_is(parts, 1)) return x;
  return tc_build_cast(c->g, dc_reshape(c, x, 3, dims), TC_F32, c->loc);
}

/* [O, (windows, c)] as [O, (c, windows)], without channels of zeros. */
static tc_ref channels_outside(const dc *c, const cv_conv *v, tc_ref y, const tc_node *n) {
  tc_dims *d = tc_graph_dims(c->g);
  const int rank = v->space + 2;
  tc_dim dims[TC_MAX_RANK] = {n->type.dim[0]};
  int order[TC_MAX_RANK] = {0, rank - 1};
  for (int i = 0; i < v->space; i++) dims[1 + i] = v->size[i], order[2 + i] = 1 + i;
  dims[rank - 1] = tc_dim_add(d, v->channels, cv_more_channels(v));
  y = dc_slice(c, dc_reshape(c, y, rank, dims), rank - 1, tc_dim_const(0), v->channels);
  return dc_reshape_to(c, cv_permuted_by(c, y, rank, order), n);
}

static tc_ref by_weights(const tc_rewrite *w, const tc_node *n, const cv_conv *v, tc_ref dy) {
  const dc c = {.g = w->g, .loc = n->loc, .dtype = (tc_dtype)n->type.dtype};
  tc_ref x = cv_left_operand(&c, v, cv_as_last(w->g, w->map[v->image.id], n->loc));
  tc_ref z = cv_as_last(w->g, w->map[dy.id], n->loc);
  const tc_type *t = tc_graph_type(w->g, z), *windows = tc_graph_type(w->g, x);
  const tc_dim parts = parts_of(t->dim[0], t->dim[2], windows->dim[1]), flat[] = {windows->dim[0], t->dim[2]};
  const bool many = !tc_dim_is(parts, 1);
  z = in_parts(&c, dc_reshape(&c, z, 2, flat), parts);
  z = cv_permuted_by(&c, z, 2 + many, many ? (int[]){0, 2, 1} : (int[]){1, 0});
  tc_ref y = dc2(&c, OP_MATMUL, z, in_parts(&c, x, parts));
  if (many) y = dc_reduce(&c, OP_SUM, y, &(dc_axes){1, {0}}, false);
  return channels_outside(&c, v, tc_build_cast(w->g, y, c.dtype, n->loc), n);
}

/* ---- by the image ---------------------------------------------------------------------------- */

/* Elements of windows that are added up where they came from: what they are, the axis of the sum, and how many a window
 * has. */
typedef struct fold {
  tc_ref windows;
  int axis;
  int64_t size;
} fold;

/* Position j of each window among zeros: j in front, the rest of a window behind. */
static bool is_position(const tc_rewrite *w, tc_ref r, fold *f, uint64_t *seen) {
  const tc_node *pad = node_of(w, r), *part = pad->op == OP_PAD ? node_of(w, pad->in[0]) : NULL;
  double value;
  int64_t integer;
  if (!part || part->op != OP_RESHAPE || !tc_node_const(node_of(w, pad->in[1]), &value, &integer) || value != 0) return false;
  const tc_node *one = node_of(w, part->in[0]);
  const int last = pad->type.rank;
  if (one->op != OP_SLICE || one->type.rank != last + 1 || dc_axis(one, "axis", last + 1) != last || !tc_dim_is(one->type.dim[last], 1))
    return false;
  const tc_type *t = tc_graph_type(w->old, one->in[0]);
  const tc_dim *before, *after, start = tc_attr_int(one, "start");
  tc_attr_list(pad, "before", &before);
  tc_attr_list(pad, "after", &after);
  if (!tc_dim_is_const(start) || !tc_dim_is_const(t->dim[last]) || tc_dim_value(t->dim[last]) > 63) return false;
  const int64_t size = tc_dim_value(t->dim[last]), j = tc_dim_value(start);
  if (!f->size) *f = (fold){one->in[0], -1, size};
  for (int i = 0; i < last; i++) {
    const bool zero = tc_dim_is(before[i], 0) && tc_dim_is(after[i], 0);
    if (!zero && f->axis < 0) f->axis = i;
    if (zero != (i != f->axis)) return false;
  }
  *seen |= (uint64_t)1 << j;
  return f->axis >= 0 && f->windows.id == one->in[0].id && tc_dim_is(before[f->axis], j) && tc_dim_is(after[f->axis], size - 1 - j);
}

static bool find_fold(const tc_rewrite *w, tc_ref r, fold *f) {
  uint64_t seen = 0;
  *f = (fold){0};
  for (int n = 0; n < 64; n++) {
    const tc_node *sum = node_of(w, r);
    if (sum->op != OP_ADD) return n && is_position(w, r, f, &seen) && seen == ((uint64_t)1 << f->size) - 1 && n == f->size - 1;
    if (!is_position(w, sum->in[1], f, &seen)) return false;
    r = sum->in[0];
  }
  return false;
}

/* What is left of [N, C, D1 ..] without the zeros around the image. */
static tc_ref find_zeros(const tc_rewrite *w, tc_ref r, cv_conv *c) {
  for (const tc_node *n = node_of(w, r); n->op == OP_SLICE; n = node_of(w, r = n->in[0])) {
    const int axis = dc_axis(n, "axis", n->type.rank) - 2;
    const tc_type *t = tc_graph_type(w->old, n->in[0]);
    tc_dim first, length;
    if (axis < 0 || !tc_dim_is(tc_attr_int(n, "step"), 1)) return (tc_ref){0};
    if (!tc_dim_is(c->before[axis], 0) || !tc_dim_is(c->after[axis], 0)) return (tc_ref){0};
    tc_dims *d = tc_graph_dims(w->old);
    if (!tc_slice_bounds(d, t->dim[axis + 2], tc_attr_int(n, "start"), tc_attr_int(n, "stop"), 1, &first, &length)) return (tc_ref){0};
    c->before[axis] = first;
    c->after[axis] = tc_dim_sub(d, tc_dim_sub(d, t->dim[axis + 2], length), first);
  }
  return r;
}

static bool turned_back(cv_view *v, const tc_node *n) {
  const tc_dim *axes;
  int back[TC_MAX_RANK];
  const int rank = tc_attr_list(n, "axes", &axes);
  for (int i = 0; i < rank; i++) back[tc_dim_value(axes[i])] = i;
  return cv_permuted(v, rank, back);
}

/* From the sums down to the product, as windows are taken from the image on. */
static tc_ref find_product(const tc_rewrite *w, tc_ref r, cv_view *v, cv_conv *c) {
  for (int i = 0; i < CV_ATOMS; i++) {
    const tc_node *n = node_of(w, r);
    fold f;
    if (n->op == OP_MATMUL) return r;
    if (find_fold(w, r, &f)) {
      const tc_type *t = tc_graph_type(w->old, f.windows);
      if (!cv_unfolded(v, f.axis, t->rank - 1, tc_dim_const(f.size), tc_dim_const(1), t->dim[f.axis], c)) return (tc_ref){0};
      r = f.windows;
    } else if (n->op == OP_RESHAPE ? !cv_reshaped(v, tc_graph_type(w->old, n->in[0])) : n->op != OP_PERMUTE || !turned_back(v, n))
      return (tc_ref){0};
    else r = n->in[0];
  }
  return (tc_ref){0};
}

/* c: of the forward convolution.  The product is w[O, K]' dy[N, O, P]. */
static bool find_by_image(const tc_rewrite *w, tc_ref r, const tc_node *n, cv_conv *c, const tc_node **product) {
  cv_view v;
  const int rank = n->type.rank;
  bool any = false;
  if ((n->op != OP_SLICE && n->op != OP_ADD) || rank < 3 || rank - 2 > CV_SPACE || !cv_is_half(n)) return false;
  *c = (cv_conv){.space = rank - 2, .groups = tc_dim_const(1), .channels = n->type.dim[1]};
  for (int i = 0; i < CV_SPACE; i++) c->size[i] = c->step[i] = c->dilation[i] = tc_dim_const(1);
  const tc_ref sums = find_zeros(w, r, c);
  if (!sums.id) return false;
  cv_open_view(&v, tc_graph_dims(w->old), tc_graph_type(w->old, sums));
  for (int i = 0; i < c->space; i++) c->out[i] = v.at[2 + i].extent;
  const tc_ref at = find_product(w, sums, &v, c);
  for (int i = 0; i < c->space; i++) any |= c->windows[i];
  if (!at.id || !any || !cv_is_matrix(&v, c)) return false;
  *product = node_of(w, at);
  return (*product)->type.rank == 3 && is_swap(node_of(w, (*product)->in[0]), 2) && tc_graph_type(w->old, (*product)->in[1])->rank == 3;
}

/* The convolution of dy that gives the image's gradient; false: it has fewer than no zeros around it. */
static bool transposed(tc_dims *d, const cv_conv *c, tc_dim results, const tc_type *image, cv_conv *back) {
  *back = *c;
  back->channels = results;
  back->points = tc_dim_const(1);
  for (int i = 0; i < c->space; i++) {
    const tc_dim most = tc_dim_sub(d, c->size[i], tc_dim_const(1));
    back->before[i] = tc_dim_sub(d, most, c->before[i]);
    back->after[i] = tc_dim_sub(d, most, c->after[i]);
    back->out[i] = image->dim[2 + i];
    back->points = tc_dim_mul(d, back->points, back->out[i]);
    if (!tc_dim_known_le(d, tc_dim_const(0), back->before[i]) || !tc_dim_known_le(d, tc_dim_const(0), back->after[i])) return false;
  }
  return true;
}

/* w[O, (c, windows)] as [C, o, windows turned round ..]. */
static tc_ref turned_weights(const dc *c, const cv_conv *v, tc_ref w) {
  const int rank = 2 + v->space;
  tc_dim dims[TC_MAX_RANK] = {tc_graph_type(c->g, w)->dim[0], v->channels}, flip[1 + TC_MAX_RANK] = {tc_dim_const(v->space)};
  int order[TC_MAX_RANK] = {1, 0};
  for (int i = 0; i < v->space; i++) dims[2 + i] = v->size[i], flip[1 + i] = tc_dim_const(2 + i), order[2 + i] = 2 + i;
  w = cv_reshaped_to(c, w, rank, dims);
  w = tc_build(c->g, OP_FLIP, 1, &w, 1 + v->space, flip, NULL, c->loc);
  return tc_build_permute(c->g, w, rank, order, c->loc);
}

static tc_ref by_image(const tc_rewrite *w, const tc_node *n, const cv_conv *v, const tc_node *product) {
  const dc c = {.g = w->g, .loc = n->loc, .dtype = (tc_dtype)n->type.dtype};
  const tc_node *turned = node_of(w, product->in[0]);
  tc_ref dy = cv_as_last(w->g, w->map[product->in[1].id], n->loc), weights = w->map[turned->in[0].id];
  const tc_type *t = tc_graph_type(w->g, dy);
  tc_dim dims[TC_MAX_RANK] = {t->dim[0]};
  cv_conv back;
  if (!transposed(tc_graph_dims(w->g), v, t->dim[2], &n->type, &back)) return (tc_ref){0};
  for (int i = 0; i < v->space; i++) dims[1 + i] = v->out[i];
  dims[1 + v->space] = t->dim[2];
  dy = cv_reshaped_to(&c, dy, v->space + 2, dims);
  const tc_ref y = dc2(&c, OP_MATMUL, cv_left_operand(&c, &back, dy), cv_right_operand(&c, &back, turned_weights(&c, v, weights)));
  for (int i = 0; i < v->space; i++) dims[1 + i] = back.out[i];
  dims[1 + v->space] = v->channels;
  return cv_as_first(w->g, dc_reshape(&c, y, v->space + 2, dims), n->loc);
}

tc_ref cv_gradient(const tc_rewrite *w, tc_ref r, const tc_node *n) {
  cv_conv c;
  tc_ref dy;
  const tc_node *product;
  if (find_by_weights(w, n, &c, &dy)) return by_weights(w, n, &c, dy);
  return find_by_image(w, r, n, &c, &product) ? by_image(w, n, &c, product) : (tc_ref){0};
}
