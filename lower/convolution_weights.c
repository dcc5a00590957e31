/* convolution_weights.c - the gradient of a convolution's weights, a sum over images of products
 * with windows, as one product along images and points:
 *
 *   dw[o, (c, r, s)] = sum over (n, p) of dy[n, o, p] x[n, c, step p + dilation (r, s)]
 *
 * There are few results, each of many points: parts of them are summed side by side, in f32. */
#include "lower/convolution.h"

#include <string.h>

static bool is_swap(const tc_node *n, int rank) {
  const tc_dim *axes;
  return n->op == OP_PERMUTE && tc_attr_list(n, "axes", &axes) == rank &&
         tc_dim_value(axes[rank - 1]) == rank - 2 && tc_dim_value(axes[rank - 2]) == rank - 1;
}

/* sum over n of dy[n, O, P] windows[n, K, P]' */
static bool find_by_weights(const tc_rewrite *w, const tc_node *n, cv_conv *c, tc_ref *dy) {
  const tc_dim *axes;
  if (n->op != OP_SUM || !tc_dtype_is_half((tc_dtype)n->type.dtype) || n->type.rank != 2 ||
      tc_attr_list(n, "axes", &axes) != 1 || tc_dim_value(axes[0]))
    return false;
  const tc_node *product = tc_rewrite_node(w, n->in[0]);
  if (product->op != OP_MATMUL || product->type.rank != 3 || w->uses[n->in[0].id] != 1)
    return false;
  const tc_node *turned = tc_rewrite_node(w, product->in[1]);
  if (!is_swap(turned, 3) || tc_graph_type(w->old, product->in[0])->rank != 3) return false;
  *dy = product->in[0];
  return cv_find_windows(w, turned->in[0], c) && !c->grouped;
}

/* Parts of the images, so many that the tiles of all products feed a machine. */
static tc_dim parts_of(tc_dim images, tc_dim rows, tc_dim columns) {
  enum { TILE = 128, ENOUGH = 256 };
  if (!tc_dim_is_const(images) || !tc_dim_is_const(rows) || !tc_dim_is_const(columns))
    return images;
  const int64_t tiles =
      ((tc_dim_value(rows) + TILE - 1) / TILE) * ((tc_dim_value(columns) + TILE - 1) / TILE);
  int64_t parts = 1;
  while (parts < tc_dim_value(images) && (tiles * parts < ENOUGH || tc_dim_value(images) % parts))
    parts++;
  return tc_dim_const(parts);
}

/* [M, K] as [parts, M / parts, K], in f32 where there are several, as the sums of each are: what is
 * multiplied is narrow. */
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
  dims[rank - 1] = tc_dim_add(d, v->channels, v->more);
  y = dc_slice(c, dc_reshape(c, y, rank, dims), rank - 1, tc_dim_const(0), v->channels);
  return dc_reshape_to(c, cv_permuted_by(c, y, rank, order), n);
}

static tc_ref by_weights(const tc_rewrite *w, const tc_node *n, cv_conv *v, tc_ref dy) {
  const dc c = {.g = w->g, .loc = n->loc, .dtype = (tc_dtype)n->type.dtype};
  const tc_ref image = w->map[v->image.id];
  v->more = cv_more_channels(w->g, v, image);
  tc_ref x = cv_left_operand(&c, v, cv_as_last(w->g, image, n->loc));
  tc_ref z = cv_as_last(w->g, w->map[dy.id], n->loc);
  const tc_type *t = tc_graph_type(w->g, z), *windows = tc_graph_type(w->g, x);
  const tc_dim parts = parts_of(t->dim[0], t->dim[2], windows->dim[1]),
               flat[] = {windows->dim[0], t->dim[2]};
  const bool many = !tc_dim_is(parts, 1);
  z = in_parts(&c, dc_reshape(&c, z, 2, flat), parts);
  z = cv_permuted_by(&c, z, 2 + many, many ? (int[]){0, 2, 1} : (int[]){1, 0});
  tc_ref y = dc2(&c, OP_MATMUL, z, in_parts(&c, x, parts));
  if (many) y = dc_reduce(&c, OP_SUM, y, &(dc_axes){1, {0}}, false);
  return channels_outside(&c, v, tc_build_cast(w->g, y, c.dtype, n->loc), n);
}

tc_ref cv_gradient(const tc_rewrite *w, const tc_node *n) {
  cv_conv c;
  tc_ref dy;
  return find_by_weights(w, n, &c, &dy) ? by_weights(w, n, &c, dy) : (tc_ref){0};
}
