/* formulas.h - one formula per elementwise op, for floating values (double) and for integers.
 *
 * A floating op is its mathematical definition in double; the result is rounded once to the dtype.
 * Integers are int64_t with the value of the element; results keep the low bits of their dtype.
 * Bool is the integers 0 and 1, any other result means 1. */
#ifndef TC_FORMULAS_H
#define TC_FORMULAS_H

#include <math.h>
#include <stdint.h>

/* ---- floating ---------------------------------------------------------------------------------- */

static inline double tc_f_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static inline double tc_f_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static inline double tc_f_max(double a, double b) { return a > b || a != a ? a : b; } /* NaN wins */
static inline double tc_f_min(double a, double b) { return a < b || a != a ? a : b; }
static inline double tc_f_clamp(double x, double lo, double hi) { return tc_f_min(tc_f_max(x, lo), hi); }
/* log(1+e^x) = max(x,0) + log1p(e^-|x|), which does not overflow. */
static inline double tc_f_softplus(double x) { return tc_f_max(x, 0) + log1p(exp(-fabs(x))); }
/* x*Phi(x) = x/2 * erfc(-x/sqrt(2)): no cancellation for negative x. */
static inline double tc_f_gelu(double x) { return 0.5 * x * erfc(-x * 0.70710678118654752440); }
static inline double tc_f_gelu_tanh(double x) {
  return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

/* Sign of b (Python's %). */
static inline double tc_f_remainder(double a, double b) {
  double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* floor of the exact quotient: a/b may round up to the next integer, a - fmod(a,b) does not. */
static inline double tc_f_floor_div(double a, double b) {
  double r = fmod(a, b), q = (a - r) / b;
  if (b == 0 || isinf(a) || q != q) return floor(a / b);
  if (r != 0 && (r < 0) != (b < 0)) q -= 1;
  double f = floor(q);
  return q - f > 0.5 ? f + 1 : f;
}

#define TC_FLOAT_UNARY(X)                                                                          \
  X(NEG, -x) X(ABS, fabs(x)) X(SIGN, tc_f_sign(x)) X(SQUARE, x * x) X(SQRT, sqrt(x))               \
  X(RSQRT, 1 / sqrt(x)) X(RECIPROCAL, 1 / x) X(EXP, exp(x)) X(EXP2, exp2(x)) X(EXPM1, expm1(x))    \
  X(LOG, log(x)) X(LOG2, log2(x)) X(LOG10, log10(x)) X(LOG1P, log1p(x)) X(SIN, sin(x))             \
  X(COS, cos(x)) X(TAN, tan(x)) X(ASIN, asin(x)) X(ACOS, acos(x)) X(ATAN, atan(x))                 \
  X(SINH, sinh(x)) X(COSH, cosh(x)) X(TANH, tanh(x)) X(ASINH, asinh(x)) X(ACOSH, acosh(x))         \
  X(ATANH, atanh(x)) X(ERF, erf(x)) X(ERFC, erfc(x)) X(SIGMOID, tc_f_sigmoid(x))                   \
  X(FLOOR, floor(x)) X(CEIL, ceil(x)) X(ROUND, rint(x)) X(TRUNC, trunc(x)) X(ISNAN, x != x)        \
  X(ISINF, fabs(x) == INFINITY) X(ISFINITE, fabs(x) < INFINITY) X(NOT, x == 0)                     \
  X(RELU, x < 0 ? 0 : x) X(RELU6, tc_f_clamp(x, 0, 6)) X(SILU, x * tc_f_sigmoid(x))                \
  X(GELU, tc_f_gelu(x)) X(GELU_TANH, tc_f_gelu_tanh(x)) X(SOFTPLUS, tc_f_softplus(x))              \
  X(MISH, x * tanh(tc_f_softplus(x))) X(HARDSWISH, x * tc_f_clamp(x + 3, 0, 6) / 6)                \
  X(HARDSIGMOID, tc_f_clamp(x + 3, 0, 6) / 6)

#define TC_FLOAT_BINARY(X)                                                                         \
  X(ADD, x + y) X(SUB, x - y) X(MUL, x * y) X(DIV, x / y) X(FLOORDIV, tc_f_floor_div(x, y))        \
  X(REMAINDER, tc_f_remainder(x, y)) X(FMOD, fmod(x, y)) X(POW, pow(x, y))                         \
  X(MAXIMUM, tc_f_max(x, y)) X(MINIMUM, tc_f_min(x, y)) X(ATAN2, atan2(x, y))                      \
  X(HYPOT, hypot(x, y)) X(COPYSIGN, copysign(x, y)) X(EQ, x == y) X(NE, x != y) X(LT, x < y)       \
  X(LE, x <= y) X(GT, x > y) X(GE, x >= y) X(AND, x != 0 && y != 0) X(OR, x != 0 || y != 0)        \
  X(XOR, (x != 0) != (y != 0)) X(LEAKY_RELU, x > 0 ? x : y * x) X(ELU, x > 0 ? x : y * expm1(x))

#define TC_FLOAT_TERNARY(X)                                                                        \
  X(FMA, fma(x, y, z)) X(CLAMP, tc_f_clamp(x, y, z)) X(LERP, x + z * (y - x))

/* ---- integers: unsigned arithmetic wraps ------------------------------------------------------------ */

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

#define TC_INT_UNARY(X)                                                                            \
  X(NEG, tc_i_neg(x)) X(ABS, x < 0 ? tc_i_neg(x) : x) X(SIGN, (x > 0) - (x < 0))                   \
  X(SQUARE, tc_i_mul(x, x)) X(FLOOR, x) X(CEIL, x) X(ROUND, x) X(TRUNC, x) X(ISNAN, 0) X(ISINF, 0) \
  X(ISFINITE, 1) X(NOT, x == 0) X(BITNOT, bits == 1 ? !x : ~x) X(RELU, tc_i_max(x, 0))             \
  X(RELU6, tc_i_min(tc_i_max(x, 0), 6))

#define TC_INT_BINARY(X)                                                                           \
  X(ADD, tc_i_add(x, y)) X(SUB, tc_i_sub(x, y)) X(MUL, tc_i_mul(x, y))                             \
  X(FLOORDIV, tc_i_floor_div(x, y)) X(REMAINDER, tc_i_remainder(x, y)) X(FMOD, tc_i_fmod(x, y))    \
  X(POW, tc_i_pow(x, y)) X(MAXIMUM, tc_i_max(x, y)) X(MINIMUM, tc_i_min(x, y)) X(EQ, x == y)       \
  X(NE, x != y) X(LT, x < y) X(LE, x <= y) X(GT, x > y) X(GE, x >= y) X(AND, x && y)               \
  X(OR, x || y) X(XOR, !x != !y) X(BITAND, x & y) X(BITOR, x | y) X(BITXOR, x ^ y)                 \
  X(SHL, tc_i_shl(x, y, bits)) X(SHR, tc_i_shr(x, y, bits))

#define TC_INT_TERNARY(X)                                                                          \
  X(FMA, tc_i_add(tc_i_mul(x, y), z)) X(CLAMP, tc_i_min(tc_i_max(x, y), z))

#endif
