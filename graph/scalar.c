/* scalar.c - elementwise ops on constants; see scalar.h.  The formulas are the runtime's. */
#include "graph/scalar.h"

#include "graph/formulas.h"

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
#include "graph/formulas.def"
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
#include "graph/formulas.def"
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
  for (int k = 0; k < n; k++) {
    if (!tc_scalar_converts(in[k], compute)) return false;
    v[k] = tc_scalar_convert(in[k], compute);
  }
  int bits = dtype == TC_BOOL ? 1 : 8 * (int)tc_dtype_bytes(dtype);
  bool ok = tc_dtype_is_float(compute) ? float_formula(op, v[0].f, v[1].f, v[2].f, &f)
                                       : int_formula(op, bits, v[0].i, v[1].i, v[2].i, &i);
  if (ok) *out = of_result(dtype, compute, f, i);
  return ok;
}

static bool convert(tc_scalar_value v, tc_dtype dtype, tc_scalar_value *out) {
  if (!tc_scalar_converts(v, dtype)) return false;
  *out = tc_scalar_convert(v, dtype);
  return true;
}

bool tc_scalar_eval(tc_op op, tc_dtype dtype, tc_dtype common, int n, const tc_scalar_value *in,
                    tc_scalar_value *out) {
  if (n < 1 || n > 3) return false;
  if (op == OP_CAST) return convert(in[0], dtype, out);
  if (op == OP_WHERE) return convert(in[truth(in[0]) ? 1 : 2], dtype, out);
  return apply(op, dtype, dtype == TC_BOOL ? common : dtype, n, in, out);
}
