/* cut.c - axes of a group are cut where a view divides them.
 *
 * A reshape that merges dimensions asks for quotients and rests of an axis: heads h of repeated
 * keys k[B,H,T,D] -> [B,H,G,T,D] -> [B,H*G,T,D] are those of group h / G.  With axis h cut in two,
 * h = i * G + j, both are affine, and nothing is divided where elements are read.  Addresses that
 * step through i and j as through one axis are no reason to keep them apart: lo_coalesce merges
 * them again. */
#include "lower/lowering.h"

#include <string.h>

/* Axis `axis` becomes two, the inner one with `inner` points, next to each other. */
typedef struct cut {
  int axis;
  tc_dim inner;
} cut;

/* ---- one cut --------------------------------------------------------------------------------- */

static const lo_index *cut_index(lo *L, const lo_index *at, const cut *c);

static lo_lin cut_lin(lo *L, const lo_lin *l, const cut *c) {
  lo_lin y = *l;
  for (int a = LO_AXES - 1; a > c->axis; a--) y.coef[a] = l->coef[a - 1];
  y.coef[c->axis] = tc_dim_mul(L->dims, l->coef[c->axis], c->inner);
  for (uint64_t t = 0; t < y.nterm; t++) y.term[t].at = cut_index(L, l->term[t].at, c);
  return y;
}

static const lo_index *cut_index(lo *L, const lo_index *at, const cut *c) {
  if (!at || !(at->axes >> c->axis)) return at;
  lo_index d;
  memset(&d, 0, sizeof d);
  d.rank = at->rank;
  d.flat = at->flat;
  for (uint32_t i = 0; i < at->rank; i++) d.dim[i] = cut_lin(L, &at->dim[i], c);
  return lo_intern(L, &d);
}

/* Is it of m, n or k? */
static bool is_of_matrices(const lo_group *g, int a) {
  const lo_lin *dim = g->at->dim + g->at->rank - 2;
  return (lo_deep_axes(g) | lo_lin_axes(&dim[0]) | lo_lin_axes(&dim[1])) >> a & 1;
}

static int moved(int axis, const cut *c) { return axis > c->axis ? axis + 1 : axis; }

static void cut_axis(lo *L, lo_group *g, const cut *c) {
  const uint32_t below = (1u << c->axis) - 1;
  for (int a = g->naxis++; a > c->axis + 1; a--) g->extent[a] = g->extent[a - 1];
  g->extent[c->axis + 1] = c->inner;
  g->extent[c->axis] = tc_dim_div(L->dims, g->extent[c->axis], c->inner);
  const uint32_t from = g->sequential & ~below; /* both parts of an axis that is in it are */
  g->sequential = (g->sequential & below) | from << 1 | (from & 1u << c->axis);
  g->parts |= g->matmul.id && is_of_matrices(g, c->axis);
  if (g->nk && c->axis >= g->k && c->axis < g->k + g->nk) g->nk++;
  else g->k = moved(g->k, c);
  g->lane = moved(g->lane, c);
  g->at = cut_index(L, g->at, c);
}

/* A reduction over axis c->axis is one over both of its parts. */
static void cut_reduced(lo_reduce *r, const cut *c) {
  int n = 0, axis[TC_MAX_RANK + 1];
  for (int j = 0; j < r->naxis; j++) {
    if (r->axis[j] == c->axis) axis[n++] = c->axis;
    axis[n++] = r->axis[j] == c->axis ? c->axis + 1 : moved(r->axis[j], c);
  }
  r->naxis = n;
  memcpy(r->axis, axis, (size_t)n * sizeof *axis);
}

/* Everything else that is said in axes of g. */
static void cut_readers(lo *L, lo_group *g, const cut *c) {
  for (uint32_t i = 0; i < g->nreduce; i++) {
    lo_reduce *r = &g->reduce[i];
    r->at = cut_index(L, r->at, c);
    cut_reduced(r, c);
  }
  for (uint32_t i = 0; i < g->nstore; i++) {
    g->store[i].at = cut_index(L, g->store[i].at, c);
    g->store[i].to = cut_index(L, g->store[i].to, c);
  }
  for (lo_demand *d = g->demand; d; d = d->other) d->at = cut_index(L, d->at, c);
}

/* ---- which cuts ------------------------------------------------------------------------------ */

/* Is axis a reduced by products of a row, whose k may be several axes, alone? */
static bool is_of_dots(lo *L, const lo_group *g, int a) {
  for (uint32_t i = 0; i < g->nreduce; i++) {
    const lo_reduce *r = &g->reduce[i];
    for (int j = 0; j < r->naxis; j++)
      if (r->axis[j] == a && (lo_node(L, r->node)->op != OP_MATMUL || r->naxis == TC_MAX_RANK))
        return false;
  }
  return true;
}

/* Do neighbours lie along an axis that is not reduced, as in windows of the columns of a product of
 * a row? */
static bool has_parallel_lanes(const lo_group *g, const lo_lin *flat) {
  for (int a = 0; a < g->naxis; a++)
    if (tc_dim_is(flat->coef[a], 1)) return !(g->sequential >> a & 1);
  return false;
}

/* Does g read each element of the view for one multiplication of a product of a row?  An array of
 * them would be written in lanes as short as those that read the view. */
static bool multiplies_once(lo *L, const lo_group *g, const lo_lin *flat) {
  for (int a = 0; a < g->naxis; a++)
    if (tc_dim_is(flat->coef[a], 0) && !tc_dim_is(g->extent[a], 1)) return false;
  for (uint32_t i = 0; i < g->nreduce; i++)
    if (lo_node(L, g->reduce[i].node)->op != OP_MATMUL) return false;
  return g->nreduce > 0;
}

/* What the reader of a view wants. */
typedef struct wish {
  bool matrices; /* axes of a product's matrices may be cut */
  bool parallel; /* lanes do not run along what is reduced */
  bool once;     /* short lanes cost no more than an array would */
} wish;

/* Is it of f16 or bf16, or what widens that? */
static bool is_half(lo *L, tc_ref r) {
  const tc_node *n = lo_node(L, r);
  while (lo_class(n) == TC_CLASS_VIEW || (n->op == OP_CAST && n->type.dtype == TC_F32))
    n = lo_node(L, n->in[0]);
  return tc_dtype_is_half((tc_dtype)n->type.dtype);
}

static bool may_have_parts(lo *L, const lo_group *g) {
  const tc_node *n = lo_node(L, g->matmul);
  if (L->target->product_parts != TC_PARTS_HALVES) return L->target->product_parts != TC_PARTS_NONE;
  return is_half(L, n->in[0]) && is_half(L, n->in[1]);
}

/* May axis a of g have an inner part of this size?  Not where lanes run, or what is reduced, but by
 * a product.  Rows, columns and k of a product run over several axes then, where the target's
 * products do that. */
static bool can_cut(lo *L, const lo_group *g, int a, tc_dim inner, wish w) {
  enum { LONG = 16 };
  if ((g->closed && !g->piece) || g->serial || g->split || g->call.id || g->naxis + 2 >= LO_AXES)
    return false;
  if (a == g->lane) return false;
  if (g->sequential >> a & 1)
    return L->target->product_parts == TC_PARTS_ALL && is_of_dots(L, g, a) &&
           (w.parallel || a + 1 < g->naxis || lo_guess(L, inner) >= LONG);
  if (!g->matmul.id) return w.once || a + 2 < g->naxis || lo_guess(L, inner) >= LONG;
  if (!is_of_matrices(g, a)) return true;
  return w.matrices && may_have_parts(L, g) && g->naxis + 5 < LO_AXES;
}

/* The axis along which `l` steps over a multiple of `by` in its middle. */
static bool find_cut(lo *L, const lo_group *g, const lo_lin *l, tc_dim by, wish w, cut *c) {
  for (int a = 0; a < g->naxis; a++) {
    if (tc_dim_is(l->coef[a], 0)) continue;
    const tc_dim inner = tc_dim_div(L->dims, by, l->coef[a]);
    const tc_dim outer = tc_dim_div(L->dims, g->extent[a], inner);
    if (tc_dim_is(inner, 1) || tc_dim_is(outer, 1)) continue;
    if (!tc_dim_same(tc_dim_mul(L->dims, inner, l->coef[a]), by)) continue;
    if (!tc_dim_same(tc_dim_mul(L->dims, inner, outer), g->extent[a])) continue;
    *c = (cut){a, inner};
    return can_cut(L, g, a, inner, w);
  }
  return false;
}

/* A copy of g whose axes can be cut to see where that leads, with reductions of its own: they say
 * which axes are theirs. */
static lo_group trial_of(lo *L, const lo_group *g) {
  lo_group trial = *g;
  trial.reduce = lo_alloc(L, L->scratch, (g->nreduce + 1) * sizeof *trial.reduce);
  if (g->nreduce) memcpy(trial.reduce, g->reduce, g->nreduce * sizeof *trial.reduce);
  return trial;
}

static void cut_trial(lo *L, lo_group *trial, const cut *c) {
  cut_axis(L, trial, c);
  for (uint32_t i = 0; i < trial->nreduce; i++) cut_reduced(&trial->reduce[i], c);
}

bool lo_cut_axes(lo *L, lo_group *g, const lo_lin *flat, const tc_type *t, bool matrices) {
  cut list[TC_MAX_RANK];
  int n = 0;
  lo_group trial = trial_of(L, g);
  lo_lin left = *flat, quotient, rest;
  const wish w = {matrices, has_parallel_lanes(g, flat), multiplies_once(L, g, flat)};
  const int first = lo_first_nonunit(t);
  for (int i = t->rank - 1; i > first; i--) {
    if (tc_dim_is(t->dim[i], 1)) continue;
    while (!lo_lin_divide(L, &trial, &left, t->dim[i], &quotient, &rest)) {
      if (n == TC_MAX_RANK || !find_cut(L, &trial, &left, t->dim[i], w, &list[n])) return false;
      left = cut_lin(L, &left, &list[n]);
      cut_trial(L, &trial, &list[n++]);
    }
    left = quotient;
  }
  for (int i = 0; i < n; i++) {
    cut_axis(L, g, &list[i]);
    cut_readers(L, g, &list[i]);
  }
  return n > 0;
}
