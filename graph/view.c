/* view.c - composing and building views; see view.h. */
#include "graph/view.h"
#include "graph/passes/pattern.h"

#include <string.h>

/* ---- steps ----------------------------------------------------------------------------------- */

tc_view_step tc_view_reshape(const tc_type *to) {
  return (tc_view_step){.op = OP_RESHAPE, .to = *to};
}

static int normal_axis(tc_dim axis, int rank) {
  int64_t a = tc_dim_value(axis);
  return (int)(a < 0 ? a + rank : a);
}

/* Axes of what n shows, of which it names one: windows have one more. */
static int shown_rank(const tc_node *n) { return n->type.rank - (n->op == OP_UNFOLD); }

tc_view_step tc_view_of(const tc_node *n) {
  tc_view_step s = {.op = n->op, .to = n->type};
  const tc_dim *axes = NULL;
  if (n->op == OP_PERMUTE || n->op == OP_FLIP) s.narg = tc_attr_list(n, "axes", &axes);
  for (int i = 0; i < s.narg; i++) s.arg[i] = tc_dim_const(normal_axis(axes[i], n->type.rank));
  if (n->op == OP_SLICE || n->op == OP_UNFOLD) {
    s.narg = n->nattr;
    memcpy(s.arg, n->attr, n->nattr * sizeof *s.arg);
    s.arg[0] = tc_dim_const(normal_axis(s.arg[0], shown_rank(n)));
  }
  return s;
}

static int axis_at(const tc_view_step *s, int i) { return (int)tc_dim_value(s->arg[i]); }

bool tc_view_inverse(const tc_view_step *s, const tc_type *from, tc_view_step *out) {
  *out = *s;
  out->to = *from;
  if (s->op == OP_RESHAPE || s->op == OP_FLIP) return true;
  if (s->op != OP_PERMUTE) return false;
  for (int i = 0; i < s->narg; i++) out->arg[axis_at(s, i)] = tc_dim_const(i);
  return true;
}

bool tc_view_append(tc_view_chain *c, const tc_view_step *s) {
  const tc_view_step *last = c->n ? &c->at[c->n - 1] : NULL;
  const bool scalar = s->to.rank == 0; /* what it was before decides; see apply_reshape */
  if (last && last->op == OP_RESHAPE && s->op == OP_RESHAPE && !scalar) c->n--;
  if (c->n == TC_VIEW_CHAIN) return false;
  c->at[c->n++] = *s;
  return true;
}

/* ---- moving a step to an operand that broadcasts --------------------------------------------- */

/* Product of dim[from .. to) */
static tc_dim product(tc_dims *dims, const tc_dim *dim, int from, int to) {
  tc_dim p = tc_dim_const(1);
  for (int i = from; i < to; i++) p = tc_dim_mul(dims, p, dim[i]);
  return p;
}

bool tc_view_has_group(const tc_type *a, const tc_type *b, const tc_view_group *g) {
  return g->i_end < a->rank || g->j_end < b->rank;
}

bool tc_view_next_group(tc_dims *dims, const tc_type *a, const tc_type *b, tc_view_group *g) {
  const int i = g->i_end, j = g->j_end;
  *g = (tc_view_group){i, i + 1, j, j + 1};
  if (i < a->rank && j < b->rank && tc_dim_same(a->dim[i], b->dim[j])) return true;
  for (int sum = 1; sum <= a->rank - i + b->rank - j; sum++)
    for (g->i_end = i; g->i_end <= a->rank && g->i_end - i <= sum; ++g->i_end) {
      g->j_end = j + sum - (g->i_end - i);
      if (g->j_end > b->rank) continue;
      if (tc_dim_same(product(dims, a->dim, i, g->i_end), product(dims, b->dim, j, g->j_end)))
        return true;
    }
  /* As many elements: what is left is as many, though nothing else says so (3*C and 3, heads,
   * width). */
  *g = (tc_view_group){i, a->rank, j, b->rank};
  return !tc_dim_known_ne(dims, product(dims, a->dim, i, a->rank),
                          product(dims, b->dim, j, b->rank));
}

static bool all_same(const tc_dim *a, const tc_dim *b, int from, int to) {
  for (int i = from; i < to; i++)
    if (!tc_dim_same(a[i], b[i])) return false;
  return true;
}

static bool all_ones(const tc_dim *a, int from, int to) {
  for (int i = from; i < to; i++)
    if (!tc_dim_is(a[i], 1)) return false;
  return true;
}

/* `part` with axes of size 1 in front, up to `rank` */
static tc_type padded(const tc_type *part, int rank) {
  tc_type t = *part;
  int added = rank - part->rank;
  t.rank = (uint8_t)rank;
  for (int i = 0; i < rank; i++) t.dim[i] = i < added ? tc_dim_const(1) : part->dim[i - added];
  return t;
}

static void trim(tc_type *t, const tc_type *whole) {
  int ones = 0;
  while (ones + 1 < t->rank && tc_dim_is(t->dim[ones], 1) && !tc_dim_is(whole->dim[ones], 1))
    ones++;
  t->rank = (uint8_t)(t->rank - ones);
  memmove(t->dim, t->dim + ones, t->rank * sizeof *t->dim);
}

/* The reshape splits into groups of axes with equal products; in each the operand must have all of
 * the group or, broadcasting, nothing of it. */
static bool adjust_reshape(tc_dims *dims, const tc_view_step *s, const tc_type *whole,
                           tc_type *part, tc_view_chain *c) {
  tc_type from = padded(part, whole->rank), to = s->to;
  to.dtype = part->dtype;
  for (tc_view_group g = {0}; tc_view_has_group(whole, &s->to, &g);) {
    if (!tc_view_next_group(dims, whole, &s->to, &g)) return false;
    if (all_same(from.dim, whole->dim, g.i, g.i_end)) continue;
    if (!all_ones(from.dim, g.i, g.i_end)) return false;
    for (int k = g.j; k < g.j_end; k++) to.dim[k] = tc_dim_const(1);
  }
  if (to.rank == 0) return false; /* rank 0 promotes otherwise */
  trim(&to, &s->to);
  if (tc_same_shape(&to, part)) return true;
  *part = to;
  tc_view_step r = tc_view_reshape(&to);
  return tc_view_append(c, &r);
}

static bool adjust_permute(const tc_view_step *s, const tc_type *whole, tc_type *part,
                           tc_view_chain *c) {
  tc_type from = padded(part, whole->rank);
  if (part->rank < whole->rank) {
    tc_view_step pad = tc_view_reshape(&from);
    if (!tc_view_append(c, &pad)) return false;
  }
  tc_view_step p = *s;
  p.to.dtype = part->dtype;
  for (int i = 0; i < p.to.rank; i++) p.to.dim[i] = from.dim[axis_at(s, i)];
  *part = p.to;
  return tc_view_append(c, &p);
}

static bool adjust_flip(const tc_view_step *s, const tc_type *whole, tc_type *part,
                        tc_view_chain *c) {
  tc_view_step f = {.op = OP_FLIP, .to = *part};
  int missing = whole->rank - part->rank;
  for (int i = 0; i < s->narg; i++) {
    int axis = axis_at(s, i) - missing;
    if (axis >= 0 && !tc_dim_is(part->dim[axis], 1)) f.arg[f.narg++] = tc_dim_const(axis);
  }
  return f.narg == 0 || tc_view_append(c, &f);
}

static bool adjust_slice(const tc_view_step *s, const tc_type *whole, tc_type *part,
                         tc_view_chain *c) {
  int axis = axis_at(s, 0), mine = axis - (whole->rank - part->rank);
  if (tc_dim_is(whole->dim[axis], 1)) return tc_dim_is(s->to.dim[axis], 1);
  if (mine < 0 || tc_dim_is(part->dim[mine], 1)) return true;
  tc_view_step t = *s;
  t.arg[0] = tc_dim_const(mine);
  t.to = *part;
  t.to.dim[mine] = s->to.dim[axis];
  *part = t.to;
  return tc_view_append(c, &t);
}

bool tc_view_adjust(tc_dims *dims, const tc_view_step *s, const tc_type *whole, tc_type *part,
                    tc_view_chain *c) {
  if (part->rank == 0) return s->to.rank > 0 || whole->rank == 0;
  switch (s->op) {
  case OP_RESHAPE:
    return adjust_reshape(dims, s, whole, part, c);
  case OP_PERMUTE:
    return adjust_permute(s, whole, part, c);
  case OP_FLIP:
    return adjust_flip(s, whole, part, c);
  case OP_SLICE:
    return adjust_slice(s, whole, part, c);
  default:
    return false;
  }
}

/* ---- building -------------------------------------------------------------------------------- */

static tc_ref build(tc_graph *g, tc_ref x, tc_op op, int nattr, const tc_dim *attr, tc_loc loc) {
  return tc_build(g, op, 1, &x, nattr, attr, NULL, loc);
}

/* Is x a C scalar seen as an array?  As rank 0 again it is none. */
static bool hardens(const tc_graph *g, const tc_node *x) {
  return !x->type.weak && tc_graph_type(g, x->in[0])->weak;
}

static tc_ref apply_reshape(tc_graph *g, tc_ref x, const tc_view_step *s, tc_loc loc) {
  for (const tc_node *n; (n = tc_graph_node(g, x))->op == OP_RESHAPE; x = n->in[0])
    if (s->to.rank == 0 && hardens(g, n)) break;
  if (tc_same_shape(tc_graph_type(g, x), &s->to)) return x;
  return tc_build_reshape(g, x, s->to.rank, s->to.dim, loc);
}

/* Do the axes of size other than 1 keep their order?  Then the permutation is a reshape. */
static bool keeps_order(const tc_type *from, const int *axes, int rank) {
  int last = -1;
  for (int i = 0; i < rank; i++) {
    if (tc_dim_is(from->dim[axes[i]], 1)) continue;
    if (axes[i] < last) return false;
    last = axes[i];
  }
  return true;
}

static tc_ref apply_permute(tc_graph *g, tc_ref x, const tc_view_step *s, tc_loc loc) {
  int axes[TC_MAX_RANK], rank = s->narg;
  for (int i = 0; i < rank; i++) axes[i] = axis_at(s, i);
  if (tc_graph_node(g, x)->op == OP_PERMUTE) {
    tc_view_step inner = tc_view_of(tc_graph_node(g, x));
    for (int i = 0; i < rank; i++) axes[i] = axis_at(&inner, axes[i]);
    x = tc_graph_node(g, x)->in[0];
  }
  if (keeps_order(tc_graph_type(g, x), axes, rank)) {
    tc_view_step r = tc_view_reshape(&s->to);
    return apply_reshape(g, x, &r, loc);
  }
  return tc_build_permute(g, x, rank, axes, loc);
}

static tc_ref apply_expand(tc_graph *g, tc_ref x, const tc_view_step *s, tc_loc loc) {
  while (tc_graph_node(g, x)->op == OP_EXPAND) x = tc_graph_node(g, x)->in[0];
  if (tc_same_shape(tc_graph_type(g, x), &s->to)) return x;
  return tc_build_expand(g, x, s->to.rank, s->to.dim, loc);
}

static tc_ref apply_flip(tc_graph *g, tc_ref x, const tc_view_step *s, tc_loc loc) {
  bool flipped[TC_MAX_RANK] = {false};
  for (int i = 0; i < s->narg; i++) flipped[axis_at(s, i)] ^= true;
  if (tc_graph_node(g, x)->op == OP_FLIP) {
    tc_view_step inner = tc_view_of(tc_graph_node(g, x));
    for (int i = 0; i < inner.narg; i++) flipped[axis_at(&inner, i)] ^= true;
    x = tc_graph_node(g, x)->in[0];
  }
  tc_dim attr[TC_MAX_RANK + 1] = {{0}};
  int n = 0;
  for (int i = 0; i < s->to.rank; i++)
    if (flipped[i] && !tc_dim_is(s->to.dim[i], 1)) attr[++n] = tc_dim_const(i);
  attr[0] = tc_dim_const(n);
  return n ? build(g, x, OP_FLIP, n + 1, attr, loc) : x;
}

static bool is_const_slice(const tc_view_step *s) {
  for (int i = 1; i < 4; i++)
    if (!tc_dim_is_const(s->arg[i])) return false;
  return tc_dim_is_const(s->to.dim[axis_at(s, 0)]);
}

/* x[a:b:s][c:d:t] = x[a + c s : a + c s + (count - 1) s t + 1 : s t], all known and not empty */
static bool compose_slices(const tc_view_step *inner, const tc_view_step *outer, tc_view_step *y) {
  int axis = axis_at(outer, 0);
  if (axis != axis_at(inner, 0) || !is_const_slice(inner) || !is_const_slice(outer)) return false;
  int64_t count = tc_dim_value(outer->to.dim[axis]);
  if (count < 1 || tc_dim_value(inner->arg[1]) < 0 || tc_dim_value(outer->arg[1]) < 0) return false;
  int64_t s = tc_dim_value(inner->arg[3]), t = tc_dim_value(outer->arg[3]);
  int64_t start = tc_dim_value(inner->arg[1]) + tc_dim_value(outer->arg[1]) * s;
  if (s < 1 || t < 1) return false;
  *y = *outer;
  y->arg[1] = tc_dim_const(start);
  y->arg[2] = tc_dim_const(start + (count - 1) * s * t + 1);
  y->arg[3] = tc_dim_const(s * t);
  return true;
}

static tc_ref apply_slice(tc_graph *g, tc_ref x, const tc_view_step *s, tc_loc loc) {
  tc_view_step composed = *s;
  if (tc_graph_node(g, x)->op == OP_SLICE) {
    tc_view_step inner = tc_view_of(tc_graph_node(g, x));
    if (compose_slices(&inner, s, &composed)) x = tc_graph_node(g, x)->in[0];
  }
  /* A slice with a positive step that keeps the size keeps everything. */
  bool forward = tc_dim_is_const(composed.arg[3]) && tc_dim_value(composed.arg[3]) > 0;
  if (forward && tc_same_shape(tc_graph_type(g, x), &s->to)) return x;
  return build(g, x, OP_SLICE, 4, composed.arg, loc);
}

tc_ref tc_view_apply(tc_graph *g, tc_ref x, const tc_view_step *s, tc_loc loc) {
  if (!x.id) return x;
  switch (s->op) {
  case OP_RESHAPE:
    return apply_reshape(g, x, s, loc);
  case OP_PERMUTE:
    return apply_permute(g, x, s, loc);
  case OP_EXPAND:
    return apply_expand(g, x, s, loc);
  case OP_FLIP:
    return apply_flip(g, x, s, loc);
  case OP_UNFOLD:
    return build(g, x, OP_UNFOLD, s->narg, s->arg, loc);
  default:
    return apply_slice(g, x, s, loc);
  }
}

tc_ref tc_view_apply_all(tc_graph *g, tc_ref x, const tc_view_chain *c, tc_loc loc) {
  for (int i = 0; c && i < c->n; i++) x = tc_view_apply(g, x, &c->at[i], loc);
  return x;
}
