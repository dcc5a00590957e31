/* reduce.c - reductions that are not a single combine. */
#include "graph/decomp/decomp.h"
#include "graph/decomp/rules.h"

#include <math.h>

static int rank_of(const dc *c, tc_ref x) { return x.id ? tc_graph_type(c->g, x)->rank : 0; }

static bool keeps(const tc_node *n) { return tc_dim_value(tc_attr_int(n, "keep")) != 0; }

/* sum / n: dividing rounds once, multiplying by 1/n would round twice. */
tc_ref tc_decomp_mean(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin_reduce(g, n, in[0]);
  dc_axes axes = dc_reduced(n, rank_of(&c, in[0]));
  return dc_out(&c, n, dc_mean(&c, dc_in(&c, in[0]), &axes, keeps(n)));
}

static tc_ref variance(const dc *c, const tc_node *n, tc_ref x) {
  dc_axes axes = dc_reduced(n, rank_of(c, x));
  return dc_variance(c, dc_in(c, x), &axes, tc_attr_int(n, "correction"), keeps(n));
}

tc_ref tc_decomp_var(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin_reduce(g, n, in[0]);
  return dc_out(&c, n, variance(&c, n, in[0]));
}

tc_ref tc_decomp_std(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin_reduce(g, n, in[0]);
  return dc_out(&c, n, dc1(&c, OP_SQRT, variance(&c, n, in[0])));
}

/* The mean of a reduction with a correction: its attributes without that. */
static tc_ref mean_beside(tc_graph *g, const tc_node *n, tc_ref x) {
  tc_dim attr[TC_MAX_RANK + 2];
  const int list = 1 + (int)tc_dim_value(n->attr[0]);
  for (int i = 0; i < list; i++) attr[i] = n->attr[i];
  attr[list] = tc_attr_int(n, "keep");
  return tc_build(g, OP_MEAN, 1, &x, list + 1, attr, NULL, n->loc);
}

tc_ref tc_decomp_var_mean(tc_graph *g, const tc_node *n, const tc_ref *in) {
  const tc_ref result[] = {tc_build(g, OP_VAR, 1, in, n->nattr, n->attr, NULL, n->loc),
                           mean_beside(g, n, in[0])};
  return tc_build_tuple(g, 2, result, n->loc);
}

tc_ref tc_decomp_with_index(tc_graph *g, const tc_node *n, const tc_ref *in) {
  const bool most = n->op == OP_MAX_WITH_INDEX;
  const tc_op op[] = {most ? OP_AMAX : OP_AMIN, most ? OP_ARGMAX : OP_ARGMIN};
  tc_ref result[2];
  for (int i = 0; i < 2; i++)
    result[i] = tc_build(g, op[i], 1, in, n->nattr, n->attr, NULL, n->loc);
  return tc_build_tuple(g, 2, result, n->loc);
}

tc_ref tc_decomp_cum_extremum(tc_graph *g, const tc_node *n, const tc_ref *in) {
  const bool most = n->op == OP_CUMMAX;
  const tc_op op[] = {most ? OP_RUNNING_MAX : OP_RUNNING_MIN,
                      most ? OP_RUNNING_ARGMAX : OP_RUNNING_ARGMIN};
  tc_ref result[2];
  for (int i = 0; i < 2; i++)
    result[i] = tc_build(g, op[i], 1, in, n->nattr, n->attr, NULL, n->loc);
  return tc_build_tuple(g, 2, result, n->loc);
}

/* Every element v, in the shape of n. */
static tc_ref filled(const dc *c, const tc_node *n, double v) {
  tc_dim attr[TC_MAX_RANK + 2] = {tc_dim_const(n->type.rank)};
  for (int i = 0; i < n->type.rank; i++) attr[1 + i] = n->type.dim[i];
  attr[1 + n->type.rank] = tc_dim_const(n->type.dtype);
  tc_ref value = dc_const(c, v);
  return tc_build(c->g, OP_FULL, 1, &value, n->type.rank + 2, attr, NULL, c->loc);
}

/* log sum exp(x - m) + m with m = max x, or 0 where the maximum is infinite: then exp(x) itself is
 * already right, and inf - inf never happens. */
tc_ref tc_decomp_logsumexp(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  dc_axes axes = dc_reduced(n, rank_of(&c, in[0]));
  if (dc_empty(&c, in[0], &axes)) return filled(&c, n, -INFINITY);
  tc_ref x = dc_in(&c, in[0]);
  tc_ref max = dc_reduce(&c, OP_AMAX, x, &axes, true);
  tc_ref m = dc3(&c, OP_WHERE, dc1(&c, OP_ISFINITE, max), max, dc_const(&c, 0));
  tc_ref sum = dc_reduce(&c, OP_SUM, dc1(&c, OP_EXP, dc2(&c, OP_SUB, x, m)), &axes, true);
  tc_ref y = dc2(&c, OP_ADD, dc1(&c, OP_LOG, sum), m);
  return dc_reshape_to(&c, dc_out(&c, n, y), n);
}

/* ---- norm: (sum |x|^p)^(1/p), and its limits p = inf, -inf, 0 -------------------------------- */

typedef struct norm_of {
  const dc *c;
  tc_ref x, abs;
  dc_axes axes;
  bool keep;
} norm_of;

static tc_ref norm_extremum(const norm_of *o, tc_op op) {
  return dc_reduce(o->c, op, o->abs, &o->axes, o->keep);
}

static tc_ref norm_sum(const norm_of *o, tc_ref terms) {
  return dc_reduce(o->c, OP_SUM, terms, &o->axes, o->keep);
}

/* p = 0 counts what is not zero. */
static tc_ref norm_count(const norm_of *o) {
  return norm_sum(o, dc_in(o->c, dc2(o->c, OP_NE, o->x, dc_const(o->c, 0))));
}

static dc in_f64(dc c) {
  c.dtype = TC_F64;
  return c;
}

/* In f64, as eager code: |x|^p leaves the range of f32 long before the norm does. */
static tc_ref norm_power(const norm_of *o, tc_ref p, tc_ref inverse) {
  const dc c = in_f64(*o->c);
  tc_ref terms = dc2(&c, OP_POW, dc_in(&c, o->abs), dc_in(&c, p));
  return dc_in(o->c, dc2(&c, OP_POW, norm_sum(o, terms), dc_in(&c, inverse)));
}

static tc_ref norm_known(const norm_of *o, double p) {
  const dc *c = o->c;
  if (p == INFINITY) return norm_extremum(o, OP_AMAX);
  if (p == -INFINITY) return norm_extremum(o, OP_AMIN);
  if (p == 0) return norm_count(o);
  if (p == 1) return norm_sum(o, o->abs);
  if (p == 2) return dc1(c, OP_SQRT, norm_sum(o, dc1(c, OP_SQUARE, o->x)));
  const dc wide = in_f64(*c);
  return norm_power(o, dc_const(&wide, p), dc_const(&wide, 1 / p));
}

static tc_ref choose(const norm_of *o, tc_ref p, double value, tc_ref yes, tc_ref no) {
  return dc3(o->c, OP_WHERE, dc2(o->c, OP_EQ, p, dc_const(o->c, value)), yes, no);
}

/* p arrives at run time: all four forms are computed and one is chosen. */
static tc_ref norm_unknown(const norm_of *o, tc_ref p) {
  tc_ref y = norm_power(o, p, dc1(o->c, OP_RECIPROCAL, p));
  y = choose(o, p, 0, norm_count(o), y);
  y = choose(o, p, -INFINITY, norm_extremum(o, OP_AMIN), y);
  return choose(o, p, INFINITY, norm_extremum(o, OP_AMAX), y);
}

/* Of no element the limits p = inf, -inf do not exist: eager code says what happens. */
static tc_ref refuse_empty(tc_graph *g, const tc_node *n) {
  tc_report(tc_graph_diag(g), TC_MISSED, n->loc,
            "norm: not compiled: the axis is empty, and p is or may be infinite");
  return (tc_ref){0};
}

tc_ref tc_decomp_norm(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_ref x = dc_in(&c, in[0]);
  norm_of o = {&c, x, dc1(&c, OP_ABS, x), dc_reduced(n, rank_of(&c, x)), keeps(n)};
  double p = INFINITY;
  int64_t ignored;
  bool known = in[1].id && tc_node_const(tc_graph_node(g, in[1]), &p, &ignored);
  if (dc_empty(&c, x, &o.axes) && (!known || isinf(p))) return refuse_empty(g, n);
  return dc_out(&c, n, known ? norm_known(&o, p) : norm_unknown(&o, dc_in(&c, in[1])));
}
