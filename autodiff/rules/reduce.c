/* reduce.c - reductions and scans.  x is the operand, y the result, n the number of elements
 * reduced. */
#include "autodiff/rules.h"

#include <math.h>

static dc_axes axes_of(const tc_vjp *v) { return dc_reduced(v->n, vj_type(v, 0)->rank); }

/* A value of the result's shape with its reduced axes as 1, so that it broadcasts against x. */
static tc_ref restored(const tc_vjp *v, tc_ref a) {
  const dc_axes axes = axes_of(v);
  tc_type t = *vj_type(v, 0);
  for (int i = 0; i < axes.n; i++) t.dim[axes.at[i]] = tc_dim_const(1);
  return vj_like(v, a, &t);
}

void tc_vjp_sum(tc_vjp *v) { v->din[0] = restored(v, v->dy[0]); }

static tc_ref mean_of(const tc_vjp *v, tc_ref dy) {
  const dc_axes axes = axes_of(v);
  return dc2(&v->c, OP_DIV, restored(v, dy), dc_count(&v->c, dc_numel(&v->c, v->n->in[0], &axes)));
}

void tc_vjp_mean(tc_vjp *v) { v->din[0] = mean_of(v, vj_dy(v)); }

/* 2 dy (x - mean) / (n - correction) */
static tc_ref var_of(const tc_vjp *v, tc_ref dy) {
  const dc *c = &v->c;
  const dc_axes axes = axes_of(v);
  tc_dims *dims = tc_graph_dims(c->g);
  tc_ref x = vj_in(v, 0), d = dc2(c, OP_SUB, x, dc_mean(c, x, &axes, true));
  tc_dim n = tc_dim_sub(dims, dc_numel(c, x, &axes), tc_attr_int(v->n, "correction"));
  tc_ref count = dc_count(c, tc_dim_max(dims, n, tc_dim_const(0)));
  tc_ref twice = dc2(c, OP_MUL, restored(v, dy), dc_const(c, 2));
  return dc2(c, OP_MUL, dc2(c, OP_DIV, twice, count), d);
}

void tc_vjp_var(tc_vjp *v) { v->din[0] = var_of(v, vj_dy(v)); }

/* d sqrt(w) = dw / (2 sqrt(w)); 0 where all elements are equal */
void tc_vjp_std(tc_vjp *v) {
  const dc *c = &v->c;
  tc_ref y = vj_self(v), none = dc2(c, OP_EQ, y, dc_const(c, 0));
  tc_ref safe = dc3(c, OP_WHERE, none, dc_const(c, 1), y);
  tc_ref half = dc2(c, OP_MUL, vj_dy(v), dc_const(c, 0.5));
  v->din[0] = var_of(v, dc3(c, OP_WHERE, none, dc_const(c, 0), dc2(c, OP_DIV, half, safe)));
}

void tc_vjp_var_mean(tc_vjp *v) {
  tc_ref var = v->dy[0].id ? var_of(v, dc_in(&v->c, v->dy[0])) : (tc_ref){0};
  tc_ref mean = v->dy[1].id ? mean_of(v, dc_in(&v->c, v->dy[1])) : (tc_ref){0};
  v->din[0] = !var.id ? mean : !mean.id ? var : dc2(&v->c, OP_ADD, var, mean);
}

/* dy exp(x - m) / sum exp(x - m), with m as tc_decomp_logsumexp has it: exp(x - y) would be off by
 * what y was rounded by, which is much where |y| is large.  m is a constant, for it cancels.  All x
 * = -inf: 0. */
void tc_vjp_logsumexp(tc_vjp *v) {
  const dc *c = &v->c;
  const dc_axes axes = axes_of(v);
  tc_ref x = vj_in(v, 0), dy = restored(v, vj_dy(v));
  v->din[0] = dy;
  if (dc_empty(c, v->n->in[0], &axes)) return;
  tc_ref max = dc_reduce(c, OP_AMAX, x, &axes, true);
  tc_ref m = dc3(c, OP_WHERE, dc1(c, OP_ISFINITE, max), max, dc_const(c, 0));
  tc_ref e = dc1(c, OP_EXP, dc2(c, OP_SUB, x, dc1(c, OP_DETACH, m)));
  tc_ref sum = vj_sum(v, e, &axes), none = dc2(c, OP_EQ, sum, dc_const(c, 0));
  tc_ref share = dc1(c, OP_RECIPROCAL, dc3(c, OP_WHERE, none, dc_const(c, 1), sum));
  v->din[0] = dc2(c, OP_MUL, dy, dc2(c, OP_MUL, e, share));
}

/* Where x == y, as 1; shared evenly among equals. */
static tc_ref even_share(const tc_vjp *v, tc_ref x, tc_ref y) {
  const dc *c = &v->c;
  const dc_axes axes = axes_of(v);
  tc_ref hit = dc_in(c, dc2(c, OP_EQ, x, restored(v, y)));
  return dc2(c, OP_DIV, hit, vj_sum(v, hit, &axes));
}

void tc_vjp_extremum(tc_vjp *v) {
  tc_ref share = even_share(v, vj_in(v, 0), vj_self(v));
  v->din[0] = dc2(&v->c, OP_MUL, restored(v, vj_dy(v)), share);
}

/* The element that was picked gets all. */
void tc_vjp_with_index(tc_vjp *v) {
  const dc_axes axes = axes_of(v);
  const tc_type *t = vj_type(v, 0);
  tc_ref zero = dc_const(&v->c, 0);
  tc_ref index = tc_build_result(v->c.g, v->self, 1, v->c.loc);
  tc_ref here = vj_positions(v, t, axes.n == t->rank && axes.n != 1 ? -1 : axes.at[0]);
  tc_ref hit = dc2(&v->c, OP_EQ, here, restored(v, index));
  v->din[0] = dc3(&v->c, OP_WHERE, hit, restored(v, vj_dy(v)), zero);
}

/* ---- norm: dy sign(x) (|x| / y)^(p - 1); 0 where y is 0 -------------------------------------- */

/* p = inf, -inf: the power is 1 for the largest (least) and 0 for others; equal ones share. */
static tc_ref norm_share(const tc_vjp *v, tc_ref none) {
  tc_ref share = even_share(v, dc1(&v->c, OP_ABS, vj_in(v, 0)), vj_self(v));
  return dc3(&v->c, OP_WHERE, none, dc_const(&v->c, 1), share);
}

static tc_ref norm_power(const tc_vjp *v, tc_ref p, tc_ref y, tc_ref none) {
  const dc *c = &v->c;
  tc_ref x = vj_in(v, 0), one = dc_const(c, 1);
  tc_ref away = dc2(c, OP_OR, none, dc2(c, OP_EQ, x, dc_const(c, 0)));
  tc_ref ratio = dc3(c, OP_WHERE, away, one, dc2(c, OP_DIV, dc1(c, OP_ABS, x), y));
  return dc2(c, OP_POW, ratio, dc2(c, OP_SUB, p, one));
}

/* p arrives at run time; p = 0 counts, which is constant. */
static tc_ref norm_unknown(const tc_vjp *v, tc_ref y, tc_ref none) {
  const dc *c = &v->c;
  tc_ref p = vj_in(v, 1), infinite = dc1(c, OP_ISINF, p), zero = dc_const(c, 0);
  tc_ref power = norm_power(v, dc3(c, OP_WHERE, infinite, dc_const(c, 1), p), y, none);
  power = dc3(c, OP_WHERE, infinite, norm_share(v, none), power);
  return dc3(c, OP_WHERE, dc2(c, OP_EQ, p, zero), zero, power);
}

void tc_vjp_norm(tc_vjp *v) {
  const dc *c = &v->c;
  double p = NAN;
  int64_t ignored;
  tc_node_const(tc_graph_node(c->g, v->n->in[1]), &p, &ignored);
  tc_ref y = restored(v, vj_self(v)), none = dc2(c, OP_EQ, y, dc_const(c, 0)), power;
  tc_ref safe = dc3(c, OP_WHERE, none, dc_const(c, 1), y), dy = restored(v, vj_dy(v));
  if (p == 0) {
    v->din[0] = TC_VJP_ZERO;
  } else if (p == 2) {
    v->din[0] = dc2(c, OP_MUL, vj_in(v, 0), dc2(c, OP_DIV, dy, safe));
  } else {
    if (isnan(p)) power = norm_unknown(v, safe, none);
    else power = isinf(p) ? norm_share(v, none) : norm_power(v, vj_in(v, 1), safe, none);
    v->din[0] = dc2(c, OP_MUL, dc2(c, OP_MUL, dy, dc1(c, OP_SIGN, vj_in(v, 0))), power);
  }
}

/* ---- scans ----------------------------------------------------------------------------------- */

/* A number is a line of one. */
static tc_ref flipped(const tc_vjp *v, tc_ref a, int axis) {
  if (a.id && tc_graph_type(v->c.g, a)->rank == 0) return a;
  tc_dim attr[2] = {tc_dim_const(1), tc_dim_const(axis)};
  return tc_build(v->c.g, OP_FLIP, 1, &a, 2, attr, NULL, v->c.loc);
}

static tc_ref scan(const tc_vjp *v, tc_op op, tc_ref a, int axis) {
  return dc_axis_op(&v->c, op, 1, &a, axis);
}

/* sum of a[i] over i >= k */
static tc_ref suffix_sum(const tc_vjp *v, tc_ref a, int axis) {
  return flipped(v, scan(v, OP_CUMSUM, flipped(v, a, axis), axis), axis);
}

static int scan_axis(const tc_vjp *v) { return dc_axis(v->n, "axis", vj_type(v, 0)->rank); }

void tc_vjp_cumsum(tc_vjp *v) { v->din[0] = suffix_sum(v, vj_dy(v), scan_axis(v)); }

/* dx[k] = sum over i >= k of dy[i] y[i] / x[k].  At the first zero of a line the quotient is the
 * product with a 1 in its place, q; behind it everything is 0. */
void tc_vjp_cumprod(tc_vjp *v) {
  const dc *c = &v->c;
  const int axis = scan_axis(v);
  tc_ref x = vj_in(v, 0), dy = vj_dy(v), zero = dc_const(c, 0), one = dc_const(c, 1);
  tc_ref is_zero = dc2(c, OP_EQ, x, zero);
  tc_ref zeros = scan(v, OP_CUMSUM, dc_in(c, is_zero), axis);
  tc_ref first = dc2(c, OP_AND, is_zero, dc2(c, OP_EQ, zeros, one));
  tc_ref q = scan(v, OP_CUMPROD, dc3(c, OP_WHERE, first, one, x), axis);
  tc_ref at_first = suffix_sum(v, dc2(c, OP_MUL, dy, q), axis);
  tc_ref before = suffix_sum(v, dc2(c, OP_MUL, dy, vj_self(v)), axis);
  before = dc2(c, OP_DIV, before, dc3(c, OP_WHERE, is_zero, one, x));
  tc_ref rest = dc3(c, OP_WHERE, dc2(c, OP_EQ, zeros, zero), before, zero);
  v->din[0] = dc3(c, OP_WHERE, first, at_first, rest);
}

/* Each element gets what was given to the places that it is the extremum of. */
static void added_to_picked(tc_vjp *v, tc_ref index) {
  const tc_type *t = vj_type(v, 0);
  const tc_ref in[] = {vj_full(v, t, v->c.dtype, 0), index, vj_dy(v)};
  v->din[0] = t->rank ? dc_axis_op(&v->c, OP_SCATTER_ADD, 3, in, scan_axis(v)) : in[2];
}

void tc_vjp_running_extremum(tc_vjp *v) {
  const tc_op op = v->n->op == OP_RUNNING_MAX ? OP_RUNNING_ARGMAX : OP_RUNNING_ARGMIN;
  added_to_picked(v, scan(v, op, v->n->in[0], scan_axis(v)));
}

void tc_vjp_cum_extremum(tc_vjp *v) {
  added_to_picked(v, tc_build_result(v->c.g, v->self, 1, v->c.loc));
}

/* prod of a[j] over j < k, along the last axis */
static tc_ref products_before(const tc_vjp *v, tc_ref a) {
  tc_dim before[TC_MAX_RANK] = {{0}}, after[TC_MAX_RANK] = {{0}}, attr[2 * TC_MAX_RANK + 2];
  if (!a.id) return a;
  const tc_type *t = tc_graph_type(v->c.g, a);
  const int rank = t->rank, last = rank - 1;
  const tc_dim size = t->dim[last];
  tc_ref in[2] = {a, dc_const(&v->c, 1)};
  before[last] = tc_dim_const(1);
  attr[0] = attr[1 + rank] = tc_dim_const(rank);
  for (int i = 0; i < rank; i++) {
    attr[1 + i] = before[i];
    attr[2 + rank + i] = after[i];
  }
  tc_ref padded = tc_build(v->c.g, OP_PAD, 2, in, 2 * rank + 2, attr, NULL, v->c.loc);
  return dc_slice(&v->c, scan(v, OP_CUMPROD, padded, last), last, tc_dim_const(0), size);
}

/* The reduced axes last, as one; `order` receives where each axis went. */
static tc_ref gathered(const tc_vjp *v, tc_ref x, int *order, tc_type *moved) {
  const tc_type *t = vj_type(v, 0);
  const dc_axes axes = axes_of(v);
  uint32_t reduced = 0;
  int n = 0;
  for (int i = 0; i < axes.n; i++) reduced |= 1u << axes.at[i];
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < t->rank; i++)
      if ((int)(reduced >> i & 1) == pass) order[n++] = i;
  *moved = *t;
  for (int i = 0; i < n; i++) moved->dim[i] = t->dim[order[i]];
  tc_type flat = *moved;
  flat.rank = (uint8_t)(t->rank - axes.n + 1);
  flat.dim[flat.rank - 1] = dc_numel(&v->c, x, &axes);
  return vj_like(v, tc_build_permute(v->c.g, x, t->rank, order, v->c.loc), &flat);
}

/* dx[k] = dy * (product of the others), of those before and those behind: zeros are not divided
 * by. */
void tc_vjp_prod(tc_vjp *v) {
  int order[TC_MAX_RANK], back[TC_MAX_RANK];
  tc_type moved;
  tc_ref x = gathered(v, vj_in(v, 0), order, &moved);
  if (!x.id) return;
  const int last = tc_graph_type(v->c.g, x)->rank - 1;
  tc_ref behind = flipped(v, products_before(v, flipped(v, x, last)), last);
  tc_ref others = dc2(&v->c, OP_MUL, products_before(v, x), behind);
  for (int i = 0; i < moved.rank; i++) back[order[i]] = i;
  others = tc_build_permute(v->c.g, vj_like(v, others, &moved), moved.rank, back, v->c.loc);
  v->din[0] = dc2(&v->c, OP_MUL, restored(v, vj_dy(v)), others);
}
