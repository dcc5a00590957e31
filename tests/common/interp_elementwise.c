/* interp_elementwise.c - creation and elementwise ops. */
#include "tests/common/interp_impl.h"
#include "runtime/libtcrt/src/eager/philox.h"

#include <math.h>

#include "graph/ops/scalar.h"

/* ---- one operand ----------------------------------------------------------------------------- */

static double softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }
static double ramp(double x) { return isnan(x) ? x : fmin(fmax(x + 3, 0), 6); }
static double half_even(double x) {
  double f = floor(x), d = x - f;
  return d < 0.5 ? f : d > 0.5 ? f + 1 : fmod(f, 2) == 0 ? f : f + 1;
}

/* What has no case of its own below. */
static double by_formula(tc_op op, int n, double x, double y) {
  const tc_scalar_value in[] = {{.dtype = TC_F64, .f = x}, {.dtype = TC_F64, .f = y}};
  tc_scalar_value out;
  return tc_scalar_eval(op, TC_F64, TC_F64, n, in, &out) ? out.f : NAN;
}

static double unary_f(tc_op op, double x) {
  switch (op) {
  case OP_NEG:
    return -x;
  case OP_ABS:
    return fabs(x);
  case OP_SIGN:
    return isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0;
  case OP_SQUARE:
    return x * x;
  case OP_SQRT:
    return sqrt(x);
  case OP_RSQRT:
    return 1 / sqrt(x);
  case OP_RECIPROCAL:
    return 1 / x;
  case OP_EXP:
    return exp(x);
  case OP_EXP2:
    return exp2(x);
  case OP_EXPM1:
    return expm1(x);
  case OP_LOG:
    return log(x);
  case OP_LOG2:
    return log2(x);
  case OP_LOG10:
    return log10(x);
  case OP_LOG1P:
    return log1p(x);
  case OP_SIN:
    return sin(x);
  case OP_COS:
    return cos(x);
  case OP_TAN:
    return tan(x);
  case OP_ASIN:
    return asin(x);
  case OP_ACOS:
    return acos(x);
  case OP_ATAN:
    return atan(x);
  case OP_SINH:
    return sinh(x);
  case OP_COSH:
    return cosh(x);
  case OP_TANH:
    return tanh(x);
  case OP_ASINH:
    return asinh(x);
  case OP_ACOSH:
    return acosh(x);
  case OP_ATANH:
    return atanh(x);
  case OP_ERF:
    return erf(x);
  case OP_ERFC:
    return erfc(x);
  case OP_SIGMOID:
    return 1 / (1 + exp(-x));
  case OP_FLOOR:
    return floor(x);
  case OP_CEIL:
    return ceil(x);
  case OP_ROUND:
    return isfinite(x) ? copysign(half_even(x), x) : x;
  case OP_TRUNC:
    return trunc(x);
  case OP_MANTISSA:
    return isfinite(x) && x != 0 ? ldexp(x, -(ilogb(x) + 1)) : x;
  case OP_EXPONENT:
    return isfinite(x) && x != 0 ? ilogb(x) + 1 : 0;
  case OP_ISNAN:
    return isnan(x);
  case OP_ISINF:
    return isinf(x);
  case OP_ISFINITE:
    return isfinite(x);
  case OP_NOT:
    return x == 0;
  case OP_RELU:
    return isnan(x) || x > 0 ? x : 0;
  case OP_RELU6:
    return isnan(x) ? x : fmin(fmax(x, 0), 6);
  case OP_SILU:
    return x / (1 + exp(-x));
  case OP_GELU:
    return x * 0.5 * erfc(-x * sqrt(0.5));
  case OP_GELU_TANH:
    return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
  case OP_SOFTPLUS:
    return softplus(x);
  case OP_MISH:
    return x * tanh(softplus(x));
  case OP_HARDSWISH:
    return x * ramp(x) / 6;
  case OP_HARDSIGMOID:
    return ramp(x) / 6;
  case OP_CAST:
    return x;
  default:
    return by_formula(op, 1, x, 0);
  }
}

static int64_t unary_i(tc_op op, int64_t x) {
  switch (op) {
  case OP_NEG:
    return (int64_t)(0 - (uint64_t)x);
  case OP_ABS:
    return x < 0 ? (int64_t)(0 - (uint64_t)x) : x;
  case OP_SIGN:
    return (x > 0) - (x < 0);
  case OP_SQUARE:
    return (int64_t)((uint64_t)x * (uint64_t)x);
  case OP_BITNOT:
    return ~x;
  case OP_RELU:
    return x > 0 ? x : 0;
  case OP_RELU6:
    return x < 0 ? 0 : x > 6 ? 6 : x;
  default:
    return x; /* rounding ops, CAST */
  }
}

/* ---- two operands ---------------------------------------------------------------------------- */

static double remainder_f(double a, double b) {
  double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static double binary_f(tc_op op, double a, double b) {
  switch (op) {
  case OP_ADD:
    return a + b;
  case OP_SUB:
    return a - b;
  case OP_MUL:
    return a * b;
  case OP_DIV:
    return a / b;
  case OP_FLOORDIV:
    return b != 0 && isinf(a) ? NAN : floor(a / b);
  case OP_REMAINDER:
    return remainder_f(a, b);
  case OP_FMOD:
    return fmod(a, b);
  case OP_POW:
    return pow(a, b);
  case OP_MAXIMUM:
    return isnan(a) ? a : isnan(b) ? b : fmax(a, b);
  case OP_MINIMUM:
    return isnan(a) ? a : isnan(b) ? b : fmin(a, b);
  case OP_ATAN2:
    return atan2(a, b);
  case OP_HYPOT:
    return hypot(a, b);
  case OP_COPYSIGN:
    return copysign(a, b);
  case OP_LEAKY_RELU:
    return a > 0 ? a : a * b;
  case OP_ELU:
    return a > 0 ? a : b * expm1(a);
  default:
    return by_formula(op, 2, a, b);
  }
}

static int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  return a / b - ((a % b != 0) && ((a % b < 0) != (b < 0)));
}

static int64_t power_i(int64_t a, int64_t n) {
  if (n < 0) return a == 1 ? 1 : a == -1 ? (n % 2 ? -1 : 1) : 0;
  uint64_t y = 1;
  for (int64_t k = 0; k < n; k++) y *= (uint64_t)a;
  return (int64_t)y;
}

static int64_t shift_i(tc_op op, tc_dtype dtype, int64_t a, int64_t n) {
  int bits = (int)tc_dtype_bytes(dtype) * 8;
  bool inside = n >= 0 && n < bits;
  if (op == OP_SHL) return inside ? (int64_t)((uint64_t)a << n) : 0;
  return inside ? a >> n : a < 0 ? -1 : 0;
}

static int64_t binary_i(tc_op op, tc_dtype dtype, int64_t a, int64_t b) {
  uint64_t x = (uint64_t)a, y = (uint64_t)b;
  switch (op) {
  case OP_ADD:
    return (int64_t)(x + y);
  case OP_SUB:
    return (int64_t)(x - y);
  case OP_MUL:
    return (int64_t)(x * y);
  case OP_FLOORDIV:
    return floor_div(a, b);
  case OP_REMAINDER:
    return b ? (int64_t)(x - y * (uint64_t)floor_div(a, b)) : 0;
  case OP_FMOD:
    return b == 0 || b == -1 ? 0 : a % b;
  case OP_POW:
    return power_i(a, b);
  case OP_MAXIMUM:
    return a > b ? a : b;
  case OP_MINIMUM:
    return a < b ? a : b;
  case OP_BITAND:
    return a & b;
  case OP_BITOR:
    return a | b;
  case OP_BITXOR:
    return a ^ b;
  default:
    return shift_i(op, dtype, a, b);
  }
}

static bool compare(tc_op op, double a, double b) {
  switch (op) {
  case OP_EQ:
    return a == b;
  case OP_NE:
    return a != b;
  case OP_LT:
    return a < b;
  case OP_LE:
    return a <= b;
  case OP_GT:
    return a > b;
  case OP_GE:
    return a >= b;
  case OP_AND:
    return a != 0 && b != 0;
  case OP_OR:
    return a != 0 || b != 0;
  default:
    return (a != 0) != (b != 0);
  }
}

static bool is_comparison(tc_op op) { return op >= OP_EQ && op <= OP_XOR; }
static bool is_test(tc_op op) { return op >= OP_ISNAN && op <= OP_NOT; }

/* ---- elements -------------------------------------------------------------------------------- */

/* Operand k at the broadcast index, as the result's dtype. */
static double arg_f(interp_node *e, int k, const int64_t *index) {
  return interp_get(e->in[k], interp_at(e->in[k], index, e->out->rank));
}

static int64_t arg_i(interp_node *e, int k, const int64_t *index) {
  const interp_array *a = e->in[k];
  return tc_dtype_wrap(e->out->dtype, interp_int(a, interp_at(a, index, e->out->rank)));
}

/* Numbers are compared in the dtype that they promote to: a tensor of rank 0 beside others may be wider,
 * and is converted to theirs.  (Expressions of the loop IR, without a graph, convert before.) */
static bool compared(interp_node *e, const int64_t *index) {
  const tc_graph *g = e->run->g;
  const tc_op op = e->n->op;
  const tc_dtype d =
      g ? tc_promote(tc_graph_type(g, e->n->in[0]), tc_graph_type(g, e->n->in[1])) : TC_F64;
  double v[2];
  for (int k = 0; k < 2; k++) {
    const interp_array *a = e->in[k];
    const bool wraps = op <= OP_GE && tc_dtype_is_int(d) && !a->f;
    const int64_t at = interp_at(a, index, e->out->rank);
    v[k] = wraps ? (double)tc_dtype_wrap(d, interp_int(a, at)) : interp_get(a, at);
  }
  return compare(op, v[0], v[1]);
}

static double clamp_f(double x, double lo, double hi) {
  return binary_f(OP_MINIMUM, binary_f(OP_MAXIMUM, x, lo), hi);
}

static void ternary(interp_node *e, const int64_t *index, int64_t k) {
  interp_array *y = e->out;
  tc_op op = e->n->op;
  if (op == OP_WHERE || op == OP_MASKED_FILL) {
    bool mask = arg_f(e, op == OP_WHERE ? 0 : 1, index) != 0;
    int from = op == OP_WHERE ? (mask ? 1 : 2) : (mask ? 2 : 0);
    interp_copy(y, k, e->in[from], interp_at(e->in[from], index, y->rank));
  } else if (y->f) {
    double a = arg_f(e, 0, index), b = arg_f(e, 1, index), c = arg_f(e, 2, index);
    y->f[k] = op == OP_FMA ? a * b + c : op == OP_LERP ? a + c * (b - a) : clamp_f(a, b, c);
  } else {
    int64_t a = arg_i(e, 0, index), b = arg_i(e, 1, index), c = arg_i(e, 2, index);
    int64_t clamped = binary_i(OP_MINIMUM, y->dtype, binary_i(OP_MAXIMUM, y->dtype, a, b), c);
    uint64_t sum = (uint64_t)a * (uint64_t)b + (uint64_t)c;
    y->i[k] = tc_dtype_wrap(y->dtype, op == OP_FMA ? (int64_t)sum : clamped);
  }
}

static void pointwise(interp_node *e, const int64_t *index, int64_t k) {
  interp_array *y = e->out;
  tc_op op = e->n->op;
  if (e->n->nin == 3) ternary(e, index, k);
  else if (op == OP_CAST) interp_copy(y, k, e->in[0], k);
  else if (is_comparison(op)) y->i[k] = compared(e, index);
  else if (is_test(op)) y->i[k] = unary_f(op, arg_f(e, 0, index)) != 0;
  else if (op == OP_BITNOT && y->dtype == TC_BOOL) y->i[k] = !arg_i(e, 0, index);
  else if (e->n->nin == 1)
    if (y->f) y->f[k] = unary_f(op, arg_f(e, 0, index));
    else y->i[k] = tc_dtype_wrap(y->dtype, unary_i(op, arg_i(e, 0, index)));
  else if (y->f) y->f[k] = binary_f(op, arg_f(e, 0, index), arg_f(e, 1, index));
  else
    y->i[k] =
        tc_dtype_wrap(y->dtype, binary_i(op, y->dtype, arg_i(e, 0, index), arg_i(e, 1, index)));
}

/* tril keeps j - i <= k, triu keeps j - i >= k, of the last two axes. */
static void triangle(interp_node *e, const int64_t *index, int64_t k) {
  int64_t d = index[e->out->rank - 1] - index[e->out->rank - 2], limit = interp_attr(e, "k");
  if (e->n->op == OP_TRIL ? d <= limit : d >= limit) interp_copy(e->out, k, e->in[0], k);
}

/* ---- creation -------------------------------------------------------------------------------- */

static double random_value(tc_op op, tc_dtype dtype, uint64_t seed, uint64_t i) {
  if (op == OP_RANDN)
    return dtype == TC_F64 ? tc_philox_normal_f64(seed, i) : tc_philox_normal_f32(seed, i);
  switch (dtype) {
  case TC_F64:
    return tc_philox_uniform_f64(seed, i);
  case TC_F16:
    return tc_philox_uniform_f16(seed, i);
  case TC_BF16:
    return tc_philox_uniform_bf16(seed, i);
  default:
    return tc_philox_uniform_f32(seed, i);
  }
}

/* Integers wrap, as where the arithmetic is theirs. */
static void arange(interp_array *y, int64_t k, double v) {
  interp_array whole = {.dtype = TC_I64, .count = 1, .i = (int64_t[1]){0}};
  if (y->f || y->dtype == TC_BOOL) {
    interp_set(y, k, v);
    return;
  }
  interp_set(&whole, 0, v);
  interp_copy(y, k, &whole, 0);
}

static void create(interp_node *e, const int64_t *index, int64_t k) {
  interp_array *y = e->out;
  switch (e->n->op) {
  case OP_FULL:
    interp_copy(y, k, e->in[0], 0);
    break;
  case OP_ARANGE:
    arange(y, k, interp_get(e->in[0], 0) + (double)k * interp_get(e->in[1], 0));
    break;
  case OP_EYE:
    interp_set(y, k, index[0] == index[1]);
    break;
  default:
    y->f[k] = random_value(e->n->op, y->dtype, (uint64_t)interp_int(e->in[0], 0), (uint64_t)k);
  }
}

bool interp_elementwise(interp_node *e) {
  int64_t index[TC_MAX_RANK] = {0}, k = 0;
  bool creation = tc_op_get(e->n->op)->cls == TC_CLASS_GEN;
  bool tri = e->n->op == OP_TRIL || e->n->op == OP_TRIU;
  if (interp_empty(e->out)) return true;
  do {
    if (creation) create(e, index, k);
    else if (tri) triangle(e, index, k);
    else pointwise(e, index, k);
    k++;
  } while (interp_next(index, e->out->rank, e->out->dim));
  return true;
}
