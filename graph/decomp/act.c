/* act.c - activations and the elementwise helpers of the table.
 *
 * NaN always comes through: maximum and minimum propagate it, and a comparison that NaN fails
 * selects the branch that computes with x. */
#include "graph/decomp/decomp.h"
#include "graph/decomp/rules.h"

static const double sqrt_half = 0.70710678118654752440;        /* 1/sqrt(2) */
static const double sqrt_two_over_pi = 0.79788456080286535588; /* sqrt(2/pi) */

/* min(max(x, lo), hi) */
static tc_ref between(const dc *c, tc_ref x, double lo, double hi) {
  return dc2(c, OP_MINIMUM, dc2(c, OP_MAXIMUM, x, dc_const(c, lo)), dc_const(c, hi));
}

tc_ref tc_decomp_clamp(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin_choice(g, n);
  tc_ref lo = dc2(&c, OP_MAXIMUM, dc_in(&c, in[0]), dc_in(&c, in[1]));
  return dc2(&c, OP_MINIMUM, lo, dc_in(&c, in[2]));
}

/* The exponent is a whole number of the dtype. */
tc_ref tc_decomp_frexp(tc_graph *g, const tc_node *n, const tc_ref *in) {
  const tc_ref exponent = tc_build1(g, OP_EXPONENT, in[0], n->loc);
  const tc_ref result[] = {tc_build1(g, OP_MANTISSA, in[0], n->loc),
                           tc_build_cast(g, exponent, TC_I32, n->loc)};
  return tc_build_tuple(g, 2, result, n->loc);
}

/* a + weight * (b - a) */
tc_ref tc_decomp_lerp(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_ref a = dc_in(&c, in[0]);
  tc_ref d = dc2(&c, OP_SUB, dc_in(&c, in[1]), a);
  return dc_out(&c, n, dc2(&c, OP_ADD, a, dc2(&c, OP_MUL, dc_in(&c, in[2]), d)));
}

/* The value takes the dtype of x before it is stored, as an assignment would. */
tc_ref tc_decomp_masked_fill(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  return dc3(&c, OP_WHERE, in[1], dc_out(&c, n, in[2]), dc_out(&c, n, in[0]));
}

tc_ref tc_decomp_relu(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin_choice(g, n);
  return dc2(&c, OP_MAXIMUM, dc_in(&c, in[0]), dc_const(&c, 0));
}

tc_ref tc_decomp_relu6(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin_choice(g, n);
  return between(&c, dc_in(&c, in[0]), 0, 6);
}

/* x > 0 ? x : slope * x */
tc_ref tc_decomp_leaky_relu(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_ref x = dc_in(&c, in[0]);
  tc_ref positive = dc2(&c, OP_GT, x, dc_const(&c, 0));
  return dc_out(&c, n, dc3(&c, OP_WHERE, positive, x, dc2(&c, OP_MUL, x, dc_in(&c, in[1]))));
}

/* x > 0 ? x : alpha * (exp(x) - 1) */
tc_ref tc_decomp_elu(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_ref x = dc_in(&c, in[0]);
  tc_ref positive = dc2(&c, OP_GT, x, dc_const(&c, 0));
  tc_ref negative = dc2(&c, OP_MUL, dc_in(&c, in[1]), dc1(&c, OP_EXPM1, x));
  return dc_out(&c, n, dc3(&c, OP_WHERE, positive, x, negative));
}

/* x * sigmoid(x) */
tc_ref tc_decomp_silu(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_ref x = dc_in(&c, in[0]);
  return dc_out(&c, n, dc2(&c, OP_MUL, x, dc1(&c, OP_SIGMOID, x)));
}

/* x/2 * (1 + t), t in [-1, 1] */
static tc_ref half_x_one_plus(const dc *c, tc_ref x, tc_ref t) {
  tc_ref half = dc2(c, OP_MUL, x, dc_const(c, 0.5));
  return dc2(c, OP_MUL, half, dc2(c, OP_ADD, t, dc_const(c, 1)));
}

/* x * Phi(x), Phi the normal distribution function: x/2 * (1 + erf(x / sqrt 2)) */
tc_ref tc_decomp_gelu(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_ref x = dc_in(&c, in[0]);
  tc_ref t = dc1(&c, OP_ERF, dc2(&c, OP_MUL, x, dc_const(&c, sqrt_half)));
  return dc_out(&c, n, half_x_one_plus(&c, x, t));
}

/* x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))), Hendrycks and Gimpel 2016 */
tc_ref tc_decomp_gelu_tanh(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_ref x = dc_in(&c, in[0]);
  tc_ref cube = dc2(&c, OP_MUL, dc1(&c, OP_SQUARE, x), x);
  tc_ref p = dc2(&c, OP_ADD, x, dc2(&c, OP_MUL, cube, dc_const(&c, 0.044715)));
  tc_ref t = dc1(&c, OP_TANH, dc2(&c, OP_MUL, p, dc_const(&c, sqrt_two_over_pi)));
  return dc_out(&c, n, half_x_one_plus(&c, x, t));
}

/* log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)), which never overflows */
static tc_ref softplus(const dc *c, tc_ref x) {
  tc_ref decay = dc1(c, OP_EXP, dc1(c, OP_NEG, dc1(c, OP_ABS, x)));
  return dc2(c, OP_ADD, dc2(c, OP_MAXIMUM, x, dc_const(c, 0)), dc1(c, OP_LOG1P, decay));
}

tc_ref tc_decomp_softplus(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  return dc_out(&c, n, softplus(&c, dc_in(&c, in[0])));
}

/* x * tanh(softplus(x)) */
tc_ref tc_decomp_mish(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_ref x = dc_in(&c, in[0]);
  return dc_out(&c, n, dc2(&c, OP_MUL, x, dc1(&c, OP_TANH, softplus(&c, x))));
}

/* min(max(x + 3, 0), 6) */
static tc_ref ramp(const dc *c, tc_ref x) {
  return between(c, dc2(c, OP_ADD, x, dc_const(c, 3)), 0, 6);
}

/* x times a share of 0 .. 1: no product is larger than x. */
tc_ref tc_decomp_hardswish(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  tc_ref x = dc_in(&c, in[0]);
  tc_ref share = dc2(&c, OP_DIV, ramp(&c, x), dc_const(&c, 6));
  return dc_out(&c, n, dc2(&c, OP_MUL, x, share));
}

tc_ref tc_decomp_hardsigmoid(tc_graph *g, const tc_node *n, const tc_ref *in) {
  dc c = dc_begin(g, n);
  return dc_out(&c, n, dc2(&c, OP_DIV, ramp(&c, dc_in(&c, in[0])), dc_const(&c, 6)));
}
