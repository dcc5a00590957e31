/* scalar.c - elementwise ops on constants; see scalar.h. */
#include "graph/scalar.h"

#include <math.h>

static tc_scalar_value of_int(tc_dtype dtype, uint64_t v) {
  int64_t i = tc_dtype_wrap(dtype, (int64_t)v);
  return (tc_scalar_value){dtype, (double)i, i};
}

static tc_scalar_value of_float(tc_dtype dtype, double v) {
  double f = tc_dtype_round(dtype, v);
  return (tc_scalar_value){dtype, f, 0};
}

static bool truth(tc_scalar_value v) { return tc_dtype_is_float(v.dtype) ? v.f != 0 : v.i != 0; }

static int64_t truncated(double v) { return fabs(v) < 0x1p63 ? (int64_t)v : INT64_MIN; }

tc_scalar_value tc_scalar_convert(tc_scalar_value v, tc_dtype dtype) {
  bool from_float = tc_dtype_is_float(v.dtype);
  if (dtype == TC_BOOL) return of_int(TC_BOOL, truth(v));
  if (tc_dtype_is_float(dtype)) return of_float(dtype, from_float ? v.f : (double)v.i);
  return of_int(dtype, (uint64_t)(from_float ? truncated(v.f) : v.i));
}

bool tc_scalar_converts(tc_scalar_value v, tc_dtype dtype) {
  if (!tc_dtype_is_float(v.dtype) || tc_dtype_is_float(dtype) || dtype == TC_BOOL) return true;
  if (!(fabs(v.f) < 0x1p63)) return false;
  int64_t i = truncated(v.f);
  return tc_dtype_wrap(dtype, i) == i;
}

/* ---- floating -------------------------------------------------------------------------------- */

static double round_even(double x) {
  double r = round(x);
  return fabs(x - trunc(x)) == 0.5 ? 2 * round(x / 2) : r;
}

static double sign(double x) { return isnan(x) ? x : (x > 0) - (x < 0); }

static bool float_unary(tc_op op, double x, double *y) {
  switch (op) {
  case OP_NEG:
    *y = -x;
    break;
  case OP_ABS:
    *y = fabs(x);
    break;
  case OP_SIGN:
    *y = sign(x);
    break;
  case OP_SQUARE:
    *y = x * x;
    break;
  case OP_SQRT:
    *y = sqrt(x);
    break;
  case OP_RSQRT:
    *y = 1 / sqrt(x);
    break;
  case OP_RECIPROCAL:
    *y = 1 / x;
    break;
  case OP_EXP:
    *y = exp(x);
    break;
  case OP_EXP2:
    *y = exp2(x);
    break;
  case OP_EXPM1:
    *y = expm1(x);
    break;
  case OP_LOG:
    *y = log(x);
    break;
  case OP_LOG2:
    *y = log2(x);
    break;
  case OP_LOG10:
    *y = log10(x);
    break;
  case OP_LOG1P:
    *y = log1p(x);
    break;
  case OP_SIN:
    *y = sin(x);
    break;
  case OP_COS:
    *y = cos(x);
    break;
  case OP_TAN:
    *y = tan(x);
    break;
  case OP_ASIN:
    *y = asin(x);
    break;
  case OP_ACOS:
    *y = acos(x);
    break;
  case OP_ATAN:
    *y = atan(x);
    break;
  case OP_SINH:
    *y = sinh(x);
    break;
  case OP_COSH:
    *y = cosh(x);
    break;
  case OP_TANH:
    *y = tanh(x);
    break;
  case OP_ASINH:
    *y = asinh(x);
    break;
  case OP_ACOSH:
    *y = acosh(x);
    break;
  case OP_ATANH:
    *y = atanh(x);
    break;
  case OP_ERF:
    *y = erf(x);
    break;
  case OP_ERFC:
    *y = erfc(x);
    break;
  case OP_SIGMOID:
    *y = 1 / (1 + exp(-x));
    break;
  case OP_FLOOR:
    *y = floor(x);
    break;
  case OP_CEIL:
    *y = ceil(x);
    break;
  case OP_ROUND:
    *y = round_even(x);
    break;
  case OP_TRUNC:
    *y = trunc(x);
    break;
  default:
    return false;
  }
  return true;
}

/* The result has the sign of b. */
static double remainder_of(double a, double b) {
  double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static double larger(double a, double b) { return isnan(a) || a > b ? a : b; }
static double smaller(double a, double b) { return isnan(a) || a < b ? a : b; }

static bool float_binary(tc_op op, double a, double b, double *y) {
  switch (op) {
  case OP_ADD:
    *y = a + b;
    break;
  case OP_SUB:
    *y = a - b;
    break;
  case OP_MUL:
    *y = a * b;
    break;
  case OP_DIV:
    *y = a / b;
    break;
  case OP_FLOORDIV:
    *y = floor(a / b);
    break;
  case OP_REMAINDER:
    *y = remainder_of(a, b);
    break;
  case OP_FMOD:
    *y = fmod(a, b);
    break;
  case OP_POW:
    *y = pow(a, b);
    break;
  case OP_MAXIMUM:
    *y = larger(a, b);
    break;
  case OP_MINIMUM:
    *y = smaller(a, b);
    break;
  case OP_ATAN2:
    *y = atan2(a, b);
    break;
  case OP_HYPOT:
    *y = hypot(a, b);
    break;
  case OP_COPYSIGN:
    *y = copysign(a, b);
    break;
  default:
    return false;
  }
  return true;
}

/* ---- integers -------------------------------------------------------------------------------- */

static bool int_unary(tc_op op, int64_t x, uint64_t *y) {
  switch (op) {
  case OP_NEG:
    *y = 0 - (uint64_t)x;
    break;
  case OP_ABS:
    *y = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    break;
  case OP_SIGN:
    *y = (uint64_t)((x > 0) - (x < 0));
    break;
  case OP_SQUARE:
    *y = (uint64_t)x * (uint64_t)x;
    break;
  case OP_FLOOR:
  case OP_CEIL:
  case OP_ROUND:
  case OP_TRUNC:
    *y = (uint64_t)x;
    break;
  case OP_BITNOT:
    *y = ~(uint64_t)x;
    break;
  default:
    return false;
  }
  return true;
}

/* x/0 is 0; -1 is apart because INT64_MIN / -1 overflows. */
static int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t trunc_mod(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

static int64_t floor_mod(int64_t a, int64_t b) {
  int64_t r = trunc_mod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static uint64_t int_pow(int64_t a, int64_t n) {
  if (n < 0) return a == 1 ? 1 : a == -1 ? (n & 1 ? (uint64_t)-1 : 1) : 0;
  uint64_t y = 1;
  for (uint64_t b = (uint64_t)a; n; n >>= 1, b *= b)
    if (n & 1) y *= b;
  return y;
}

static bool int_binary(tc_op op, tc_dtype dtype, int64_t a, int64_t b, uint64_t *y) {
  int bits = (int)tc_dtype_bytes(dtype) * 8;
  bool counts = b >= 0 && b < bits;
  uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
  switch (op) {
  case OP_ADD:
    *y = ua + ub;
    break;
  case OP_SUB:
    *y = ua - ub;
    break;
  case OP_MUL:
    *y = ua * ub;
    break;
  case OP_FLOORDIV:
    *y = (uint64_t)floor_div(a, b);
    break;
  case OP_REMAINDER:
    *y = (uint64_t)floor_mod(a, b);
    break;
  case OP_FMOD:
    *y = (uint64_t)trunc_mod(a, b);
    break;
  case OP_POW:
    *y = int_pow(a, b);
    break;
  case OP_MAXIMUM:
    *y = a > b ? ua : ub;
    break;
  case OP_MINIMUM:
    *y = a < b ? ua : ub;
    break;
  case OP_BITAND:
    *y = ua & ub;
    break;
  case OP_BITOR:
    *y = ua | ub;
    break;
  case OP_BITXOR:
    *y = ua ^ ub;
    break;
  case OP_SHL:
    *y = counts ? ua << ub : 0;
    break;
  case OP_SHR:
    *y = counts ? (uint64_t)(a >> b) : a < 0 ? UINT64_MAX : 0;
    break;
  default:
    return false;
  }
  return true;
}

/* ---- truth values ---------------------------------------------------------------------------- */

static bool test(tc_op op, tc_scalar_value v, bool *y) {
  bool is_float = tc_dtype_is_float(v.dtype);
  switch (op) {
  case OP_ISNAN:
    *y = is_float && isnan(v.f);
    break;
  case OP_ISINF:
    *y = is_float && isinf(v.f);
    break;
  case OP_ISFINITE:
    *y = !is_float || isfinite(v.f);
    break;
  case OP_NOT:
    *y = !truth(v);
    break;
  default:
    return false;
  }
  return true;
}

static bool logic(tc_op op, bool a, bool b, bool *y) {
  switch (op) {
  case OP_AND:
    *y = a && b;
    break;
  case OP_OR:
    *y = a || b;
    break;
  case OP_XOR:
    *y = a != b;
    break;
  default:
    return false;
  }
  return true;
}

#define COMPARE(a, b)                                                                              \
  switch (op) {                                                                                    \
  case OP_EQ:                                                                                      \
    *y = a == b;                                                                                   \
    return true;                                                                                   \
  case OP_NE:                                                                                      \
    *y = a != b;                                                                                   \
    return true;                                                                                   \
  case OP_LT:                                                                                      \
    *y = a < b;                                                                                    \
    return true;                                                                                   \
  case OP_LE:                                                                                      \
    *y = a <= b;                                                                                   \
    return true;                                                                                   \
  case OP_GT:                                                                                      \
    *y = a > b;                                                                                    \
    return true;                                                                                   \
  case OP_GE:                                                                                      \
    *y = a >= b;                                                                                   \
    return true;                                                                                   \
  default:                                                                                         \
    return false;                                                                                  \
  }
static bool compare_floats(tc_op op, double a, double b, bool *y) { COMPARE(a, b) }
static bool compare_ints(tc_op op, int64_t a, int64_t b, bool *y) { COMPARE(a, b) }
#undef COMPARE

/* ---- by operand count ------------------------------------------------------------------------ */

static bool eval_unary(tc_op op, tc_dtype dtype, tc_scalar_value v, tc_scalar_value *out) {
  bool b;
  double f;
  uint64_t i;
  if (op == OP_CAST) {
    if (!tc_scalar_converts(v, dtype)) return false;
    *out = tc_scalar_convert(v, dtype);
    return true;
  }
  if (test(op, v, &b)) {
    *out = of_int(TC_BOOL, b);
    return true;
  }
  if (tc_dtype_is_float(dtype)) {
    if (!float_unary(op, tc_scalar_convert(v, dtype).f, &f)) return false;
    *out = of_float(dtype, f);
    return true;
  }
  if (dtype == TC_BOOL && op == OP_BITNOT) return eval_unary(OP_NOT, dtype, v, out);
  if (!int_unary(op, tc_scalar_convert(v, dtype).i, &i)) return false;
  *out = of_int(dtype, i);
  return true;
}

static bool eval_compare(tc_op op, const tc_scalar_value *in, tc_dtype common, bool *y) {
  if (logic(op, truth(in[0]), truth(in[1]), y)) return true;
  tc_scalar_value a = tc_scalar_convert(in[0], common), b = tc_scalar_convert(in[1], common);
  return tc_dtype_is_float(common) ? compare_floats(op, a.f, b.f, y)
                                   : compare_ints(op, a.i, b.i, y);
}

static bool eval_binary(tc_op op, tc_dtype dtype, tc_dtype common, const tc_scalar_value *in,
                        tc_scalar_value *out) {
  bool t;
  double f;
  uint64_t i;
  if (dtype == TC_BOOL && eval_compare(op, in, common, &t)) {
    *out = of_int(TC_BOOL, t);
    return true;
  }
  if (!tc_scalar_converts(in[0], dtype) || !tc_scalar_converts(in[1], dtype)) return false;
  tc_scalar_value a = tc_scalar_convert(in[0], dtype), b = tc_scalar_convert(in[1], dtype);
  if (tc_dtype_is_float(dtype)) {
    if (!float_binary(op, a.f, b.f, &f)) return false;
    *out = of_float(dtype, f);
    return true;
  }
  if (!int_binary(op, dtype, a.i, b.i, &i)) return false;
  *out = of_int(dtype, i);
  return true;
}

static bool eval_ternary(tc_op op, tc_dtype dtype, const tc_scalar_value *in,
                         tc_scalar_value *out) {
  if (op == OP_WHERE) return eval_unary(OP_CAST, dtype, in[truth(in[0]) ? 1 : 2], out);
  if (op != OP_FMA) return false;
  tc_scalar_value a = tc_scalar_convert(in[0], dtype), b = tc_scalar_convert(in[1], dtype);
  tc_scalar_value c = tc_scalar_convert(in[2], dtype);
  if (tc_dtype_is_float(dtype)) *out = of_float(dtype, fma(a.f, b.f, c.f));
  else *out = of_int(dtype, (uint64_t)a.i * (uint64_t)b.i + (uint64_t)c.i);
  return true;
}

bool tc_scalar_eval(tc_op op, tc_dtype dtype, tc_dtype common, int n, const tc_scalar_value *in,
                    tc_scalar_value *out) {
  if (n == 1) return eval_unary(op, dtype, in[0], out);
  if (n == 2) return eval_binary(op, dtype, common, in, out);
  return n == 3 && eval_ternary(op, dtype, in, out);
}
