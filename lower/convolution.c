/* convolution.c - convolutions of f16 and bf16 images, as products of images whose channels are
 * neighbours in memory.
 *
 * tc_conv is a product of weights w[O, C R S] and windows, a view of the image x[N, C, H, W]:
 *
 *   y[n, o, p] = sum over (c, r, s) of w[o, (c, r, s)] x[n, c, step p + dilation (r, s)]
 *
 * An operand of a matrix unit is read many elements at a time, and neighbours along k are found in
 * one place for every window if they are channels.  So the product becomes one of x'[N, H, W, C]
 * and w'[R, S, C, O]:
 *
 *   y'[(n, p), o] = sum over (r, s, c) of x'[n, step p + dilation (r, s), c] w'[(r, s, c), o]       [N, P, O]
 *
 * whose windows are a view too, and y is a view of y'.  What is computed of y element by element is
 * computed of y', so that arrays between convolutions are channels last, and nothing is transposed.
 * For any number of spatial axes, and for groups of channels, which are batches of the product. */
#include "lower/convolution.h"

#include <string.h>

/* ---- the product ----------------------------------------------------------------------------- */

/* y[G, (n, p), O / G] as [N, P, O], or of groups [N, D1 .., O]. */
static tc_ref result_of(const dc *c, const cv_conv *v, tc_ref y, tc_dim images) {
  tc_dims *d = tc_graph_dims(c->g);
  tc_dim dims[TC_MAX_RANK];
  int rank = 0, order[TC_MAX_RANK];
  const tc_dim results = tc_graph_type(c->g, y)->dim[1 + v->grouped];
  if (!v->grouped) return dc_reshape(c, y, 3, (tc_dim[]){images, v->points, results});
  dims[rank++] = v->groups;
  dims[rank++] = images;
  for (int i = 0; i < v->space; i++) dims[rank++] = v->out[i];
  dims[rank++] = results;
  y = dc_reshape(c, y, rank, dims);
  for (int i = 0; i < rank; i++) order[i] = i <= v->space ? i + 1 : i == v->space + 1 ? 0 : i;
  y = tc_build_permute(c->g, y, rank, order, c->loc);
  dims[0] = images;
  for (int i = 0; i < v->space; i++) dims[1 + i] = v->out[i];
  dims[v->space + 1] = tc_dim_mul(d, v->groups, results);
  return dc_reshape(c, y, v->space + 2, dims);
}

/* w[G, O / G, (c, windows)] as [G, O / G, c, windows ..]. */
static tc_ref taken_apart(const dc *c, const cv_conv *v, tc_ref w) {
  tc_dim dims[TC_MAX_RANK];
  memcpy(dims, tc_graph_type(c->g, w)->dim, sizeof dims);
  dims[1 + v->grouped] = v->channels;
  for (int i = 0; i < v->space; i++) dims[2 + v->grouped + i] = v->size[i];
  return cv_reshaped_to(c, w, 2 + v->grouped + v->space, dims);
}

static bool find_conv(const tc_rewrite *w, const tc_node *n, cv_conv *c) {
  return n->op == OP_MATMUL && tc_dtype_is_half((tc_dtype)n->type.dtype) &&
         cv_find_windows(w, n->in[1], c) && tc_graph_type(w->old, n->in[0])->rank == 2 + c->grouped;
}

static tc_ref convolved(const tc_rewrite *w, const tc_node *n, const tc_ref *in, cv_conv *v) {
  const dc c = {.g = w->g, .loc = n->loc, .dtype = (tc_dtype)n->type.dtype};
  const tc_ref image = w->map[v->image.id], x = cv_as_last(w->g, image, n->loc);
  v->more = cv_more_channels(w->g, v, image);
  const tc_ref y = dc2(&c, OP_MATMUL, cv_left_operand(&c, v, x),
                       cv_right_operand(&c, v, taken_apart(&c, v, in[0])));
  const tc_ref last = result_of(&c, v, y, tc_graph_type(w->g, x)->dim[0]);
  return dc_reshape_to(&c, cv_as_first(w->g, last, n->loc), n);
}

/* ---- what is computed of it ------------------------------------------------------------------ */

/* A reshape of a reshape that gives back what that one was of; or of spatial axes alone, which are
 * that with the channels last, too. */
static tc_ref reshaped_last(const tc_rewrite *w, const tc_node *n, const tc_ref *in) {
  const dc c = {.g = w->g, .loc = n->loc};
  if (n->op != OP_RESHAPE) return (tc_ref){0};
  if (tc_graph_node(w->g, in[0])->op == OP_RESHAPE)
    return cv_reshaped_to(&c, in[0], n->type.rank, n->type.dim);
  const tc_ref last = cv_shown_last(w->g, in[0]);
  const tc_type *from = tc_graph_type(w->g, in[0]), *t = &n->type;
  if (!last.id || t->rank < 3 || !tc_dim_same(from->dim[0], t->dim[0]) ||
      !tc_dim_same(from->dim[1], t->dim[1]))
    return (tc_ref){0};
  tc_dim dims[TC_MAX_RANK];
  for (int i = 0; i < t->rank; i++)
    dims[i] = i == 0 ? t->dim[0] : i == t->rank - 1 ? t->dim[1] : t->dim[i + 1];
  return cv_as_first(w->g, cv_reshaped_to(&c, last, t->rank, dims), n->loc);
}

/* An operand of an elementwise op of that rank, with the channels last. */
static tc_ref operand_last(const tc_rewrite *w, tc_ref r, int rank, tc_loc loc) {
  const tc_type *t = tc_graph_type(w->g, r);
  tc_dim dims[TC_MAX_RANK];
  if (t->rank < 2) return t->rank == 0 || tc_dim_is(t->dim[0], 1) ? r : (tc_ref){0};
  if (t->rank > rank) return (tc_ref){0};
  for (int i = 0; i < rank; i++)
    dims[i] = i < rank - t->rank ? tc_dim_const(1) : t->dim[i - (rank - t->rank)];
  return cv_as_last(w->g, t->rank == rank ? r : tc_build_reshape(w->g, r, rank, dims, loc), loc);
}

static tc_ref computed_last(const tc_rewrite *w, const tc_node *n, const tc_ref *in) {
  enum { MOST = 3 };
  tc_ref last[MOST];
  bool any = false;
  if (n->nin > MOST || lo_class(n) != TC_CLASS_EW || tc_op_get(n->op)->positional)
    return (tc_ref){0};
  for (int k = 0; k < n->nin; k++)
    any |= cv_shown_last(w->g, in[k]).id && tc_graph_type(w->g, in[k])->rank == n->type.rank;
  if (!any) return (tc_ref){0};
  for (int k = 0; k < n->nin; k++) {
    last[k] = operand_last(w, in[k], n->type.rank, n->loc);
    if (!last[k].id) return last[k];
  }
  return cv_as_first(w->g, tc_rewrite_copy(w->g, w->old, n, last), n->loc);
}

/* ---- the pass -------------------------------------------------------------------------------- */

static tc_ref rewrite(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  cv_conv c;
  (void)r;
  if (find_conv(w, n, &c)) return convolved(w, n, in, &c);
  tc_ref other = cv_gradient(w, n);
  if (!other.id) other = reshaped_last(w, n, in);
  if (!other.id) other = computed_last(w, n, in);
  return other.id ? other : tc_rewrite_copy(w->g, w->old, n, in);
}

tc_graph *lo_with_channels_last(tc_graph *g) { return tc_rewrite_where(g, OP_UNFOLD, rewrite); }
