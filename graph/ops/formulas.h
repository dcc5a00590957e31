/* formulas.h - what the formulas of elementwise ops (formulas.def) are written with. */
#ifndef TC_FORMULAS_H
#define TC_FORMULAS_H

#include <math.h>
#include <stdint.h>

/* ---- conversion ------------------------------------------------------------------------------ */

/* A floating number as an integer of least .. most: towards zero; NaN is 0, what lies outside is
 * the nearest end.  The conversion itself is always in range, so that compilers may do it early
 * without undefined behaviour or an exception. */
static inline int64_t tc_f_to_int(double x, int64_t least, int64_t most) {
  const double lo = (double)least, hi = most == INT64_MAX ? 0x1.fffffffffffffp62 : (double)most;
  const double v = x == x ? x : 0, above = v > lo ? v : lo, inside = above < hi ? above : hi;
  return v > hi ? most : (int64_t)inside;
}

/* ---- floating -------------------------------------------------------------------------------- */

static inline double tc_f_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x; }
static inline double tc_f_sigmoid(double x) { return 1 / (1 + exp(-x)); }
/* x = mantissa 2^exponent, 0.5 <= |mantissa| < 1; what has no such form is its own mantissa,
 * exponent 0. */
static inline double tc_f_mantissa(double x) {
  int e;
  return frexp(x, &e);
}
static inline double tc_f_exponent(double x) {
  int e = 0;
  return fabs(x) < INFINITY && frexp(x, &e) != 0 ? e : 0;
}
static inline double tc_f_max(double a, double b) { return a > b || a != a ? a : b; } /* NaN wins */
static inline double tc_f_min(double a, double b) { return a < b || a != a ? a : b; }
static inline double tc_f_clamp(double x, double lo, double hi) {
  return tc_f_min(tc_f_max(x, lo), hi);
}
/* log(1+e^x) = max(x,0) + log1p(e^-|x|), which does not overflow. */
static inline double tc_f_softplus(double x) { return tc_f_max(x, 0) + log1p(exp(-fabs(x))); }
/* x*Phi(x) = x/2 * erfc(-x/sqrt(2)): no cancellation for negative x. */
static inline double tc_f_gelu(double x) { return 0.5 * x * erfc(-x * 0.70710678118654752440); }
/* -t log s(x) - (1-t) log(1 - s(x)), s the sigmoid: |x| times what the target is off by on the side
 * of x, and log1p(e^-|x|).  Where nothing is off, an infinite x costs nothing either. */
static inline double tc_f_bce_logits(double x, double t) {
  double off = x > 0 ? 1 - t : t;
  return (off == 0 ? 0 : fabs(x) * off) + log1p(exp(-fabs(x)));
}
static inline double tc_f_gelu_tanh(double x) {
  return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

/* Sign of b (Python's %). */
static inline double tc_f_remainder(double a, double b) {
  double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* floor of the exact quotient, as Python's //: a/b may round up to the next integer, a - fmod(a,b)
 * does not.  An infinite a has no remainder, and no floored quotient; a zero has the sign of
 * a/b. */
static inline double tc_f_floor_div(double a, double b) {
  double r = fmod(a, b), q = (a - r) / b;
  if (b == 0) return a / b;
  if (r != 0 && (r < 0) != (b < 0)) q -= 1;
  if (q == 0) return copysign(0, a / b);
  double f = floor(q);
  return q - f > 0.5 ? f + 1 : f;
}

/* ---- integers: unsigned arithmetic wraps ----------------------------------------------------- */

typedef uint64_t tc_u;

static inline int64_t tc_i_neg(int64_t x) { return (int64_t)(0 - (tc_u)x); }
static inline int64_t tc_i_add(int64_t x, int64_t y) { return (int64_t)((tc_u)x + (tc_u)y); }
static inline int64_t tc_i_sub(int64_t x, int64_t y) { return (int64_t)((tc_u)x - (tc_u)y); }
static inline int64_t tc_i_mul(int64_t x, int64_t y) { return (int64_t)((tc_u)x * (tc_u)y); }
static inline int64_t tc_i_max(int64_t x, int64_t y) { return x > y ? x : y; }
static inline int64_t tc_i_min(int64_t x, int64_t y) { return x < y ? x : y; }

/* Division by -1 apart: INT64_MIN / -1 overflows. */
static inline int64_t tc_i_fmod(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }
static inline int64_t tc_i_remainder(int64_t x, int64_t y) {
  int64_t r = tc_i_fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static inline int64_t tc_i_floor_div(int64_t x, int64_t y) {
  if (y == 0) return 0;
  if (y == -1) return tc_i_neg(x);
  return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

/* By squaring; a negative exponent gives the truncated reciprocal: 0 but for bases 1 and -1. */
static inline int64_t tc_i_pow(int64_t x, int64_t n) {
  if (n < 0) return x == 1 ? 1 : x == -1 ? (n % 2 ? -1 : 1) : 0;
  tc_u r = 1;
  for (tc_u base = (tc_u)x; n; n >>= 1, base *= base)
    if (n & 1) r *= base;
  return (int64_t)r;
}

/* `bits` of the result's dtype; counts outside [0, bits) shift everything out. */
static inline int64_t tc_i_shl(int64_t x, int64_t n, int bits) {
  return n < 0 || n >= bits ? 0 : (int64_t)((tc_u)x << n);
}
static inline int64_t tc_i_shr(int64_t x, int64_t n, int bits) {
  return n < 0 || n >= bits ? (x < 0 ? -1 : 0) : x >> n;
}

#endif
