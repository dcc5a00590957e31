/* nn.c - softmax and normalisations. */
#include "graph/decomp/decomp.h"
#include "graph/decomp/rules.h"

static int rank_of(const dc *c, tc_ref x) { return tc_graph_type(c->g, x)->rank; }

/* x - max x along the axis: exp of it is in [0, 1], and some element is 1. */
static tc_ref shifted(const dc *c, tc_ref x, const dc_axes *axis) {
  return dc2(c, OP_SUB, x, dc_reduce(c, OP_AMAX, x, axis, true));
}

/* None of a scalar. */
static dc_axes the_axis(const dc *c, const tc_node *n, tc_ref x) {
  const int rank = rank_of(c, x);
  return (dc_axes){rank > 0, {rank > 0 ? dc_axis(n, "axis", rank) : 0}};
}

/* A scalar, or an axis without elements: the formulas below need a maximum. */
static bool trivial(const dc *c, tc_ref x, const dc_axes *axis) {
  return rank_of(c, x) > 0 && dc_empty(c, x, axis);
}

/* exp(x - m) / sum exp(x - m); the sum is at least 1, so that its reciprocal is harmless, and there
 * is one division a row. */
tc_ref tc_decomp_softmax(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  dc_axes axis = the_axis(&c, n, in[0]);
  if (trivial(&c, in[0], &axis)) return dc_out(&c, n, in[0]);
  tc_ref e = dc1(&c, OP_EXP, shifted(&c, dc_in(&c, in[0]), &axis));
  tc_ref sum = dc_reduce(&c, OP_SUM, e, &axis, true);
  return dc_out(&c, n, dc2(&c, OP_MUL, e, dc1(&c, OP_RECIPROCAL, sum)));
}

/* (x - m) - log sum exp(x - m) */
tc_ref tc_decomp_log_softmax(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  dc_axes axis = the_axis(&c, n, in[0]);
  if (trivial(&c, in[0], &axis)) return dc_out(&c, n, in[0]);
  tc_ref d = shifted(&c, dc_in(&c, in[0]), &axis);
  tc_ref sum = dc_reduce(&c, OP_SUM, dc1(&c, OP_EXP, d), &axis, true);
  return dc_out(&c, n, dc2(&c, OP_SUB, d, dc1(&c, OP_LOG, sum)));
}

/* y * weight + bias, each optional */
static tc_ref affine(const dc *c, tc_ref y, tc_ref weight, tc_ref bias) {
  if (weight.id) y = dc2(c, OP_MUL, y, dc_in(c, weight));
  if (bias.id) y = dc2(c, OP_ADD, y, dc_in(c, bias));
  return y;
}

/* x / sqrt(power + eps) */
static tc_ref scaled(const dc *c, tc_ref x, tc_ref power, tc_ref eps) {
  tc_ref scale = dc1(c, OP_RSQRT, dc2(c, OP_ADD, power, dc_in(c, eps)));
  return dc2(c, OP_MUL, x, scale);
}

/* (x - mean) / sqrt(var + eps) * weight + bias over the last axes; var with divisor n */
tc_ref tc_decomp_layer_norm(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  dc_axes axes = dc_last((int)tc_dim_value(tc_attr_int(n, "naxes")), rank_of(&c, in[0]));
  tc_ref x = dc_in(&c, in[0]);
  tc_ref d = dc2(&c, OP_SUB, x, dc_mean(&c, x, &axes, true));
  tc_ref var = dc_variance(&c, x, &axes, tc_dim_const(0), true);
  return dc_out(&c, n, affine(&c, scaled(&c, d, var, in[3]), in[1], in[2]));
}

/* x / sqrt(mean(x^2) + eps) * weight over the last axes */
tc_ref tc_decomp_rms_norm(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  dc_axes axes = dc_last((int)tc_dim_value(tc_attr_int(n, "naxes")), rank_of(&c, in[0]));
  tc_ref x = dc_in(&c, in[0]);
  tc_ref power = dc_mean(&c, dc1(&c, OP_SQUARE, x), &axes, true);
  return dc_out(&c, n, affine(&c, scaled(&c, x, power, in[2]), in[1], (tc_ref){0}));
}

/* [C] as [C,1,...], which broadcasts against x[N,C,...]; ref 0 stays. */
static tc_ref per_channel(const dc *c, tc_ref v, int rank) {
  if (!v.id) return v;
  tc_dim dims[TC_MAX_RANK];
  dims[0] = tc_graph_type(c->g, v)->dim[0];
  for (int i = 1; i < rank - 1; i++) dims[i] = tc_dim_const(1);
  return dc_reshape(c, dc_in(c, v), rank - 1, dims);
}

/* (x - mean) / sqrt(var + eps) * weight + bias with statistics given per channel */
tc_ref tc_decomp_batch_norm(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  int rank = rank_of(&c, in[0]);
  tc_ref at[5] = {{0}};
  for (int i = 1; i < 5; i++) at[i] = per_channel(&c, in[i], rank);
  tc_ref d = dc2(&c, OP_SUB, dc_in(&c, in[0]), at[1]);
  return dc_out(&c, n, affine(&c, scaled(&c, d, at[2], in[5]), at[3], at[4]));
}
