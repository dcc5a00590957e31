/* Element types, promotion, and types as text for messages. */
#include "graph/graph.h"

#include "graph/ops/formulas.h"

#include <math.h>
#include <string.h>

/* ---- element types --------------------------------------------------------------------------- */

static const struct {
  const char *text;
  uint8_t bytes;
  int64_t least, most; /* of integers and bool */
} dtypes[TC_DTYPE_COUNT] = {
    [TC_BOOL] = {"bool", 1, 0, 1},
    [TC_U8] = {"u8", 1, 0, UINT8_MAX},
    [TC_I8] = {"i8", 1, INT8_MIN, INT8_MAX},
    [TC_I16] = {"i16", 2, INT16_MIN, INT16_MAX},
    [TC_I32] = {"i32", 4, INT32_MIN, INT32_MAX},
    [TC_I64] = {"i64", 8, INT64_MIN, INT64_MAX},
    [TC_F16] = {"f16", 2, 0, 0},
    [TC_BF16] = {"bf16", 2, 0, 0},
    [TC_F32] = {"f32", 4, 0, 0},
    [TC_F64] = {"f64", 8, 0, 0},
};

bool tc_dtype_is_float(tc_dtype d) { return d >= TC_F16 && d <= TC_F64; }
bool tc_dtype_is_int(tc_dtype d) { return d >= TC_U8 && d <= TC_I64; }
size_t tc_dtype_bytes(tc_dtype d) { return d < TC_DTYPE_COUNT ? dtypes[d].bytes : 0; }
const char *tc_dtype_text(tc_dtype d) { return d < TC_DTYPE_COUNT ? dtypes[d].text : "?"; }

bool tc_dtype_parse(const char *text, size_t n, tc_dtype *d) {
  for (int i = 0; i < TC_DTYPE_COUNT; i++)
    if (strlen(dtypes[i].text) == n && !memcmp(dtypes[i].text, text, n))
      return *d = (tc_dtype)i, true;
  return false;
}

/* ---- rounding to a type ---------------------------------------------------------------------- */

/* v to `digits` significant bits, half to even; exponents below `least` lose bits (denormals). */
static double round_bits(double v, int digits, int least, double largest) {
  int e;
  if (v == 0 || !isfinite(v)) return v;
  frexp(v, &e); /* 2^(e-1) <= |v| < 2^e */
  int unit = (e < least ? least : e) - digits;
  double r = ldexp(nearbyint(ldexp(v, -unit)), unit);
  return fabs(r) > largest ? copysign(INFINITY, v) : copysign(r, v);
}

double tc_dtype_round(tc_dtype d, double v) {
  switch (d) {
  case TC_F16:
    return round_bits(v, 11, -13, 65504);
  case TC_BF16:
    return round_bits(v, 8, -125, 0x1.FEp127);
  case TC_F32:
    return (double)(float)v;
  default:
    return v;
  }
}

int64_t tc_dtype_wrap(tc_dtype d, int64_t v) {
  switch (d) {
  case TC_BOOL:
    return v != 0;
  case TC_U8:
    return (uint8_t)v;
  case TC_I8:
    return (int8_t)(uint8_t)v;
  case TC_I16:
    return (int16_t)(uint16_t)v;
  case TC_I32:
    return (int32_t)(uint32_t)v;
  default:
    return v;
  }
}

int64_t tc_dtype_least(tc_dtype d) { return dtypes[d].least; }
int64_t tc_dtype_most(tc_dtype d) { return dtypes[d].most; }

int64_t tc_dtype_truncate(tc_dtype d, double v) {
  return d == TC_BOOL ? v != 0 : tc_f_to_int(v, dtypes[d].least, dtypes[d].most);
}

/* ---- promotion ------------------------------------------------------------------------------- */

/* bool < integers < floats; the wider wins; no type of its category holds both: the next wider. */
static tc_dtype join(tc_dtype a, tc_dtype b) {
  tc_dtype lo = a < b ? a : b, hi = a < b ? b : a;
  if (lo == TC_F16 && hi == TC_BF16) return TC_F32;
  if (lo == TC_U8 && hi == TC_I8) return TC_I16;
  return hi;
}

static int category(tc_dtype d) { return d == TC_BOOL ? 0 : tc_dtype_is_int(d) ? 1 : 2; }

static const tc_dtype NONE = TC_DTYPE_COUNT;

/* A lower level counts only if its category is higher; a weak float is then f32. */
static tc_dtype combine(tc_dtype upper, tc_dtype lower, bool lower_weak) {
  if (upper == NONE) return lower;
  if (lower == NONE || category(lower) <= category(upper)) return upper;
  return lower_weak && tc_dtype_is_float(lower) ? TC_F32 : lower;
}

tc_dtype tc_promote_all(const tc_type *const *t, int n) {
  tc_dtype level[3] = {NONE, NONE, NONE}; /* rank >= 1, rank 0, weak */
  for (int i = 0; i < n; i++) {
    if (!t[i]) continue;
    tc_dtype *l = &level[t[i]->weak ? 2 : t[i]->rank == 0], d = (tc_dtype)t[i]->dtype;
    *l = *l == NONE ? d : join(*l, d);
  }
  return combine(level[0], combine(level[1], level[2], true), level[1] == NONE);
}

tc_dtype tc_promote(const tc_type *a, const tc_type *b) {
  return tc_promote_all((const tc_type *const[]){a, b}, 2);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

tc_dim tc_type_numel(tc_dims *c, const tc_type *t) {
  tc_dim n = tc_dim_const(1);
  for (int i = 0; i < t->rank; i++)
    if (tc_dim_is(t->dim[i], 0)) return tc_dim_const(0);
  for (int i = 0; i < t->rank; i++) n = tc_dim_mul(c, n, t->dim[i]);
  return n;
}

bool tc_type_alike(const tc_type *a, const tc_type *b) {
  return a->dtype == b->dtype && a->rank == b->rank && a->weak == b->weak;
}

bool tc_type_same(const tc_type *a, const tc_type *b) {
  if (!tc_type_alike(a, b)) return false;
  for (int i = 0; i < a->rank; i++)
    if (!tc_dim_same(a->dim[i], b->dim[i])) return false;
  return true;
}

void tc_shape_print(tc_dims *c, const tc_type *t, tc_buf *out) {
  tc_put(out, "[");
  for (int i = 0; i < t->rank; i++) {
    if (i) tc_put(out, ",");
    tc_dim_print(c, t->dim[i], NULL, out);
  }
  tc_put(out, "]");
}

void tc_type_print(tc_dims *c, const tc_type *t, tc_buf *out) {
  if (t->weak) tc_put(out, "weak ");
  tc_put(out, tc_dtype_text((tc_dtype)t->dtype));
  tc_shape_print(c, t, out);
}
