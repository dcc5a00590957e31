/* activation.h - activations beyond tcompile/elementwise.h, which has relu, relu6, silu, gelu, gelu_tanh, softplus, mish,
 * hardswish and hardsigmoid, and tcompile.h, which has leaky_relu, elu, softmax and log_softmax.  x is floating; results have
 * its dtype. */
#ifndef TCOMPILE_NN_ACTIVATION_H
#define TCOMPILE_NN_ACTIVATION_H

#include <tcompile/nn/common.h>
#include <tcompile/library_begin.h>

/* ---- element by element ------------------------------------------------------------------------ */

/* x where x > threshold, else value. */
static inline tc_tensor *tc_threshold(const tc_tensor *x, double threshold, double value) {
  tc_tensor *y = NULL;
  TC_SCOPE y = tc_keep(tc_masked_fill(x, tc_le_s(x, threshold), value));
  return y;
}

/* x clamped to [low, high]; default -1 and 1. */
static inline tc_tensor *tc_hardtanh(const tc_tensor *x, double low, double high) {
  tc_tensor *y = NULL;
  TC_SCOPE y = tc_keep(tc_minimum_s(tc_maximum_s(x, low), high));
  return y;
}

/* x where |x| > lambda, else 0; default 0.5. */
static inline tc_tensor *tc_hardshrink(const tc_tensor *x, double lambda) {
  tc_tensor *y = NULL;
  TC_SCOPE y = tc_keep(tc_masked_fill(x, tc_le_s(tc_abs(x), lambda), 0));
  return y;
}

/* x - lambda where x > lambda, x + lambda where x < -lambda, else 0; default 0.5.  lambda >= 0. */
static inline tc_tensor *tc_softshrink(const tc_tensor *x, double lambda) {
  tc_tensor *y = NULL;
  if (!(lambda >= 0)) return TC_NN_FAIL("tc_softshrink: lambda is %g", lambda);
  TC_SCOPE y = tc_keep(tc_add(tc_relu(tc_sub_s(x, lambda)), tc_minimum_s(tc_add_s(x, lambda), 0)));
  return y;
}

/* x - tanh(x). */
static inline tc_tensor *tc_tanhshrink(const tc_tensor *x) {
  tc_tensor *y = NULL;
  TC_SCOPE y = tc_keep(tc_sub(x, tc_tanh(x)));
  return y;
}

/* x / (1 + |x|). */
static inline tc_tensor *tc_softsign(const tc_tensor *x) {
  tc_tensor *y = NULL;
  TC_SCOPE y = tc_keep(tc_div(x, tc_add_s(tc_abs(x), 1)));
  return y;
}

/* log(sigmoid(x)), without overflow. */
static inline tc_tensor *tc_logsigmoid(const tc_tensor *x) {
  tc_tensor *y = NULL;
  TC_SCOPE y = tc_keep(tc_neg(tc_softplus(tc_neg(x))));
  return y;
}

/* max(0, x) + min(0, alpha (exp(x / alpha) - 1)), alpha not 0, default 1.  Barron, Continuously differentiable exponential linear
 * units, 2017. */
static inline tc_tensor *tc_celu(const tc_tensor *x, double alpha) {
  tc_tensor *y = NULL;
  if (alpha == 0) return TC_NN_FAIL("tc_celu: alpha is 0");
  TC_SCOPE {
    const tc_tensor *low = tc_mul_s(tc_expm1(tc_div_s(tc_minimum_s(x, 0), alpha)), alpha);
    y = tc_keep(tc_where(tc_gt_s(x, 0), x, low));
  }
  return y;
}

/* 1.0507 elu(x, 1.6733), which keeps mean 0 and variance 1 of a normal x.  Klambauer et al., Self-normalizing neural
 * networks, 2017. */
static inline tc_tensor *tc_selu(const tc_tensor *x) {
  tc_tensor *y = NULL;
  TC_SCOPE y = tc_keep(tc_mul_s(tc_elu(x, 1.6732632423543772848170429916717), 1.0507009873554804934193349852946));
  return y;
}

/* x where x > 0, else weight x, with one weight or, [C], one for each element of axis 1 (of rank 1: axis 0).  He, Zhang, Ren and
 * Sun, Delving deep into rectifiers, 2015.  Errors: weights that are neither one nor as many as the axis has elements. */
static inline tc_tensor *tc_prelu(const tc_tensor *x, const tc_tensor *weight) {
  tc_tensor *y = NULL;
  if (!x || !weight) return NULL;
  const int axis = tc_rank(x) > 1;
  if (tc_rank(weight) > 1 || (tc_numel(weight) != 1 && (tc_rank(x) < 1 || tc_numel(weight) != tc_size(x, axis))))
    return TC_NN_FAIL("tc_prelu: %lld weights of %d axes for %d axes", (long long)tc_numel(weight), tc_rank(weight), tc_rank(x));
  TC_SCOPE {
    const tc_tensor *each = tc_reshape(weight, TC_DIMS(tc_numel(weight)));
    const tc_tensor *slope = tc_numel(weight) == 1 ? tc_reshape(weight, TC_SCALAR_SHAPE) : tc_nn_along(each, axis, tc_rank(x));
    y = tc_keep(tc_where(tc_gt_s(x, 0), x, tc_mul(slope, x)));
  }
  return y;
}

/* softmax(-x). */
static inline tc_tensor *tc_softmin(const tc_tensor *x, int axis) {
  tc_tensor *y = NULL;
  TC_SCOPE y = tc_keep(tc_softmax(tc_neg(x), axis));
  return y;
}

/* softmax((x + g) / tau) along an axis with g = -log(-log(u)) of uniform u: a relaxed sample of a category.  hard: 1 at its
 * largest element and 0 elsewhere, with the gradient of the relaxed sample (straight-through).  tau > 0.  Jang, Gu and Poole,
 * Categorical reparameterization with Gumbel-softmax, 2017.  generator NULL: that of the thread. */
static inline tc_tensor *tc_gumbel_softmax(const tc_tensor *x, double tau, bool hard, int axis, tc_generator *generator) {
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (!(tau > 0)) return TC_NN_FAIL("tc_gumbel_softmax: tau is %g", tau);
  TC_SCOPE {
    const tc_dtype wide = tc_nn_wide(tc_dtype_of(x));
    const tc_tensor *u = tc_add_s(tc_rand_like(x, tc_next_seed(generator), wide), 0x1p-26); /* above 0 */
    const tc_tensor *g = tc_neg(tc_log(tc_neg(tc_log(u))));
    tc_tensor *soft = tc_softmax(tc_div_s(tc_add(tc_nn_as(x, wide), g), tau), axis);
    if (hard) {
      const tc_tensor *most = tc_max(tc_detach(soft), TC_AXES(axis), true);
      const tc_tensor *one = tc_cast(tc_eq(tc_detach(soft), most), wide);
      soft = tc_add(tc_sub(one, tc_detach(soft)), soft);
    }
    y = tc_keep(tc_cast(soft, tc_dtype_of(x)));
  }
  return y;
}

/* ---- of two halves ----------------------------------------------------------------------------- */

typedef enum tc_gate { TC_GATE_SIGMOID, TC_GATE_RELU, TC_GATE_GELU, TC_GATE_SILU } tc_gate;

static inline tc_tensor *tc_gated(const char *name, const tc_tensor *x, int axis, tc_gate gate) {
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (axis < -tc_rank(x) || axis >= tc_rank(x) || tc_size(x, axis) % 2)
    return TC_NN_FAIL("%s: axis %d of %d has no halves", name, axis, tc_rank(x));
  TC_SCOPE {
    const int64_t half = tc_size(x, axis) / 2;
    const tc_tensor *a = tc_slice(x, axis, 0, half, 1), *b = tc_slice(x, axis, half, 2 * half, 1);
    if (gate == TC_GATE_SIGMOID) y = tc_mul(a, tc_sigmoid(b));
    else y = tc_mul(gate == TC_GATE_RELU ? tc_relu(a) : gate == TC_GATE_GELU ? tc_gelu(a) : tc_silu(a), b);
    tc_keep(y);
  }
  return y;
}

/* a sigmoid(b) of the halves a and b of an axis.  Dauphin, Fan, Auli and Grangier, Language modeling with gated convolutional
 * networks, 2017. */
static inline tc_tensor *tc_glu(const tc_tensor *x, int axis) { return tc_gated("tc_glu", x, axis, TC_GATE_SIGMOID); }
/* relu(a) b, gelu(a) b, silu(a) b.  Shazeer, GLU variants improve transformer, 2020. */
static inline tc_tensor *tc_reglu(const tc_tensor *x, int axis) { return tc_gated("tc_reglu", x, axis, TC_GATE_RELU); }
static inline tc_tensor *tc_geglu(const tc_tensor *x, int axis) { return tc_gated("tc_geglu", x, axis, TC_GATE_GELU); }
static inline tc_tensor *tc_swiglu(const tc_tensor *x, int axis) { return tc_gated("tc_swiglu", x, axis, TC_GATE_SILU); }

#include <tcompile/library_end.h>
#endif
