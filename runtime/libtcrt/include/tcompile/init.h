/* init.h - what weights are before training, written with the functions of tcompile.h.
 *
 *   tc_manual_seed(42);
 *   tc_kaiming_uniform_(w, TC_GAIN_RELU, TC_FAN_IN, NULL);
 *   tc_zero_(b);
 *
 * Rules that hold for every function below:
 *  - x is floating, and written in place; it may be a leaf, as nothing is recorded inside.  The result is x, or NULL
 *    with an error.
 *  - Each call takes the next stream of the generator; NULL: the default one of this thread (tcompile/random.h).
 *  - fan_in and fan_out are those of weights[out, in, ...], as tc_linear takes them: sizes of axes 1 and 0, each times
 *    all further ones.  Of weights[in, out] for tc_matmul the fans are the other way round. */
#ifndef TCOMPILE_INIT_H
#define TCOMPILE_INIT_H

#include <math.h>
#include <tcompile.h>
#include <tcompile/library_begin.h>

typedef enum tc_fan { TC_FAN_IN, TC_FAN_OUT } tc_fan;

/* What activations make of a standard deviation, as torch.nn.init.calculate_gain has it. */
#define TC_GAIN_LINEAR 1.0 /* of sigmoid, too */
#define TC_GAIN_TANH (5.0 / 3)
#define TC_GAIN_RELU 1.41421356237309504880 /* sqrt(2) */
#define TC_GAIN_SELU 0.75
static inline double tc_gain_leaky_relu(double slope) { return sqrt(2 / (1 + slope * slope)); }

/* x has at least two axes; at least 1. */
static inline double tc_init_fan(const tc_tensor *x, tc_fan fan) {
  const tc_ints dims = tc_shape(x);
  double size = (double)dims.v[fan == TC_FAN_IN ? 1 : 0];
  for (int i = 2; i < dims.n; i++) size *= (double)dims.v[i];
  return fmax(size, 1);
}

#define TC_INIT_FAIL(...) (tc_tensor *)tc_fail_as(TC_ERROR_ARGUMENT, __VA_ARGS__)

/* Uniform in [-a, a), a = gain sqrt(6 / (fan_in + fan_out)): the variance is 2 gain^2 / (fan_in + fan_out).
 * Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks, 2010. */
static inline tc_tensor *tc_xavier_uniform_(tc_tensor *x, double gain, tc_generator *generator) {
  tc_tensor *done = NULL;
  const double a = gain * sqrt(6 / (tc_init_fan(x, TC_FAN_IN) + tc_init_fan(x, TC_FAN_OUT)));
  if ((tc_rank)(x) < 2) return TC_INIT_FAIL("tc_xavier_uniform_: weights have two axes or more");
  TC_NO_GRAD done = (tc_uniform_)(x, -a, a, generator);
  return done;
}

/* Normal of that variance. */
static inline tc_tensor *tc_xavier_normal_(tc_tensor *x, double gain, tc_generator *generator) {
  tc_tensor *done = NULL;
  const double std = gain * sqrt(2 / (tc_init_fan(x, TC_FAN_IN) + tc_init_fan(x, TC_FAN_OUT)));
  if ((tc_rank)(x) < 2) return TC_INIT_FAIL("tc_xavier_normal_: weights have two axes or more");
  TC_NO_GRAD done = (tc_normal_)(x, 0, std, generator);
  return done;
}

/* Uniform in [-a, a), a = gain sqrt(3 / fan): the variance is gain^2 / fan.
 * He, Zhang, Ren and Sun, Delving deep into rectifiers, 2015. */
static inline tc_tensor *tc_kaiming_uniform_(tc_tensor *x, double gain, tc_fan fan,
                                             tc_generator *generator) {
  tc_tensor *done = NULL;
  const double a = gain * sqrt(3 / tc_init_fan(x, fan));
  if ((tc_rank)(x) < 2) return TC_INIT_FAIL("tc_kaiming_uniform_: weights have two axes or more");
  TC_NO_GRAD done = (tc_uniform_)(x, -a, a, generator);
  return done;
}

/* Normal of that variance. */
static inline tc_tensor *tc_kaiming_normal_(tc_tensor *x, double gain, tc_fan fan,
                                            tc_generator *generator) {
  tc_tensor *done = NULL;
  const double std = gain / sqrt(tc_init_fan(x, fan));
  if ((tc_rank)(x) < 2) return TC_INIT_FAIL("tc_kaiming_normal_: weights have two axes or more");
  TC_NO_GRAD done = (tc_normal_)(x, 0, std, generator);
  return done;
}

/* ---- truncated normal ------------------------------------------------------------------------ */

/* The inverse of erf, of y in (-1,1), f64: Winitzki, A handy approximation for the error function and its inverse, 2008
 * (0.2 %), and two steps of Halley's method. */
static inline tc_tensor *tc_init_erfinv(const tc_tensor *y) {
  const double a = 0.147, pi = 3.14159265358979323846;
  const tc_tensor *log_rest = tc_log1p(tc_neg(tc_square(y)));
  const tc_tensor *t = tc_add_s(tc_mul_s(log_rest, 0.5), 2 / (pi * a));
  const tc_tensor *root = tc_sqrt(tc_sub(tc_square(t), tc_div_s(log_rest, a)));
  tc_tensor *z = tc_copysign(tc_sqrt(tc_clamp_min(tc_sub(root, t), 0)), y);
  for (int step = 0; step < 2; step++) {
    const tc_tensor *slope = tc_mul_s(tc_exp(tc_neg(tc_square(z))), 2 / sqrt(pi));
    const tc_tensor *newton = tc_div(tc_sub(tc_erf(z), y), slope);
    z = tc_sub(z, tc_div(newton, tc_add_s(tc_mul(z, newton), 1)));
  }
  return z;
}

/* Normal of a mean and standard deviation std > 0, among what is in [low, high]; low < high, all finite.  Tails further
 * than 6 std from the mean are not told apart from each other. */
static inline tc_tensor *tc_trunc_normal_(tc_tensor *x, double mean, double std, double low,
                                          double high, tc_generator *generator) {
  const double root2 = 1.41421356237309504880, most = 1 - 1.1102230246251565e-16;
  const double from = erf((low - mean) / (std * root2)), to = erf((high - mean) / (std * root2));
  tc_tensor *done = NULL;
  if (!(std > 0 && low < high && tc_random_is_finite(high - low) && std <= DBL_MAX &&
        tc_random_is_finite(mean)))
    return TC_INIT_FAIL(
        "tc_trunc_normal_: no distribution has mean %g and standard deviation %g from %g to %g",
        mean, std, low, high);
  TC_NO_GRAD TC_SCOPE {
    const tc_tensor *u = tc_rand_like(x, tc_next_seed(generator), TC_F64);
    const tc_tensor *y = tc_clamp(tc_add_s(tc_mul_s(u, to - from), from), -most, most);
    const tc_tensor *z = tc_add_s(tc_mul_s(tc_init_erfinv(y), std * root2), mean);
    done = tc_copy_(x, tc_clamp(z, low, high));
  }
  return done;
}

#include <tcompile/library_end.h>
#endif
