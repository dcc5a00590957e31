/* windows.c - windows of an array (unfold) that are read once for each result, instead of arrays of
 * what is in them.
 *
 *   max over l of (max over m of x[2 j + l, 2 k + m])          one reduction over both: there is no array of row maxima
 *   w[1, K] times x'[K, H W], x' of windows, one row a group   sum over (r, s) of w[r, s] x[j + r, k + s]: a depthwise
 *                                                              convolution, whose windows as a matrix are an array of
 *                                                              K times as many elements as x
 *
 * Both read x more often, from caches, and compute no more: of maxima a few more comparisons.  The
 * first is for machines with more arithmetic than bandwidth, the second for all that read windows
 * without an array of them.  Others have rows reduced before what is in a row:
 *
 *   max over l of (max over m of x[2 j + l, 2 k + m])          max over m of (max over l of ..): elements that are two apart
 *                                                              are gathered for half as many rows */
#include "graph/decomp/decomp.h"
#include "graph/passes/pass.h"
#include "graph/passes/rewrite.h"
#include "lower/lowering.h"

enum { FEW = 64 /* elements of a window */ };

static bool is_few(tc_dim d) { return tc_dim_is_const(d) && tc_dim_value(d) <= FEW; }

/* ---- reductions of reductions ---------------------------------------------------------------- */

/* Over windows along one axis, the last of the operand; without it in the result. */
static bool reduces_windows(const tc_rewrite *w, const tc_node *n) {
  if (n->op != OP_AMAX && n->op != OP_AMIN && n->op != OP_SUM) return false;
  const tc_node *x = tc_rewrite_node(w, n->in[0]);
  const int rank = x->type.rank;
  const dc_axes axes = dc_reduced(n, rank);
  return x->op == OP_UNFOLD && axes.n == 1 && axes.at[0] == rank - 1 && n->type.rank == rank - 1;
}

/* n and the reduction that it is of, over windows along another axis; nothing else reads that
 * one. */
static const tc_node *reduction_inside(const tc_rewrite *w, const tc_node *n) {
  if (!reduces_windows(w, n)) return NULL;
  const tc_node *outer = tc_rewrite_node(w, n->in[0]), *inside = tc_rewrite_node(w, outer->in[0]);
  if (inside->op != n->op || !reduces_windows(w, inside)) return NULL;
  if (inside->type.dtype != n->type.dtype || w->uses[n->in[0].id] != 1 ||
      w->uses[outer->in[0].id] != 1)
    return NULL;
  const tc_node *inner = tc_rewrite_node(w, inside->in[0]);
  const int rank = inside->type.rank;
  if (dc_axis(outer, "axis", rank) == dc_axis(inner, "axis", rank)) return NULL;
  const tc_dim points =
      tc_dim_mul(tc_graph_dims(w->old), tc_attr_int(outer, "size"), tc_attr_int(inner, "size"));
  return is_few(points) ? inside : NULL;
}

static tc_ref unfolded(const dc *c, const tc_node *unfold, int rank, tc_ref x) {
  const tc_dim attr[] = {tc_dim_const(dc_axis(unfold, "axis", rank)), tc_attr_int(unfold, "size"),
                         tc_attr_int(unfold, "step")};
  return tc_build(c->g, OP_UNFOLD, 1, &x, 3, attr, NULL, c->loc);
}

static tc_ref reduced_at_once(const tc_rewrite *w, const tc_node *n, const tc_node *inside) {
  const dc c = dc_begin_choice(w->g, n);
  const tc_node *outer = tc_rewrite_node(w, n->in[0]), *inner = tc_rewrite_node(w, inside->in[0]);
  const int rank = inside->type.rank;
  const tc_ref rows = unfolded(&c, outer, rank, w->map[inner->in[0].id]),
               both = unfolded(&c, inner, rank, rows);
  const dc_axes axes = dc_last(2, rank + 2);
  return dc_reduce(&c, n->op, both, &axes, false);
}

/* A step of elements in a row costs more than one of rows: what it costs, in loads of neighbours. */
enum { GATHERED = 3 };

/* Are windows along the last axis, which come first, better reduced after those of `outer`? */
static bool has_rows_to_reduce(const tc_node *outer, const tc_node *inner, int rank) {
  const tc_dim size = tc_attr_int(inner, "size"), step = tc_attr_int(inner, "step"), rows = tc_attr_int(outer, "size"),
               down = tc_attr_int(outer, "step");
  if (dc_axis(inner, "axis", rank) != rank - 1 || !tc_dim_is_const(size) || !tc_dim_is_const(step) ||
      !tc_dim_is_const(rows) || !tc_dim_is_const(down))
    return false;
  /* Loads for each result. */
  const int64_t in_row = tc_dim_value(size) * (tc_dim_value(step) > 1 ? GATHERED : 1), of_rows = tc_dim_value(rows);
  return of_rows * tc_dim_value(step) + in_row < in_row * tc_dim_value(down) + of_rows;
}

/* Sums are other ones in another order. */
static const tc_node *maxima_of_rows(const tc_rewrite *w, const tc_node *n) {
  const tc_node *inside = n->op == OP_SUM ? NULL : reduction_inside(w, n);
  return inside && has_rows_to_reduce(tc_rewrite_node(w, n->in[0]), tc_rewrite_node(w, inside->in[0]), n->type.rank) ? inside
                                                                                                                     : NULL;
}

static tc_ref rows_reduced_first(const tc_rewrite *w, const tc_node *n, const tc_node *inside) {
  const dc c = dc_begin_choice(w->g, n);
  const tc_node *outer = tc_rewrite_node(w, n->in[0]), *inner = tc_rewrite_node(w, inside->in[0]);
  const int rank = inside->type.rank;
  const dc_axes last = dc_last(1, rank + 1);
  const tc_ref rows = dc_reduce(&c, n->op, unfolded(&c, outer, rank, w->map[inner->in[0].id]), &last, false);
  return dc_reduce(&c, n->op, unfolded(&c, inner, rank, rows), &last, false);
}

/* ---- products of one row --------------------------------------------------------------------- */

static bool has_windows(const tc_rewrite *w, tc_ref r) {
  const tc_node *n = tc_rewrite_node(w, r);
  while (n->op != OP_UNFOLD && lo_class(n) == TC_CLASS_VIEW) n = tc_rewrite_node(w, n->in[0]);
  return n->op == OP_UNFOLD;
}

/* The right operand before it became a matrix: its batches, then the axes of k, then those of the
 * columns. */
typedef struct parts {
  tc_ref of;
  int batches, k, columns;
} parts;

/* Axes from `first` on whose sizes multiply to `size`; 0: none do. */
static int axes_of(tc_dims *c, const tc_type *t, int first, tc_dim size) {
  tc_dim all = tc_dim_const(1);
  for (int i = first; i < t->rank; i++) {
    all = tc_dim_mul(c, all, t->dim[i]);
    if (tc_dim_same(all, size)) return i + 1 - first;
  }
  return 0;
}

static bool find_parts(const tc_rewrite *w, const tc_node *n, parts *x) {
  if (n->op != OP_MATMUL || !tc_dtype_is_float((tc_dtype)n->type.dtype)) return false;
  tc_dims *c = tc_graph_dims(w->old);
  const tc_node *b = tc_rewrite_node(w, n->in[1]);
  const tc_type *a = tc_graph_type(w->old, n->in[0]), *matrix = &b->type;
  if (a->rank < 2 || matrix->rank < 2) return false;
  if (b->op != OP_RESHAPE || !tc_dim_is(a->dim[a->rank - 2], 1) || a->rank > matrix->rank ||
      w->uses[n->in[1].id] != 1)
    return false;
  *x = (parts){.of = b->in[0], .batches = matrix->rank - 2};
  const tc_type *t = tc_graph_type(w->old, x->of);
  if (!is_few(matrix->dim[x->batches]) || t->rank < x->batches + 2 || !has_windows(w, x->of))
    return false;
  for (int i = 0; i < x->batches; i++)
    if (!tc_dim_same(t->dim[i], matrix->dim[i])) return false;
  x->k = axes_of(c, t, x->batches, matrix->dim[x->batches]);
  x->columns = x->k ? axes_of(c, t, x->batches + x->k, matrix->dim[x->batches + 1]) : 0;
  return x->columns && x->batches + x->k + x->columns == t->rank;
}

static tc_ref summed(const tc_rewrite *w, const tc_node *n, const tc_ref *in, const parts *x) {
  const dc c = dc_begin(w->g, n);
  const tc_type *a = tc_graph_type(w->old, n->in[0]), *t = tc_graph_type(w->old, x->of);
  tc_dim dims[TC_MAX_RANK];
  dc_axes axes = {.n = x->k};
  int rank = 0;
  for (int i = 0; i < a->rank - 2; i++) dims[rank++] = a->dim[i];
  for (int i = 0; i < x->k; i++) {
    axes.at[i] = x->batches + i;
    dims[rank++] = t->dim[x->batches + i];
  }
  for (int i = 0; i < x->columns; i++) dims[rank++] = tc_dim_const(1);
  const tc_ref row = dc_in(&c, dc_reshape(&c, in[0], rank, dims)),
               windows = dc_in(&c, w->map[x->of.id]);
  const tc_ref sum = dc_reduce(&c, OP_SUM, dc2(&c, OP_MUL, row, windows), &axes, false);
  return dc_reshape_to(&c, dc_out(&c, n, sum), n);
}

/* ---- the passes ------------------------------------------------------------------------------ */

static tc_ref reduce_at_once(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  (void)r;
  const tc_node *inside = reduction_inside(w, n);
  return inside ? reduced_at_once(w, n, inside) : tc_rewrite_copy(w->g, w->old, n, in);
}

static tc_ref reduce_rows_first(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  const tc_node *inside = maxima_of_rows(w, n);
  (void)r;
  return inside ? rows_reduced_first(w, n, inside) : tc_rewrite_copy(w->g, w->old, n, in);
}

static tc_ref sum_products(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  parts x;
  (void)r;
  return find_parts(w, n, &x) ? summed(w, n, in, &x) : tc_rewrite_copy(w->g, w->old, n, in);
}

tc_graph *lo_with_windows_at_once(tc_graph *g) {
  return tc_rewrite_where(g, OP_UNFOLD, reduce_at_once);
}

tc_graph *lo_with_rows_reduced_first(tc_graph *g) {
  return tc_rewrite_where(g, OP_UNFOLD, reduce_rows_first);
}

/* Such sums are of the image's axes, as what reads them was, before it took over the shape of a matrix. */
tc_graph *lo_with_windows_summed(tc_graph *g) {
  tc_graph *summed = tc_rewrite_where(g, OP_UNFOLD, sum_products);
  if (!summed || summed == g) return summed;
  tc_graph *y = tc_pass_views(summed);
  if (y != summed) tc_graph_free(summed);
  return y;
}
