/* cropped_phases.c - a part of interleaved arrays is made of parts of these.
 *
 *   x = a[0] b[0] a[1] b[1] ..      x[1 .. 2 n - 1] = b[0] a[1] b[1] .. a[n - 1]
 *
 * Gradients of windows that are more than one apart come as such phases (autodiff's unfold), and of a padded image only what
 * is not padding is wanted: the slice of the sum, which is an array of its own otherwise, and so are phases that are padded
 * to be as long as the rest.  Parts are taken as far down as padding: what is cut there need not be padded. */
#include "graph/decomp/decomp.h"
#include "graph/passes/pass.h"
#include "graph/passes/rewrite.h"
#include "lower/lowering.h"

#include <string.h>

enum { MOST = 16 /* phases */, MOST_NODES = 256 /* that parts are taken of, for one slice */ };

/* What is wanted of an array: places from .. to of each axis that is `cut`; `own`: of one of those that read it alone. */
typedef struct crop {
  tc_dim from[TC_MAX_RANK], to[TC_MAX_RANK];
  bool cut[TC_MAX_RANK], own[TC_MAX_RANK];
} crop;

static tc_ref cropped(tc_rewrite *w, tc_ref r, const crop *want);

static tc_dims *dims_of(const tc_rewrite *w) { return tc_graph_dims(w->old); }

static bool is_whole(const crop *c) {
  for (int i = 0; i < TC_MAX_RANK; i++)
    if (c->cut[i]) return false;
  return true;
}

static tc_dim length_of(tc_dims *d, const crop *c, const tc_type *t, int axis) {
  return c->cut[axis] ? tc_dim_sub(d, c->to[axis], c->from[axis]) : t->dim[axis];
}

static tc_type type_of(tc_dims *d, const crop *c, const tc_type *t) {
  tc_type own = *t;
  for (int i = 0; i < t->rank; i++) own.dim[i] = length_of(d, c, t, i);
  return own;
}

static void move_axis(crop *to, int axis, const crop *from, int old) {
  to->cut[axis] = from->cut[old], to->own[axis] = from->own[old];
  to->from[axis] = from->from[old], to->to[axis] = from->to[old];
}

/* y of the new graph, which is made of r, or a part of it. */
static tc_ref slice_of(const tc_rewrite *w, tc_ref r, tc_ref y, const crop *want) {
  const dc c = dc_begin_choice(w->g, tc_rewrite_node(w, r));
  for (int i = 0; i < TC_MAX_RANK; i++)
    if (want->cut[i]) y = dc_slice(&c, y, i, want->from[i], want->to[i]);
  return y;
}

static tc_ref sliced(const tc_rewrite *w, tc_ref r, const crop *want) {
  return slice_of(w, r, w->map[r.id], want);
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* The concatenation of which r has element i of each operand, then element i + 1 of each, along `*axis`; r may have axes of one
 * point behind its others.  Or NULL. */
static const tc_node *phases_of(const tc_rewrite *w, tc_ref r, int *axis) {
  const tc_node *merged = tc_rewrite_node(w, r);
  const tc_node *swapped = merged->op == OP_RESHAPE ? tc_rewrite_node(w, merged->in[0]) : merged;
  const tc_node *all = swapped->op == OP_PERMUTE ? tc_rewrite_node(w, swapped->in[0]) : swapped;
  const tc_dim *order;
  if (all->op != OP_CONCAT || swapped->op != OP_PERMUTE || merged->op != OP_RESHAPE || all->nin > MOST)
    return NULL;
  const int rank = all->type.rank, at = *axis = dc_axis(all, "axis", rank);
  if (at + 1 == rank || merged->type.rank < rank - 1) return NULL;
  tc_attr_list(swapped, "axes", &order);
  for (int i = 0; i < rank; i++)
    if (!tc_dim_is(order[i], i == at ? at + 1 : i == at + 1 ? at : i)) return NULL;
  for (int i = 0; i < rank - 1; i++)
    if (i != at && !tc_dim_same(merged->type.dim[i], swapped->type.dim[i < at ? i : i + 1])) return NULL;
  for (int i = rank - 1; i < merged->type.rank; i++)
    if (!tc_dim_is(merged->type.dim[i], 1)) return NULL;
  for (int i = 0; i < all->nin; i++)
    if (!tc_dim_is(tc_graph_type(w->old, all->in[i])->dim[at], 1)) return NULL;
  return all;
}

/* Phase i of what is wanted of them: which one it is, and its part. */
static tc_ref phase(tc_rewrite *w, const tc_node *all, int axis, const crop *want, int i) {
  tc_dims *d = dims_of(w);
  const int64_t n = all->nin, place = want->cut[axis] ? tc_dim_value(want->from[axis]) + i : i;
  const tc_ref of = all->in[place % n];
  crop own = {0};
  for (int a = 0; a < all->type.rank - 1; a++)
    if (a != axis) move_axis(&own, a < axis ? a : a + 1, want, a);
  own.cut[axis + 1] = want->cut[axis];
  if (own.cut[axis + 1]) {
    const tc_dim length = tc_dim_sub(d, want->to[axis], want->from[axis]);
    own.own[axis + 1] = true;
    own.from[axis + 1] = tc_dim_const(place / n);
    own.to[axis + 1] = tc_dim_add(d, own.from[axis + 1], tc_dim_div(d, length, tc_dim_const(n)));
  }
  return cropped(w, of, &own);
}

static tc_ref cropped_phases(tc_rewrite *w, tc_ref r, const crop *want) {
  tc_dims *d = dims_of(w);
  int axis, order[TC_MAX_RANK];
  const tc_node *all = phases_of(w, r, &axis), *n = tc_rewrite_node(w, r);
  const tc_dim count = tc_dim_const(all->nin), length = length_of(d, want, &n->type, axis);
  if (want->cut[axis] && (!tc_dim_is_const(want->from[axis]) ||
                          !tc_dim_same(tc_dim_mul(d, tc_dim_div(d, length, count), count), length)))
    return sliced(w, r, want);
  tc_ref part[MOST];
  for (int i = 0; i < all->nin; i++)
    if (!(part[i] = phase(w, all, axis, want, i)).id) return part[i];
  const dc c = dc_begin_choice(w->g, n);
  const tc_type t = type_of(d, want, &n->type);
  for (int i = 0; i < all->type.rank; i++) order[i] = i == axis ? axis + 1 : i == axis + 1 ? axis : i;
  const tc_ref joined = dc_axis_op(&c, OP_CONCAT, all->nin, part, axis);
  return dc_reshape(&c, tc_build_permute(w->g, joined, all->type.rank, order, n->loc), t.rank, t.dim);
}

/* ---- what stands in front of them ------------------------------------------------------------ */

/* Of a reshape that adds or drops axes of one point: the axes of its operand. */
static tc_ref cropped_reshape(tc_rewrite *w, tc_ref r, const tc_node *n, const crop *want) {
  const tc_type *from = tc_graph_type(w->old, n->in[0]);
  crop own = {0};
  int i = 0, k = 0;
  for (;; i++, k++) {
    while (i < n->type.rank && tc_dim_is(n->type.dim[i], 1) && !want->cut[i]) i++;
    while (k < from->rank && tc_dim_is(from->dim[k], 1)) k++;
    if (i == n->type.rank || k == from->rank) break;
    if (!tc_dim_same(n->type.dim[i], from->dim[k])) return sliced(w, r, want);
    move_axis(&own, k, want, i);
  }
  if (i < n->type.rank || k < from->rank) return sliced(w, r, want);
  const dc c = dc_begin_choice(w->g, n);
  const tc_type t = type_of(dims_of(w), want, &n->type);
  return dc_reshape(&c, cropped(w, n->in[0], &own), t.rank, t.dim);
}

/* Along one axis: places `from` to `to` of what is padded by `before` and `after`, as padding and a part of what is inside;
 * false: where they lie is not known. */
static bool crop_padding(tc_dims *d, tc_dim inside, crop *own, int axis, tc_dim *before, tc_dim *after) {
  const tc_dim zero = tc_dim_const(0), first = tc_dim_sub(d, own->from[axis], *before),
               last = tc_dim_sub(d, own->to[axis], *before), past = tc_dim_sub(d, last, inside);
  const bool begins = tc_dim_known_le(d, zero, first), ends = tc_dim_known_le(d, past, zero);
  if (!begins && !tc_dim_known_le(d, first, zero)) return false;
  if (!ends && !tc_dim_known_le(d, zero, past)) return false;
  *before = begins ? zero : tc_dim_sub(d, zero, first);
  *after = ends ? zero : past;
  own->from[axis] = begins ? first : zero;
  own->to[axis] = ends ? last : inside;
  own->cut[axis] = !tc_dim_same(own->from[axis], zero) || !tc_dim_same(own->to[axis], inside);
  return tc_dim_known_le(d, own->from[axis], own->to[axis]);
}

static tc_ref cropped_pad(tc_rewrite *w, tc_ref r, const tc_node *n, const crop *want) {
  const tc_type *inside = tc_graph_type(w->old, n->in[0]);
  const tc_dim *before, *after;
  const int rank = tc_attr_list(n, "before", &before);
  tc_dim attr[2 * TC_MAX_RANK + 2];
  crop own = *want;
  tc_attr_list(n, "after", &after);
  attr[0] = attr[1 + rank] = tc_dim_const(rank);
  memcpy(attr + 1, before, (size_t)rank * sizeof *attr);
  memcpy(attr + 2 + rank, after, (size_t)rank * sizeof *attr);
  for (int i = 0; i < rank; i++)
    if (want->cut[i] && !crop_padding(dims_of(w), inside->dim[i], &own, i, &attr[1 + i], &attr[2 + rank + i]))
      return sliced(w, r, want);
  const tc_ref in[] = {cropped(w, n->in[0], &own), w->map[n->in[1].id]};
  return in[0].id ? tc_build(w->g, OP_PAD, 2, in, 2 * rank + 2, attr, NULL, n->loc) : in[0];
}

/* Element by element. */
static tc_ref cropped_pointwise(tc_rewrite *w, const tc_node *n, const crop *want) {
  tc_ref in[3];
  for (int i = 0; i < n->nin; i++) {
    const tc_type *t = tc_graph_type(w->old, n->in[i]);
    crop own = {0};
    for (int a = 0; a < t->rank; a++)
      if (!tc_dim_is(t->dim[a], 1)) move_axis(&own, a, want, a + n->type.rank - t->rank);
    if (!(in[i] = cropped(w, n->in[i], &own)).id) return in[i];
  }
  return tc_rewrite_copy(w->g, w->old, n, in);
}

/* A part of it is a part of what it is of. */
static bool join_slice(const tc_rewrite *w, const tc_node *n, crop *want) {
  tc_dims *d = dims_of(w);
  tc_dim first, length;
  if (n->op != OP_SLICE || !tc_dim_is(tc_attr_int(n, "step"), 1)) return false;
  const tc_type *t = tc_graph_type(w->old, n->in[0]);
  const int axis = dc_axis(n, "axis", t->rank);
  if (!tc_slice_bounds(d, t->dim[axis], tc_attr_int(n, "start"), tc_attr_int(n, "stop"), 1, &first, &length))
    return false;
  if (!want->cut[axis]) {
    want->from[axis] = tc_dim_const(0), want->to[axis] = n->type.dim[axis];
    want->own[axis] = true;
  }
  want->from[axis] = tc_dim_add(d, want->from[axis], first);
  want->to[axis] = tc_dim_add(d, want->to[axis], first);
  return want->cut[axis] = true;
}

/* Of what several read, what all of them want: of it, each has its own part. */
static tc_ref cropped_for_all(tc_rewrite *w, tc_ref r, const crop *want) {
  crop all = *want, rest = *want;
  for (int i = 0; i < TC_MAX_RANK; i++) {
    all.cut[i] = want->cut[i] && !want->own[i];
    rest.cut[i] = want->cut[i] && want->own[i];
  }
  const tc_ref y = cropped(w, r, &all);
  return y.id ? slice_of(w, r, y, &rest) : y;
}

static bool has_own(const crop *c) {
  for (int i = 0; i < TC_MAX_RANK; i++)
    if (c->cut[i] && c->own[i]) return true;
  return false;
}

static tc_ref cropped(tc_rewrite *w, tc_ref r, const crop *want) {
  const tc_node *n = tc_rewrite_node(w, r);
  int axis;
  crop own = *want;
  int *left = w->self;
  if (is_whole(want)) return w->map[r.id];
  if (--*left < 0) return sliced(w, r, want);
  if (w->uses[r.id] > 1 && has_own(want)) return cropped_for_all(w, r, want);
  switch (n->op) {
  case OP_RESHAPE:
    return phases_of(w, r, &axis) ? cropped_phases(w, r, want) : cropped_reshape(w, r, n, want);
  case OP_PAD:
    return cropped_pad(w, r, n, want);
  case OP_SLICE:
    return join_slice(w, n, &own) ? cropped(w, n->in[0], &own) : sliced(w, r, want);
  case OP_ADD: /* of phases, and the choice which window an element is of */
  case OP_EQ:
  case OP_WHERE:
    return cropped_pointwise(w, n, want);
  default:
    return sliced(w, r, want);
  }
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* Is it a part of phases, perhaps a part of a part?  What is wanted of `*of`, by all that it is read for. */
static bool is_part_of_phases(const tc_rewrite *w, const tc_node *n, tc_ref *of, crop *want) {
  int axis;
  *of = (tc_ref){0};
  for (; join_slice(w, n, want); n = tc_rewrite_node(w, *of)) *of = n->in[0];
  memset(want->own, 0, sizeof want->own);
  return of->id && phases_of(w, *of, &axis);
}

static tc_ref rewrite(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  crop want = {0};
  tc_ref of;
  (void)r;
  if (!is_part_of_phases(w, n, &of, &want)) return tc_rewrite_copy(w->g, w->old, n, in);
  *(int *)w->self = MOST_NODES;
  return cropped(w, of, &want);
}

tc_graph *lo_with_phases_cropped(tc_graph *g) {
  int left = 0;
  tc_graph *own = tc_rewrite_run(g, rewrite, &left);
  if (!own || own == g) return own;
  tc_graph *y = tc_pass_dce(own);
  if (y != own) tc_graph_free(own);
  return y;
}
