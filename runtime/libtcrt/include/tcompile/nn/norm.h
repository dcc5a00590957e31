/* norm.h - normalisation, channels first: x[N,C,...].  tcompile.h has tc_layer_norm, tc_rms_norm, and, for inference,
 * tc_batch_norm.
 *
 * x is floating; 16-bit x is computed in f32 and rounded at the end.  weight and bias may be NULL.  Variances are of all elements
 * (/ n).  Errors: too few axes, groups that do not divide the channels, shapes that do not broadcast. */
#ifndef TCOMPILE_NN_NORM_H
#define TCOMPILE_NN_NORM_H

#include <tcompile/nn/common.h>
#include <tcompile/library_begin.h>

/* Batch normalisation in training: (x - mean) / sqrt(var + eps) weight + bias with mean and variance of each channel over
 * the batch and all else.  running_mean and running_var, [C], are written in place, r <- (1 - momentum) r + momentum s,
 * where s is the mean and the variance / (n - 1); NULL: they are not kept.
 * Ioffe and Szegedy, Batch normalization, 2015; as batch_norm of PyTorch with training=True. */
static inline tc_tensor *tc_batch_norm_train(const tc_tensor *x, tc_tensor *running_mean, tc_tensor *running_var,
                                             const tc_tensor *weight, const tc_tensor *bias, double momentum, double eps) {
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (tc_rank(x) < 2) return TC_NN_FAIL("tc_batch_norm_train: x has %d axes, of N, C, ...", tc_rank(x));
  TC_SCOPE {
    const tc_tensor *wide = tc_nn_as(x, tc_nn_wide(tc_dtype_of(x)));
    double n = (double)tc_size(x, 0); /* of each channel */
    tc_ints axes = TC_EMPTY_LIST;
    axes.n = tc_rank(x) - 1;
    for (int i = 1; i < axes.n; i++) {
      axes.v[i] = i + 1;
      n *= (double)tc_size(x, i + 1);
    }
    tc_tensor *mean, *var = tc_var_mean(wide, axes, 0, true, &mean);
    const tc_tensor *z = tc_mul(tc_sub(wide, mean), tc_rsqrt(tc_add_s(var, eps)));
    if (weight) z = tc_mul(z, tc_nn_along(weight, 1, tc_rank(x)));
    if (bias) z = tc_add(z, tc_nn_along(bias, 1, tc_rank(x)));
    y = tc_keep(tc_cast(z, tc_dtype_of(x)));
    TC_NO_GRAD {
      const tc_ints channels = TC_DIMS(tc_size(x, 1));
      bool done = y != NULL;
      if (running_mean) done = done && tc_lerp_(running_mean, tc_reshape(mean, channels), momentum);
      if (running_var) done = done && tc_lerp_(running_var, tc_mul_s(tc_reshape(var, channels), n / (n - 1)), momentum);
      if (!done) y = NULL;
    }
  }
  return y;
}

/* Each of `groups` parts of the channels of each example has mean 0 and variance 1 before weight and bias, [C].
 * Wu and He, Group normalization, 2018. */
static inline tc_tensor *tc_group_norm(const tc_tensor *x, int64_t groups, const tc_tensor *weight, const tc_tensor *bias,
                                       double eps) {
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (tc_rank(x) < 2 || groups < 1 || tc_size(x, 1) % groups)
    return TC_NN_FAIL("tc_group_norm: %lld groups of the channels of %d axes, of N, C, ...", (long long)groups, tc_rank(x));
  TC_SCOPE {
    const int64_t each = tc_size(x, 1) / groups;
    int64_t points = 1;
    for (int i = 2; i < tc_rank(x); i++) points *= tc_size(x, i);
    const tc_tensor *wide = tc_nn_as(x, tc_nn_wide(tc_dtype_of(x)));
    const tc_tensor *z = tc_layer_norm(tc_reshape(wide, TC_DIMS(tc_size(x, 0), groups, each, points)), 2, NULL, NULL, eps);
    if (weight) z = tc_mul(z, tc_reshape(weight, TC_DIMS(groups, each, 1)));
    if (bias) z = tc_add(z, tc_reshape(bias, TC_DIMS(groups, each, 1)));
    y = tc_keep(tc_cast(tc_reshape(z, tc_shape(x)), tc_dtype_of(x)));
  }
  return y;
}

/* Group normalisation with a group for each channel: of x[N,C,D1..Dk] each image.  Ulyanov, Vedaldi and Lempitsky, Instance
 * normalization, 2016. */
static inline tc_tensor *tc_instance_norm(const tc_tensor *x, const tc_tensor *weight, const tc_tensor *bias, double eps) {
  if (!x) return NULL;
  if (tc_rank(x) < 3) return TC_NN_FAIL("tc_instance_norm: x has %d axes, of N, C, D1, ...", tc_rank(x));
  return tc_group_norm(x, tc_size(x, 1), weight, bias, eps);
}

/* x / (k + alpha mean(x^2))^beta, the mean being over `size` channels around each, with zeros beside.
 * Krizhevsky, Sutskever and Hinton, ImageNet classification with deep convolutional networks, 2012, with alpha / size as PyTorch
 * has it, whose defaults are 1e-4, 0.75 and 1. */
static inline tc_tensor *tc_local_response_norm(const tc_tensor *x, int64_t size, double alpha, double beta, double k) {
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (tc_rank(x) < 3 || size < 1)
    return TC_NN_FAIL("tc_local_response_norm: %lld channels of %d axes, of N, C, D1, ...", (long long)size, tc_rank(x));
  TC_SCOPE {
    tc_ints before = tc_shape(x), after = before;
    for (int i = 0; i < before.n; i++) {
      before.v[i] = i == 1 ? size / 2 : 0;
      after.v[i] = i == 1 ? (size - 1) / 2 : 0;
    }
    const tc_tensor *wide = tc_nn_as(x, tc_nn_wide(tc_dtype_of(x)));
    const tc_tensor *squares = tc_unfold(tc_pad(tc_square(wide), before, after, 0), 1, size, 1);
    const tc_tensor *scale = tc_add_s(tc_mul_s(tc_mean(squares, TC_AXES(-1), false), alpha), k);
    y = tc_keep(tc_cast(tc_div(wide, tc_pow_s(scale, beta)), tc_dtype_of(x)));
  }
  return y;
}

/* g v / |v|, with the 2-norm of each part of v along the axis: g has the shape of v with 1 in place of all other sizes.
 * Salimans and Kingma, Weight normalization, 2016. */
static inline tc_tensor *tc_weight_norm(const tc_tensor *v, const tc_tensor *g, int axis) {
  tc_tensor *y = NULL;
  if (!v || !g) return NULL;
  if (axis < 0) axis += tc_rank(v);
  if (axis < 0 || axis >= tc_rank(v) || tc_rank(g) != tc_rank(v) || tc_numel(g) != tc_size(v, axis))
    return TC_NN_FAIL("tc_weight_norm: %lld lengths of %d axes for axis %d of %d", (long long)tc_numel(g), tc_rank(g), axis,
                      tc_rank(v));
  TC_SCOPE {
    tc_ints axes = TC_EMPTY_LIST;
    for (int i = 0; i < tc_rank(v); i++)
      if (i != axis) axes.v[axes.n++] = i;
    y = tc_keep(tc_mul(v, tc_div(g, axes.n ? tc_norm(v, 2, axes, true) : tc_abs(v))));
  }
  return y;
}

#include <tcompile/library_end.h>
#endif
