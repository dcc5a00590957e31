/* Variances of rows, which one pass gives where that keeps their digits: of rows for which it does,
 * of rows for which it does not, and of lengths around those from which on it is tried.  Against the
 * sums of their definition, in f64. */
#include <math.h>

#include "check.h"

typedef const tc_tensor *operand;

TC_COMPILE static tc_tensor *variance(operand x TC_SHAPE("f32[R,C]")) {
  return tc_var(x, TC_AXES(1), 0, false);
}
TC_COMPILE static tc_tensor *variance_bf16(operand x TC_SHAPE("bf16[R,C]")) {
  return tc_var(tc_cast(x, TC_F32), TC_AXES(1), 0, false);
}
TC_COMPILE static tc_tensor *variance_f16(operand x TC_SHAPE("f16[R,C]")) {
  return tc_var(tc_cast(x, TC_F32), TC_AXES(1), 0, false);
}
TC_COMPILE static tc_tensor *variance_f64(operand x TC_SHAPE("f64[R,C]")) {
  return tc_var(x, TC_AXES(1), 0, false);
}
/* Of a sum that exists nowhere else, its mean taken from the other side. */
TC_COMPILE static tc_tensor *variance_of_sum(operand x TC_SHAPE("f32[R,C]")) {
  tc_tensor *y = tc_add_s(x, 0.25);
  return tc_mean(tc_square(tc_sub(tc_mean(y, TC_AXES(1), true), y)), TC_AXES(1), false);
}
TC_COMPILE static tc_tensor *norm(operand x TC_SHAPE("f32[R,C]")) {
  return tc_layer_norm(x, 1, NULL, NULL, 1e-5);
}
TC_COMPILE static tc_tensor *norm_bf16(operand x TC_SHAPE("bf16[R,C]")) {
  return tc_layer_norm(x, 1, NULL, NULL, 1e-5);
}

/* Kinds of rows: what is added to normal numbers, and what they are multiplied by first. */
static const struct {
  double shift, scale;
} kind[] = {{0, 1},    {1, 1}, {-1.9, 1}, {2.1, 1},     {30, 1},  {1000, 1}, {1, 1e-3},
            {0.25, 0}, {0, 0}, {0, 1e-6}, {1e-7, 1e-7}, {0, 1e8}, {3e4, 1},  {-7, 7}};
enum { KINDS = sizeof kind / sizeof *kind };

static tc_tensor *rows(tc_dtype d, int64_t length) {
  tc_tensor *x = tc_randn(TC_DIMS(KINDS, length), (uint64_t)length, TC_F64);
  double *v = tc_data(x);
  for (int k = 0; k < KINDS; k++)
    for (int64_t i = 0; i < length; i++)
      v[k * length + i] = v[k * length + i] * kind[k].scale + kind[k].shift;
  return tc_cast(x, d);
}

static void moments_of(const double *v, int64_t n, double *mean, double *variance) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; i++) sum += v[i];
  *mean = sum / (double)n;
  for (int64_t i = 0; i < n; i++) squares += (v[i] - *mean) * (v[i] - *mean);
  *variance = squares / (double)n;
}

static void check_number(const char *what, int k, int64_t n, double got, double want,
                         double bound) {
  if (fabs(got - want) <= bound) return;
  fprintf(stderr, "%s of %lld, kind %d: %.9g, not %.9g\n", what, (long long)n, k, got, want);
  exit(1);
}

/* unit: of the sums of means; so much of a mean can be lost, and its square be in the variance. */
static void check_variance(const char *name, tc_tensor *(*f)(operand), tc_dtype d, int64_t n,
                           double plus, double rtol, double unit) {
  TC_SCOPE {
    tc_tensor *x = rows(d, n), *exact = tc_cast(tc_add_s(x, plus), TC_F64),
              *got = tc_cast(f(x), TC_F64);
    CHECK(got);
    const double *v = tc_data(exact), *r = tc_data(got);
    for (int k = 0; k < KINDS; k++) {
      double mean, want;
      moments_of(v + k * n, n, &mean, &want);
      if (d == TC_F16 && kind[k].scale > 1e4) continue; /* more than it holds */
      check_number(name, k, n, r[k], want, rtol * want + 64 * unit * unit * mean * mean);
    }
  }
}

static void check_norm(tc_tensor *(*f)(operand), tc_dtype d, int64_t n, double atol, double rtol) {
  TC_SCOPE {
    tc_tensor *x = rows(d, n), *exact = tc_cast(x, TC_F64), *got = tc_cast(f(x), TC_F64);
    CHECK(got);
    const double *v = tc_data(exact), *r = tc_data(got);
    for (int k = 0; k < KINDS; k++) {
      double mean, var;
      moments_of(v + k * n, n, &mean, &var);
      const double s = 1 / sqrt(var + 1e-5), unit = 0x1p-24 * fabs(mean) * s; /* of the mean */
      for (int64_t i = k * n; i < (k + 1) * n; i++) {
        const double want = (v[i] - mean) * s;
        check_number("norm", k, n, r[i], want, atol + rtol * fabs(want) + 4 * unit);
      }
    }
  }
}

/* Where sums are no numbers, so is what follows from them, as before. */
static void check_special(tc_tensor *(*f)(operand), tc_dtype d, int64_t n) {
  static const float special[] = {INFINITY, -INFINITY, NAN, 3e38f, 1e25f};
  for (size_t k = 0; k < sizeof special / sizeof *special; k++) TC_SCOPE {
      tc_tensor *x = rows(TC_F32, n);
      ((float *)tc_data(x))[n / 2] = special[k];
      x = tc_cast(x, d);
      tc_tensor *got = f(x);
      const tc_stance stance = tc_set_stance(TC_STANCE_EAGER);
      tc_tensor *want = f(x);
      tc_set_stance(stance);
      const float a = *(float *)tc_data(got), b = *(float *)tc_data(want);
      CHECK(isnan(a) == isnan(b) && isinf(a) == isinf(b));
      for (int i = 1; i < KINDS; i++) CHECK(isfinite(((float *)tc_data(got))[i]));
    }
}

/* Equal elements have none, whatever they are. */
static void check_constant(int64_t n) {
  for (double c = 1e-30; c < 1e21; c *= 977) TC_SCOPE {
      tc_tensor *got = variance(tc_full(TC_DIMS(3, n), c, TC_F32));
      CHECK(got);
      for (int i = 0; i < 3; i++)
        check_number("constant", i, n, ((float *)tc_data(got))[i], 0, 0x1p-32 * c * c);
    }
}

int main(void) {
  static const int64_t length[] = {1, 17, 383, 384, 385, 768, 1000, 4095, 4096, 4130, 20011};
  for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
    const int64_t n = length[i];
    check_variance("variance", variance, TC_F32, n, 0, 4e-6, 0x1p-24);
    check_variance("variance_bf16", variance_bf16, TC_BF16, n, 0, 4e-6, 0x1p-24);
    check_variance("variance_f16", variance_f16, TC_F16, n, 0, 4e-6, 0x1p-24);
    check_variance("variance_f64", variance_f64, TC_F64, n, 0, 1e-13, 0x1p-53);
    check_variance("variance_of_sum", variance_of_sum, TC_F32, n, 0.25, 4e-6, 0x1p-24);
    check_norm(norm, TC_F32, n, 2e-6, 1.3e-6);
    check_norm(norm_bf16, TC_BF16, n, 1e-5, 4e-3);
    check_constant(n);
  }
  for (int64_t n = 700; n < 10000; n += 4300) {
    check_special(variance, TC_F32, n);
    check_special(variance_bf16, TC_BF16, n);
  }
  CHECK(hits_of("variance") && hits_of("variance_bf16") && hits_of("variance_f16"));
  CHECK(hits_of("variance_f64") && hits_of("variance_of_sum"));
  CHECK(hits_of("norm") && hits_of("norm_bf16"));
  return 0;
}
