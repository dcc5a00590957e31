/* folded_windows.c - sums of a product's elements by position in windows are a product of windows.
 *
 *   y[c,i] = sum over r of (sum over o of A[(c,r),o] B[o,i-r])  =  sum over (o,r) of A[(c,r),o] B'[o,i-r]
 *
 * with B' zero beside B: for several axes at once, the gradient of a convolution's image as the
 * convolution of the result's with the weight turned round, of which no array has each element as
 * often as a window has positions (the transposed convolution in Dumoulin and Visin, A guide to
 * convolution arithmetic for deep learning, 2016, section 4).  Windows that lie one apart; for
 * targets whose products read windows in place (product_parts). */
#include "graph/decomp/decomp.h"
#include "graph/passes/pattern.h"
#include "graph/passes/rewrite.h"
#include "lower/lowering.h"

#include <string.h>

enum {
  MOST_STEPS = 16,
  MOST_WINDOW = 16,
  MOST_FACTORS = 2 * TC_MAX_RANK,
  NO_AXIS = -1,
  NO_FACTOR = -1
};

/* ---- sums by position ------------------------------------------------------------------------ */

/* y[.., i, ..] = sum over r of x[.., i - r, .., r]: `axis` is that of i, r is the last axis of x,
 * of `size` points. */
typedef struct fold {
  tc_ref x;
  int axis;
  int64_t size;
} fold;

/* Is r x[.., position, ..] among zeros, `position` behind the beginning of the axis and `left` in
 * front of its end? */
static bool is_placed(const tc_rewrite *w, tc_ref r, fold *f, int64_t position, int64_t left) {
  const tc_node *pad = tc_rewrite_node(w, r);
  const tc_dim *before, *after;
  if (pad->op != OP_PAD || !tc_is_value(w->old, pad->in[1], 0)) return false;
  const tc_node *row = tc_rewrite_node(w, pad->in[0]);
  if (row->op != OP_RESHAPE) return false;
  const tc_node *slice = tc_rewrite_node(w, row->in[0]);
  const int rank = pad->type.rank;
  if (slice->op != OP_SLICE || slice->type.rank != rank + 1 ||
      dc_axis(slice, "axis", rank + 1) != rank)
    return false;
  if (!tc_dim_is(tc_attr_int(slice, "start"), position) || !tc_dim_is(slice->type.dim[rank], 1))
    return false;
  if (tc_attr_list(pad, "before", &before) != rank || tc_attr_list(pad, "after", &after) != rank)
    return false;
  for (int i = 0; i < rank; i++) {
    if (!tc_dim_same(row->type.dim[i], slice->type.dim[i])) return false;
    if (i == f->axis || (tc_dim_is(before[i], 0) && tc_dim_is(after[i], 0))) continue;
    if (f->axis != NO_AXIS) return false;
    f->axis = i;
  }
  if (f->axis == NO_AXIS || !tc_dim_is(before[f->axis], position) ||
      !tc_dim_is(after[f->axis], left))
    return false;
  if (f->x.id && f->x.id != slice->in[0].id) return false;
  f->x = slice->in[0];
  return true;
}

/* The sum of all positions, added one after the other. */
static bool find_fold(const tc_rewrite *w, tc_ref r, fold *f) {
  tc_ref part[MOST_WINDOW];
  int n = 0;
  for (; tc_rewrite_node(w, r)->op == OP_ADD && n < MOST_WINDOW - 1;
       r = tc_rewrite_node(w, r)->in[0])
    part[n++] = tc_rewrite_node(w, r)->in[1];
  part[n++] = r;
  *f = (fold){.axis = NO_AXIS, .size = n};
  if (n < 2) return false;
  for (int i = 0; i < n; i++)
    if (!is_placed(w, part[n - 1 - i], f, i, n - 1 - i)) return false;
  const tc_type *t = tc_graph_type(w->old, f->x);
  return tc_dim_is(t->dim[t->rank - 1], n) && w->uses[f->x.id] == (uint32_t)n;
}

/* ---- from the sums to the product ------------------------------------------------------------ */

typedef enum side { BATCHES, ROWS, COLUMNS } side;

/* A factor of an axis of the product. */
typedef struct factor {
  side of;
  tc_dim size;
  int next; /* the factor behind it of the same axis, or NO_FACTOR */
  /* of columns that were folded: the factor of rows that is the positions; else NO_FACTOR */
  int window;
  tc_dim from, to;  /* what is wanted of it, or of the sums */
  bool is_position; /* of rows: in windows */
  bool is_there;    /* in the result; else it has one point or is a position */
} factor;

/* A value behind the product: the factors of each axis, the outermost first. */
typedef struct layout {
  const tc_node *product;
  factor factor[MOST_FACTORS]; /* those of the product's axes come first */
  int nfactor, rank, count[TC_MAX_RANK], at[TC_MAX_RANK][MOST_FACTORS];
} layout;

static void start_layout(layout *l, const tc_node *product) {
  memset(l, 0, sizeof *l);
  l->product = product;
  l->nfactor = l->rank = product->type.rank;
  for (int i = 0; i < l->rank; i++) {
    const tc_dim size = product->type.dim[i];
    const side of = i < l->rank - 2 ? BATCHES : i == l->rank - 2 ? ROWS : COLUMNS;
    l->factor[i] = (factor){of, size, NO_FACTOR, NO_FACTOR, tc_dim_const(0), size, false, false};
    l->at[i][l->count[i]++] = i;
  }
}

static tc_dim length_of(tc_dims *d, const factor *f) { return tc_dim_sub(d, f->to, f->from); }

static bool divides(tc_dims *d, tc_dim size, tc_dim by) {
  return tc_dim_same(tc_dim_mul(d, tc_dim_div(d, size, by), by), size);
}

/* Factor i becomes one of `size` and what is behind it, whose number is returned, or NO_FACTOR. */
static int split_factor(tc_dims *d, layout *l, int i, tc_dim size) {
  factor *f = &l->factor[i];
  const int rest = l->nfactor;
  if (f->window != NO_FACTOR || !divides(d, f->size, size) || rest == MOST_FACTORS)
    return NO_FACTOR;
  const tc_dim left = tc_dim_div(d, f->size, size);
  l->factor[l->nfactor++] =
      (factor){f->of, left, f->next, NO_FACTOR, tc_dim_const(0), left, false, false};
  f->size = f->to = size;
  f->next = rest;
  return rest;
}

/* Factors in row-major order, of which those in front of `next` are part of an axis already. */
typedef struct queue {
  int factor[MOST_FACTORS], n, next;
} queue;

/* Takes factors off the queue until they are an axis of this size. */
static bool fill_axis(tc_dims *d, layout *l, int axis, tc_dim size, queue *q) {
  l->count[axis] = 0;
  for (tc_dim left = size; !tc_dim_is(left, 1);) {
    if (q->next == q->n) return false;
    const int i = q->factor[q->next];
    if (divides(d, left, length_of(d, &l->factor[i]))) ++q->next;
    else if ((q->factor[q->next] = split_factor(d, l, i, left)) == NO_FACTOR) return false;
    l->at[axis][l->count[axis]++] = i;
    left = tc_dim_div(d, left, length_of(d, &l->factor[i]));
  }
  return true;
}

/* All factors but those of one point, in row-major order, are those of axes of these sizes. */
static bool reshape_layout(tc_dims *d, layout *l, const tc_type *t) {
  queue q = {0};
  for (int i = 0; i < l->rank; i++)
    for (int k = 0; k < l->count[i]; k++)
      if (!tc_dim_is(length_of(d, &l->factor[l->at[i][k]]), 1)) q.factor[q.n++] = l->at[i][k];
  l->rank = t->rank;
  for (int i = 0; i < t->rank; i++)
    if (!fill_axis(d, l, i, t->dim[i], &q)) return false;
  return q.next == q.n;
}

static void permute_layout(layout *l, const tc_node *n) {
  const layout old = *l;
  const tc_dim *axes;
  tc_attr_list(n, "axes", &axes);
  for (int i = 0; i < l->rank; i++) {
    const int64_t from = tc_dim_value(axes[i]);
    l->count[i] = old.count[from];
    memcpy(l->at[i], old.at[from], sizeof old.at[from]);
  }
}

/* The last axis is positions along another: a factor of rows, and one of columns. */
static bool fold_layout(tc_dims *d, layout *l, const fold *f) {
  const int last = l->rank - 1;
  if (l->count[f->axis] != 1 || l->count[last] != 1) return false;
  factor *columns = &l->factor[l->at[f->axis][0]], *rows = &l->factor[l->at[last][0]];
  if (columns->of != COLUMNS || columns->window != NO_FACTOR || rows->of != ROWS) return false;
  columns->window = l->at[last][0];
  columns->to = tc_dim_add(d, columns->size, tc_dim_const(f->size - 1));
  rows->is_position = true;
  l->rank--;
  return true;
}

/* A part of a folded axis. */
static bool slice_layout(tc_dims *d, layout *l, const tc_node *n) {
  const int axis = dc_axis(n, "axis", l->rank);
  if (l->count[axis] != 1 || !tc_dim_is(tc_attr_int(n, "step"), 1)) return false;
  factor *f = &l->factor[l->at[axis][0]];
  if (f->window == NO_FACTOR) return false;
  f->from = tc_dim_add(d, f->from, tc_attr_int(n, "start"));
  f->to = tc_dim_add(d, f->from, n->type.dim[axis]);
  return true;
}

/* From what r is made of to r. */
static bool follow(const tc_rewrite *w, layout *l, tc_ref r, const fold *f) {
  tc_dims *d = tc_graph_dims(w->old);
  const tc_node *n = tc_rewrite_node(w, r);
  if (f->size) return fold_layout(d, l, f);
  if (n->op == OP_RESHAPE) return reshape_layout(d, l, &n->type);
  if (n->op == OP_SLICE) return slice_layout(d, l, n);
  if (n->op == OP_PERMUTE) permute_layout(l, n);
  return true;
}

static bool is_float(const tc_node *n) { return tc_dtype_is_float((tc_dtype)n->type.dtype); }

/* What r is made of in one step, which is a fold where f->size is not 0; ref 0: it is none that can
 * be followed. */
static tc_ref step_back(const tc_rewrite *w, tc_ref r, bool folded, fold *f) {
  const tc_node *n = tc_rewrite_node(w, r);
  f->size = 0;
  if (n->op == OP_ADD) return find_fold(w, r, f) ? f->x : (tc_ref){0};
  const bool same = n->op == OP_CAST && is_float(n) && is_float(tc_rewrite_node(w, n->in[0]));
  const bool view = n->op == OP_RESHAPE || n->op == OP_PERMUTE || (n->op == OP_SLICE && !folded);
  return same || view ? n->in[0] : (tc_ref){0};
}

/* Numbers of points beside each folded factor, before and behind: as many as its windows reach
 * over. */
static bool has_room(tc_dims *d, const layout *l) {
  for (int i = 0; i < l->nfactor; i++) {
    const factor *f = &l->factor[i];
    if (f->window == NO_FACTOR) continue;
    const tc_dim reach = tc_dim_sub(d, l->factor[f->window].size, tc_dim_const(1));
    const tc_dim before = tc_dim_sub(d, reach, f->from), after = tc_dim_sub(d, f->to, f->size);
    if (!tc_dim_is_const(before) || tc_dim_value(before) < 0 || !tc_dim_is_const(after) ||
        tc_dim_value(after) < 0)
      return false;
  }
  return true;
}

/* How r comes out of sums by position of a product that nothing else reads; false: it does not. */
static bool find_layout(const tc_rewrite *w, tc_ref r, layout *l) {
  tc_ref step[MOST_STEPS];
  fold folds[MOST_STEPS];
  int n = 0, folded = 0;
  for (bool alone = true; tc_rewrite_node(w, r)->op != OP_MATMUL; n++) {
    if (n == MOST_STEPS || !alone) return false;
    step[n] = r;
    r = step_back(w, r, folded, &folds[n]);
    if (!r.id) return false;
    folded += folds[n].size != 0;
    alone = folds[n].size || w->uses[r.id] == 1;
  }
  const tc_node *product = tc_rewrite_node(w, r);
  if (!folded || !is_float(product) || w->uses[r.id] != 1) return false;
  start_layout(l, product);
  while (n-- > 0)
    if (!follow(w, l, step[n], &folds[n])) return false;
  return has_room(tc_graph_dims(w->old), l);
}

/* ---- the product of windows ------------------------------------------------------------------ */

/* Axes of a view in the making. */
typedef struct axes {
  int n, order[MOST_FACTORS];
  tc_dim dim[MOST_FACTORS];
} axes;

static tc_ref reshaped(const dc *c, tc_ref x, const axes *a) {
  return a->n <= TC_MAX_RANK ? dc_reshape(c, x, a->n, a->dim) : (tc_ref){0};
}

static tc_ref permuted(const dc *c, tc_ref x, const axes *a) {
  return x.id ? tc_build_permute(c->g, x, a->n, a->order, c->loc) : x;
}

static void add_axis(axes *a, tc_dim dim) { a->dim[a->n++] = dim; }

/* Operand x, whose matrix has the factors of axis `first` of the product and k, which comes first
 * in the right operand: an axis for each.  place[i]: of factor i; *k: of k. */
static tc_ref in_factors(const dc *c, const layout *l, tc_ref x, int first, int *place, int *k) {
  const tc_type *t = tc_graph_type(c->g, x);
  const bool right = first == l->product->type.rank - 1;
  axes a = {0};
  for (int i = 0; i < t->rank - 2; i++) add_axis(&a, t->dim[i]);
  if (right) *k = a.n, add_axis(&a, t->dim[t->rank - 2]);
  for (int i = first; i != NO_FACTOR && a.n < MOST_FACTORS - 1; i = l->factor[i].next) {
    place[i] = a.n;
    add_axis(&a, l->factor[i].size);
  }
  if (!right) *k = a.n, add_axis(&a, t->dim[t->rank - 1]);
  return reshaped(c, x, &a);
}

/* The matrix of the weight turned round: its rows are the factors that are no positions, k is in
 * front of the positions. */
static tc_ref left_of(const dc *c, const layout *l, tc_ref x) {
  tc_dims *d = tc_graph_dims(c->g);
  const tc_type *t = tc_graph_type(c->g, x);
  const int rows = l->product->type.rank - 2, columns = rows + 1, batches = t->rank - 2;
  int place[MOST_FACTORS], k = 0, turned = 0;
  tc_dim flip[MOST_FACTORS + 1], deep = t->dim[t->rank - 1], all = tc_dim_const(1);
  axes order = {0}, matrix = {0};
  const tc_ref y = in_factors(c, l, x, rows, place, &k);
  for (int i = 0; i < batches; i++) order.order[order.n++] = i, add_axis(&matrix, t->dim[i]);
  for (int i = rows; i != NO_FACTOR; i = l->factor[i].next)
    if (!l->factor[i].is_position)
      order.order[order.n++] = place[i], all = tc_dim_mul(d, all, l->factor[i].size);
  order.order[order.n++] = k;
  for (int i = columns; i != NO_FACTOR; i = l->factor[i].next) {
    const int at = l->factor[i].window;
    if (at == NO_FACTOR) continue;
    order.order[order.n++] = place[at];
    flip[1 + turned++] = tc_dim_const(place[at]);
    deep = tc_dim_mul(d, deep, l->factor[at].size);
  }
  flip[0] = tc_dim_const(turned);
  add_axis(&matrix, all);
  add_axis(&matrix, deep);
  const tc_ref flipped = y.id ? tc_build(c->g, OP_FLIP, 1, &y, turned + 1, flip, NULL, c->loc) : y;
  return reshaped(c, permuted(c, flipped, &order), &matrix);
}

/* x among zeros, as many as windows reach over beside what is wanted. */
static tc_ref padded(const dc *c, const layout *l, tc_ref x, const int *place) {
  tc_dims *d = tc_graph_dims(c->g);
  if (!x.id) return x;
  const tc_type *t = tc_graph_type(c->g, x);
  const tc_ref in[] = {x, tc_graph_const_f(c->g, (tc_dtype)t->dtype, c->weak, 0, c->loc)};
  tc_dim attr[2 * TC_MAX_RANK + 2] = {{0}}, *before = attr + 1, *after = attr + 2 + t->rank;
  attr[0] = attr[1 + t->rank] = tc_dim_const(t->rank);
  for (int i = l->product->type.rank - 1; i != NO_FACTOR; i = l->factor[i].next) {
    const factor *f = &l->factor[i];
    if (f->window == NO_FACTOR) continue;
    before[place[i]] =
        tc_dim_sub(d, tc_dim_sub(d, l->factor[f->window].size, tc_dim_const(1)), f->from);
    after[place[i]] = tc_dim_sub(d, f->to, f->size);
  }
  return tc_build(c->g, OP_PAD, 2, in, 2 * t->rank + 2, attr, NULL, c->loc);
}

/* The matrix of x's windows: k and their positions, by what is wanted of the columns. */
static tc_ref right_of(const dc *c, const layout *l, tc_ref x) {
  tc_dims *d = tc_graph_dims(c->g);
  const tc_type *t = tc_graph_type(c->g, x);
  const int columns = l->product->type.rank - 1;
  int place[MOST_FACTORS], k = 0;
  tc_dim deep = t->dim[t->rank - 2], all = tc_dim_const(1);
  axes order = {0}, matrix = {0};
  tc_ref y = padded(c, l, in_factors(c, l, x, columns, place, &k), place);
  for (int i = 0; i <= k; i++) order.order[order.n++] = i;
  for (int i = 0; i < t->rank - 2; i++) add_axis(&matrix, t->dim[i]);
  for (int i = columns; y.id && i != NO_FACTOR; i = l->factor[i].next) {
    const int at = l->factor[i].window, rank = tc_graph_type(c->g, y)->rank;
    if (at == NO_FACTOR) continue;
    if (rank == TC_MAX_RANK) return (tc_ref){0};
    const tc_dim attr[] = {tc_dim_const(place[i]), l->factor[at].size, tc_dim_const(1)};
    y = tc_build(c->g, OP_UNFOLD, 1, &y, 3, attr, NULL, c->loc);
    order.order[order.n++] = rank;
    deep = tc_dim_mul(d, deep, l->factor[at].size);
  }
  for (int i = columns; i != NO_FACTOR; i = l->factor[i].next) {
    order.order[order.n++] = place[i];
    all = tc_dim_mul(d, all, length_of(d, &l->factor[i]));
  }
  add_axis(&matrix, deep);
  add_axis(&matrix, all);
  return reshaped(c, permuted(c, y, &order), &matrix);
}

/* The product with the axes of r. */
static tc_ref laid_out(const dc *c, layout *l, tc_ref product, const tc_node *n) {
  tc_dims *d = tc_graph_dims(c->g);
  int place[MOST_FACTORS];
  axes own = {0}, order = {0};
  for (int i = 0; i < l->rank; i++)
    for (int k = 0; k < l->count[i]; k++) l->factor[l->at[i][k]].is_there = true;
  for (int axis = 0; axis < l->product->type.rank; axis++)
    for (int i = axis; i != NO_FACTOR; i = l->factor[i].next)
      if (l->factor[i].is_there) place[i] = own.n, add_axis(&own, length_of(d, &l->factor[i]));
  for (int i = 0; i < l->rank; i++)
    for (int k = 0; k < l->count[i]; k++) order.order[order.n++] = place[l->at[i][k]];
  const tc_ref y = permuted(c, reshaped(c, product, &own), &order);
  return y.id ? tc_build_cast(c->g, dc_reshape_to(c, y, n), (tc_dtype)n->type.dtype, c->loc) : y;
}

static tc_ref product_of_windows(const tc_rewrite *w, const tc_node *n, layout *l) {
  const dc c = dc_begin_choice(w->g, n);
  const tc_ref a = left_of(&c, l, w->map[l->product->in[0].id]),
               b = right_of(&c, l, w->map[l->product->in[1].id]);
  return a.id && b.id ? laid_out(&c, l, dc2(&c, OP_MATMUL, a, b), n) : (tc_ref){0};
}

/* ---- the pass -------------------------------------------------------------------------------- */

static tc_ref rewrite(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  layout l;
  const bool candidate = n->op == OP_ADD || n->op == OP_SLICE;
  const tc_ref product =
      candidate && find_layout(w, r, &l) ? product_of_windows(w, n, &l) : (tc_ref){0};
  return product.id ? product : tc_rewrite_copy(w->g, w->old, n, in);
}

tc_graph *lo_with_folds_in_products(tc_graph *g) { return tc_rewrite_where(g, OP_PAD, rewrite); }
