/* convolution_find.c - is a matrix one of the windows of an image? */
#include "lower/convolution.h"

#include "graph/passes/pattern.h"

/* ---- views of windows ------------------------------------------------------------------------ */

/* Which axes of an image the dimensions of a view of its windows run over. */
enum { ATOMS = 2 * TC_MAX_RANK };
typedef struct atom {
  int dim, axis; /* the dimension; the axis of the image, or that of the windows of it */
  bool window;
  tc_dim extent;
} atom;
typedef struct view {
  tc_dims *dims;
  int n;
  atom at[ATOMS]; /* in the order of dimensions */
} view;

static void open_view(view *v, tc_dims *dims, const tc_type *t) {
  *v = (view){.dims = dims, .n = t->rank};
  for (int i = 0; i < t->rank; i++) v->at[i] = (atom){i, i, false, t->dim[i]};
}

/* The one atom of a dimension; NULL: there are several, or none. */
static atom *only(view *v, int dim) {
  atom *found = NULL;
  for (int i = 0; i < v->n; i++) {
    if (v->at[i].dim != dim) continue;
    if (found) return NULL;
    found = &v->at[i];
  }
  return found;
}

static void permuted(view *v, const tc_node *n) {
  const view from = *v;
  const tc_dim *axes;
  const int rank = tc_attr_list(n, "axes", &axes);
  v->n = 0;
  for (int d = 0; d < rank; d++)
    for (int i = 0; i < from.n; i++) {
      if (from.at[i].dim != tc_dim_value(axes[d])) continue;
      v->at[v->n] = from.at[i];
      v->at[v->n++].dim = d;
    }
}

/* Dimensions that are merged, or taken apart where they were merged. */
static bool reshaped(view *v, const tc_type *t) {
  int i = 0;
  for (int d = 0; d < t->rank; d++) {
    tc_dim all = tc_dim_const(1);
    if (tc_dim_is(t->dim[d], 1) && i < v->n && tc_dim_is(v->at[i].extent, 1)) v->at[i++].dim = d;
    while (!tc_dim_same(all, t->dim[d])) {
      if (i == v->n) return false;
      all = tc_dim_mul(v->dims, all, v->at[i].extent);
      v->at[i++].dim = d;
    }
  }
  while (i < v->n && tc_dim_is(v->at[i].extent, 1)) v->at[i++].dim = t->rank - 1;
  return i == v->n;
}

/* The spatial axis that an atom is of; -1: of none. */
static int spatial(const atom *a, const cv_conv *c) {
  const int axis = a ? a->axis - 2 - c->grouped : -1;
  return axis < c->space ? axis : -1;
}

static bool unfolded(view *v, const tc_node *n, cv_conv *c) {
  const int rank = n->type.rank - 1, dim = dc_axis(n, "axis", rank);
  atom *a = only(v, dim);
  const int axis = a && !a->window ? spatial(a, c) : -1;
  if (axis < 0 || v->n == ATOMS || c->windows[axis] || !tc_dim_is(c->step[axis], 1)) return false;
  c->windows[axis] = true;
  c->size[axis] = tc_attr_int(n, "size");
  c->step[axis] = tc_attr_int(n, "step");
  a->extent = c->out[axis] = n->type.dim[dim];
  v->at[v->n++] = (atom){rank, a->axis, true, c->size[axis]};
  return true;
}

/* Every so many elements of a window; of an axis, they are windows of one element. */
static bool sliced(view *v, const tc_node *n, cv_conv *c) {
  const int dim = dc_axis(n, "axis", n->type.rank);
  const tc_dim step = tc_attr_int(n, "step"), size = n->type.dim[dim], one = tc_dim_const(1);
  atom *a = only(v, dim);
  const int axis = spatial(a, c);
  if (axis < 0 || !tc_dim_is(tc_attr_int(n, "start"), 0)) return false;
  if (!tc_dim_is_const(step) || tc_dim_value(step) < 1) return false;
  tc_dim *apart = a->window ? &c->dilation[axis] : &c->step[axis];
  if (!tc_dim_is(*apart, 1) || (!a->window && c->windows[axis])) return false;
  const tc_dim end =
      tc_dim_add(v->dims, tc_dim_mul(v->dims, tc_dim_sub(v->dims, size, one), step), one);
  if (a->window && !tc_dim_same(end, a->extent)) return false; /* windows end with what is read */
  *apart = step;
  *(a->window ? &c->size[axis] : &c->out[axis]) = a->extent = size;
  return true;
}

static bool shown(view *v, const tc_node *n, cv_conv *c) {
  switch (n->op) {
  case OP_PERMUTE:
    permuted(v, n);
    return true;
  case OP_RESHAPE:
    return reshaped(v, &n->type);
  case OP_UNFOLD:
    return unfolded(v, n, c);
  case OP_SLICE:
    return sliced(v, n, c);
  default:
    return false;
  }
}

/* From r down: chain[0 .. *n) are views, the last of them an unfold, and what it is of is returned;
 * or what has its channels last already.  0: there is neither. */
static tc_ref find_chain(const tc_rewrite *w, tc_ref r, tc_ref *chain, int *n) {
  tc_ref found = {0};
  for (int i = 0; i < ATOMS; i++) {
    const tc_node *v = tc_rewrite_node(w, r);
    if (cv_shown_last(w->g, w->map[r.id]).id) {
      *n = i;
      return r;
    }
    if (v->op != OP_PERMUTE && v->op != OP_RESHAPE && v->op != OP_UNFOLD && v->op != OP_SLICE)
      break;
    chain[i] = r;
    r = v->in[0];
    if (v->op == OP_UNFOLD) *n = i + 1, found = r;
  }
  return found;
}

/* The image [N, G, C / G, D1 ..] is one [N, C, D1 ..] whose channels were taken apart. */
static bool is_grouped(const tc_type *whole, const tc_type *t) {
  bool same = t->rank == whole->rank + 1 && tc_dim_same(whole->dim[0], t->dim[0]);
  for (int i = 2; same && i < whole->rank; i++) same = tc_dim_same(whole->dim[i], t->dim[i + 1]);
  return same;
}

/* Zeros around the spatial axes of [N, C, D1 ..]. */
static void find_padding(const tc_rewrite *w, cv_conv *c) {
  const tc_node *pad = tc_rewrite_node(w, c->image);
  const tc_dim *before, *after;
  for (int i = 0; i < CV_SPACE; i++) c->before[i] = c->after[i] = tc_dim_const(0);
  if (pad->op != OP_PAD || !tc_is_value(w->old, pad->in[1], 0)) return;
  tc_attr_list(pad, "before", &before);
  tc_attr_list(pad, "after", &after);
  for (int i = 0; i < 2; i++)
    if (!tc_dim_is(before[i], 0) || !tc_dim_is(after[i], 0)) return;
  for (int i = 0; i < c->space; i++) c->before[i] = before[i + 2], c->after[i] = after[i + 2];
  c->image = pad->in[0];
}

/* What windows are of: zeros around an image, with its channels in groups. */
static bool find_image(const tc_rewrite *w, tc_ref of, cv_conv *c) {
  const tc_node *n = tc_rewrite_node(w, of);
  c->image = of;
  c->grouped = n->op == OP_RESHAPE && is_grouped(tc_graph_type(w->old, n->in[0]), &n->type);
  if (c->grouped) c->image = n->in[0];
  c->groups = c->grouped ? n->type.dim[1] : tc_dim_const(1);
  c->channels = n->type.dim[1 + c->grouped];
  c->space = n->type.rank - 2 - c->grouped;
  if (c->space < 1 || c->space > CV_SPACE) return false;
  for (int i = 0; i < CV_SPACE; i++) c->size[i] = c->step[i] = c->dilation[i] = tc_dim_const(1);
  for (int i = 0; i < c->space; i++) c->out[i] = n->type.dim[2 + c->grouped + i];
  find_padding(w, c);
  return true;
}

static bool is_atom(const view *v, int i, int dim, int axis, bool window) {
  return i < v->n && v->at[i].dim == dim && v->at[i].axis == axis && v->at[i].window == window;
}

/* Do the last two dimensions run over channels and windows, and over the points, and those before
 * over images and groups? */
static bool is_matrix(const view *v, const cv_conv *c) {
  const int rows = 1 + c->grouped, first = rows + 1; /* dimension of k; spatial axis of the image */
  int n = 0;
  bool same = true;
  for (; n <= rows; n++) same = same && is_atom(v, n, n, n, false);
  for (int i = 0; i < c->space; i++)
    same = same && (!c->windows[i] || is_atom(v, n++, rows, first + i, true));
  for (int i = 0; i < c->space; i++) same = same && is_atom(v, n++, rows + 1, first + i, false);
  return same && n == v->n;
}

bool cv_find_windows(const tc_rewrite *w, tc_ref r, cv_conv *c) {
  tc_ref chain[ATOMS];
  view v;
  int count = 0;
  const tc_ref of = find_chain(w, r, chain, &count);
  *c = (cv_conv){0};
  if (!of.id || !find_image(w, of, c)) return false;
  open_view(&v, tc_graph_dims(w->old), tc_graph_type(w->old, of));
  for (int i = count; i-- > 0;)
    if (!shown(&v, tc_rewrite_node(w, chain[i]), c)) return false;
  c->points = tc_dim_const(1);
  for (int i = 0; i < c->space; i++) c->points = tc_dim_mul(v.dims, c->points, c->out[i]);
  return is_matrix(&v, c);
}
