/* scalar.c - elementwise ops on constants; see scalar.h.  The formulas are the runtime's. */
#include "graph/ops/scalar.h"

#include <stdio.h>

#include "graph/ops/formulas.h"
#include "graph/infer/infer_impl.h"

static tc_scalar_value of_int(tc_dtype dtype, uint64_t v) {
  int64_t i = tc_dtype_wrap(dtype, (int64_t)v);
  return (tc_scalar_value){dtype, (double)i, i};
}

static tc_scalar_value of_float(tc_dtype dtype, double v) {
  double f = tc_dtype_round(dtype, v);
  return (tc_scalar_value){dtype, f, 0};
}

static bool truth(tc_scalar_value v) { return tc_dtype_is_float(v.dtype) ? v.f != 0 : v.i != 0; }

/* ---- conversion ------------------------------------------------------------------------------ */

tc_scalar_value tc_scalar_convert(tc_scalar_value v, tc_dtype dtype) {
  bool from_float = tc_dtype_is_float(v.dtype);
  if (tc_dtype_is_float(dtype)) return of_float(dtype, from_float ? v.f : (double)v.i);
  return of_int(dtype, (uint64_t)(from_float ? tc_dtype_truncate(dtype, v.f) : v.i));
}

/* ---- formulas -------------------------------------------------------------------------------- */

#define ROW(op, formula)                                                                           \
  case OP_##op:                                                                                    \
    *out = formula;                                                                                \
    return true;

static bool float_formula(tc_op op, double x, double y, double z, double *out) {
  switch (op) {
#define TC_FLOAT1(op, formula) ROW(op, formula)
#define TC_FLOAT2(op, formula) ROW(op, formula)
#define TC_FLOAT3(op, formula) ROW(op, formula)
#define TC_INT1(op, formula)
#define TC_INT2(op, formula)
#define TC_INT3(op, formula)
#include "graph/ops/formulas.def"
  default:
    return false;
  }
}

/* `bits`: width of the result's dtype, 1 for bool. */
static bool int_formula(tc_op op, int bits, int64_t x, int64_t y, int64_t z, int64_t *out) {
  switch (op) {
#define TC_FLOAT1(op, formula)
#define TC_FLOAT2(op, formula)
#define TC_FLOAT3(op, formula)
#define TC_INT1(op, formula) ROW(op, formula)
#define TC_INT2(op, formula) ROW(op, formula)
#define TC_INT3(op, formula) ROW(op, formula)
#include "graph/ops/formulas.def"
  default:
    return false;
  }
}

static tc_scalar_value of_result(tc_dtype dtype, tc_dtype compute, double f, int64_t i) {
  if (tc_dtype_is_float(dtype)) return of_float(dtype, f);
  return of_int(dtype, tc_dtype_is_float(compute) ? f != 0 : (uint64_t)i);
}

/* As the runtime does: operands are converted to `compute`, the result to `dtype`.  (A floating
 * formula with an integer result is a test: its result is bool.) */
static bool apply(tc_op op, tc_dtype dtype, tc_dtype compute, int n, const tc_scalar_value *in,
                  tc_scalar_value *out) {
  tc_scalar_value v[3] = {{0}};
  double f = 0;
  int64_t i = 0;
  for (int k = 0; k < n; k++) v[k] = tc_scalar_convert(in[k], compute);
  int bits = dtype == TC_BOOL ? 1 : 8 * (int)tc_dtype_bytes(dtype);
  bool ok = tc_dtype_is_float(compute) ? float_formula(op, v[0].f, v[1].f, v[2].f, &f)
                                       : int_formula(op, bits, v[0].i, v[1].i, v[2].i, &i);
  if (ok) *out = of_result(dtype, compute, f, i);
  return ok;
}

bool tc_scalar_eval(tc_op op, tc_dtype dtype, tc_dtype common, int n, const tc_scalar_value *in,
                    tc_scalar_value *out) {
  if (n < 1 || n > 3) return false;
  if (op == OP_CAST || op == OP_WHERE) {
    *out = tc_scalar_convert(in[op == OP_CAST ? 0 : truth(in[0]) ? 1 : 2], dtype);
    return true;
  }
  return apply(op, dtype, dtype == TC_BOOL ? common : dtype, n, in, out);
}

/* ---- C scalars beside tensors ---------------------------------------------------------------- */

tc_scalar_use tc_scalar_use_of(tc_op op) {
  tc_infer_fn *const infer = tc_op_get(op)->infer;
  if (infer == infer_cmp) return TC_SCALAR_COMPARED;
  if (infer == infer_float || infer == infer_act) return TC_SCALAR_REAL;
  return infer == infer_bcast ? TC_SCALAR_BOUND : TC_SCALAR_VALUE;
}

/* For integers x: x < v where x < ceil v, x <= v where x <= floor v, and so on. */
static double whole_bound(tc_op op, double v) {
  return op == OP_LT || op == OP_GE ? ceil(v) : op == OP_LE || op == OP_GT ? floor(v) : v;
}

/* Of a number that is no value of the dtype: what holds of all of its values, or of none. */
static bool always(tc_op op, tc_dtype dtype, double v) {
  if (op == OP_NE) return true;
  if (v < (double)tc_dtype_least(dtype)) return op == OP_GT || op == OP_GE;
  return v > 0 && (op == OP_LT || op == OP_LE); /* too large; NaN is neither */
}

/* -2^63 is an i64, 2^63 is not. */
static bool holds(tc_dtype dtype, double v) {
  const int64_t i = tc_dtype_truncate(dtype, v);
  return (double)i == v && v < 0x1p63;
}

static tc_scalar_value compared(tc_op *op, tc_dtype dtype, double v) {
  const double bound = whole_bound(*op, v);
  if (holds(dtype, bound)) return of_int(dtype, (uint64_t)tc_dtype_truncate(dtype, bound));
  *op = always(*op, dtype, v) ? OP_GE : OP_LT;
  return of_int(dtype, (uint64_t)tc_dtype_least(dtype));
}

static bool misfit(tc_dtype dtype, const char *v, char *why) {
  snprintf(why, TC_SCALAR_TEXT, "%s does not fit %s, which holds %lld to %lld", v,
           tc_dtype_text(dtype), (long long)tc_dtype_least(dtype), (long long)tc_dtype_most(dtype));
  return false;
}

bool tc_scalar_int_fits(int64_t v, tc_dtype dtype, char *why) {
  char text[24];
  if (!tc_dtype_is_int(dtype) || tc_dtype_wrap(dtype, v) == v) return true;
  snprintf(text, sizeof text, "%lld", (long long)v);
  return misfit(dtype, text, why);
}

static bool number_fits(double v, tc_dtype dtype, char *why) {
  char text[32];
  if (holds(dtype, trunc(v))) return true;
  snprintf(text, sizeof text, "%.17g", v);
  return misfit(dtype, v == v ? text : "NaN", why);
}

bool tc_scalar_fit(tc_op *op, tc_dtype like, double v, tc_scalar_value *out, char *why) {
  const tc_scalar_use use = tc_scalar_use_of(*op);
  *out = (tc_scalar_value){TC_F64, v, 0};
  if (use == TC_SCALAR_REAL && !tc_dtype_is_float(like)) return true;
  if (use == TC_SCALAR_COMPARED && !tc_dtype_is_float(like)) {
    *out = compared(op, like, v);
    return true;
  }
  *out = tc_scalar_convert(*out, like);
  if (!tc_dtype_is_int(like) || (use == TC_SCALAR_BOUND && v == v)) return true;
  return number_fits(v, like, why);
}
