/* nn.c - softmax, normalisations and losses, in their closed forms. */
#include "autodiff/rules.h"

enum { LOSS_NONE, LOSS_MEAN, LOSS_SUM }; /* values of the attribute: tc_reduction */

static tc_ref mul(const tc_vjp *v, tc_ref a, tc_ref b) { return dc2(&v->c, OP_MUL, a, b); }
static tc_ref sub(const tc_vjp *v, tc_ref a, tc_ref b) { return dc2(&v->c, OP_SUB, a, b); }

/* ---- softmax --------------------------------------------------------------------------------- */

/* None of a scalar. */
static dc_axes the_axis(const tc_vjp *v) {
  const int rank = vj_type(v, 0)->rank;
  return (dc_axes){rank > 0, {rank ? dc_axis(v->n, "axis", rank) : 0}};
}

/* y (dy - sum dy y) */
tc_ref vj_softmax(const tc_vjp *v, const dc_axes *axes) {
  tc_ref y = vj_self(v), dy = vj_dy(v);
  return mul(v, y, sub(v, dy, vj_sum(v, mul(v, dy, y), axes)));
}

void tc_vjp_softmax(tc_vjp *v) {
  const dc_axes axes = the_axis(v);
  v->din[0] = vj_softmax(v, &axes);
}

/* dy - exp(y) sum dy */
void tc_vjp_log_softmax(tc_vjp *v) {
  const dc_axes axes = the_axis(v);
  tc_ref dy = vj_dy(v);
  v->din[0] = sub(v, dy, mul(v, dc1(&v->c, OP_EXP, vj_self(v)), vj_sum(v, dy, &axes)));
}

/* ---- normalisations: y = h w + b, h = (x - m) s, s = 1 / sqrt(power + eps) ------------------- */

static tc_ref reciprocal_root(const tc_vjp *v, tc_ref power, tc_ref eps) {
  return dc1(&v->c, OP_RSQRT, dc2(&v->c, OP_ADD, power, eps));
}

/* d = cotangent of h.  dx = s (d - mean d - h mean(d h)), without mean d where no mean was
 * subtracted. */
static void normalised(tc_vjp *v, tc_ref h, tc_ref s, const dc_axes *axes, bool centred) {
  tc_ref dy = vj_dy(v), w = vj_in(v, 1), d = w.id ? mul(v, dy, w) : dy;
  if (vj_wants(v, 1)) v->din[1] = mul(v, dy, h);
  if (!v->want[0]) return;
  tc_ref along = mul(v, h, dc_mean(&v->c, mul(v, d, h), axes, true));
  if (centred) d = sub(v, d, dc_mean(&v->c, d, axes, true));
  v->din[0] = mul(v, s, sub(v, d, along));
}

static dc_axes last_axes(const tc_vjp *v) {
  return dc_last((int)tc_dim_value(tc_attr_int(v->n, "naxes")), vj_type(v, 0)->rank);
}

void tc_vjp_layer_norm(tc_vjp *v) {
  const dc_axes axes = last_axes(v);
  tc_ref x = vj_in(v, 0), d = sub(v, x, dc_mean(&v->c, x, &axes, true));
  tc_ref var = dc_variance(&v->c, x, &axes, tc_dim_const(0), true);
  tc_ref s = reciprocal_root(v, var, vj_in(v, 3));
  if (vj_wants(v, 2)) v->din[2] = v->dy[0];
  if (v->want[0] || vj_wants(v, 1)) normalised(v, mul(v, d, s), s, &axes, true);
}

void tc_vjp_rms_norm(tc_vjp *v) {
  const dc_axes axes = last_axes(v);
  tc_ref x = vj_in(v, 0), power = dc_mean(&v->c, dc1(&v->c, OP_SQUARE, x), &axes, true);
  tc_ref s = reciprocal_root(v, power, vj_in(v, 2));
  normalised(v, mul(v, x, s), s, &axes, false);
}

/* [C] as [C,1,...], which broadcasts against x[N,C,...]. */
static tc_ref channels(const tc_vjp *v, int i) {
  tc_type t = {.rank = (uint8_t)(vj_type(v, 0)->rank - 1)};
  for (int k = 0; k < t.rank; k++) t.dim[k] = k ? tc_dim_const(1) : v->n->type.dim[1];
  tc_ref a = vj_in(v, i);
  return a.id ? vj_like(v, a, &t) : a;
}

/* Sums all but axis 1. */
static tc_ref per_channel(const tc_vjp *v, tc_ref a) {
  dc_axes axes = {0, {0}};
  for (int i = 0; i < v->n->type.rank; i++)
    if (i != 1) axes.at[axes.n++] = i;
  return dc_reduce(&v->c, OP_SUM, a, &axes, false);
}

/* Mean and variance are given, so s depends on neither x: ds = -s^3 / 2 dvar */
void tc_vjp_batch_norm(tc_vjp *v) {
  const dc *c = &v->c;
  tc_ref dy = vj_dy(v), w = channels(v, 3), s = reciprocal_root(v, channels(v, 2), vj_in(v, 5));
  tc_ref h = mul(v, sub(v, vj_in(v, 0), channels(v, 1)), s);
  tc_ref dx = mul(v, w.id ? mul(v, dy, w) : dy, s);
  if (v->want[0]) v->din[0] = dx;
  if (v->want[1]) v->din[1] = dc1(c, OP_NEG, per_channel(v, dx));
  if (v->want[2]) {
    tc_ref power = mul(v, mul(v, mul(v, dx, h), s), dc_const(c, -0.5));
    v->din[2] = per_channel(v, power);
  }
  if (vj_wants(v, 3)) v->din[3] = per_channel(v, mul(v, dy, h));
  if (vj_wants(v, 4)) v->din[4] = per_channel(v, dy);
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Cotangent of the loss of each sample; `count` of them were averaged. */
static tc_ref sample_dy(const tc_vjp *v, tc_dim count) {
  const int64_t how = tc_dim_value(tc_attr_int(v->n, "reduction"));
  tc_ref dy = vj_dy(v);
  return how == LOSS_MEAN ? dc2(&v->c, OP_DIV, dy, dc_count(&v->c, count)) : dy;
}

/* Likewise of x[N,C], as [N,1]; of x[C] as [1]. */
static tc_ref class_dy(const tc_vjp *v) {
  tc_type t = *vj_type(v, 0);
  t.dim[t.rank - 1] = tc_dim_const(1);
  tc_ref dy = sample_dy(v, t.rank > 1 ? t.dim[0] : tc_dim_const(1));
  if (!dy.id || !tc_graph_type(v->c.g, dy)->rank) return dy;
  return vj_like(v, dy, &t);
}

/* Is this class the target's?  [N,C] */
static tc_ref is_target(const tc_vjp *v) {
  tc_type t = *vj_type(v, 0);
  const int last = t.rank - 1;
  tc_ref classes = vj_positions(v, &t, last);
  t.dim[last] = tc_dim_const(1);
  return dc2(&v->c, OP_EQ, vj_like(v, v->n->in[1], &t), classes);
}

/* (softmax(x) - target) dy, with the exponentials of the loss */
void tc_vjp_cross_entropy(tc_vjp *v) {
  tc_ref x = vj_in(v, 0);
  tc_ref p = dc_axis_op(&v->c, OP_SOFTMAX, 1, &x, vj_type(v, 0)->rank - 1);
  v->din[0] = mul(v, sub(v, p, dc_in(&v->c, is_target(v))), class_dy(v));
}

void tc_vjp_nll(tc_vjp *v) {
  tc_ref dy = dc1(&v->c, OP_NEG, class_dy(v));
  v->din[0] = dc3(&v->c, OP_WHERE, is_target(v), dy, dc_const(&v->c, 0));
}

/* Number of elements of two operands, broadcast. */
static tc_ref pair_dy(const tc_vjp *v) {
  tc_ref d = sub(v, vj_in(v, 0), vj_in(v, 1));
  if (!d.id) return d;
  return sample_dy(v, tc_type_numel(tc_graph_dims(v->c.g), tc_graph_type(v->c.g, d)));
}

/* 2 (x - t) dy */
void tc_vjp_mse(tc_vjp *v) {
  tc_ref twice = mul(v, pair_dy(v), dc_const(&v->c, 2));
  tc_ref d = mul(v, sub(v, vj_in(v, 0), vj_in(v, 1)), twice);
  if (v->want[0]) v->din[0] = d;
  if (v->want[1]) v->din[1] = dc1(&v->c, OP_NEG, d);
}

/* dx = (sigmoid(x) - t) dy, dt = -x dy */
void tc_vjp_bce_logits(tc_vjp *v) {
  tc_ref x = vj_in(v, 0), t = vj_in(v, 1), dy = pair_dy(v);
  if (v->want[0]) v->din[0] = mul(v, sub(v, dc1(&v->c, OP_SIGMOID, x), t), dy);
  if (v->want[1]) v->din[1] = dc1(&v->c, OP_NEG, mul(v, x, dy));
}
