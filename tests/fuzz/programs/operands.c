#include "operands.h"

#include <math.h>
#include <string.h>

bool fuzz_floating(tc_dtype d) { return d == TC_F32 || d == TC_F64 || d == TC_F16 || d == TC_BF16; }

tc_ints fuzz_sizes(const tc_tensor *x) {
  tc_ints d = {tc_rank(x), {0}};
  for (int i = 0; i < d.n; i++) d.v[i] = tc_size(x, i);
  return d;
}

static tc_tensor *shifted(tc_tensor *x) {
  tc_ints d = fuzz_sizes(x);
  tc_tensor *room = tc_zeros(TC_DIMS(tc_numel(x) + 1), tc_dtype_of(x));
  return tc_copy_(tc_reshape(tc_slice(room, 0, 1, INT64_MAX, 1), d), x);
}

tc_tensor *fuzz_stored(tc_tensor *x, layout l) {
  tc_ints d = fuzz_sizes(x);
  tc_tensor *y = x;
  if (d.n == 0) return x;
  switch (l) {
  case TRANSPOSED:
    return tc_transpose(tc_clone(tc_transpose(x, 0, -1)), 0, -1);
  case NEGATIVE:
    return tc_flip(tc_clone(tc_flip(x, TC_ALL)), TC_ALL);
  case SHIFTED:
    return shifted(x);
  case STEPPED:
    d.v[d.n - 1] *= 2;
    y = tc_slice(tc_zeros(d, tc_dtype_of(x)), -1, 0, INT64_MAX, 2);
    break;
  case INNER:
    for (int i = 0; i < d.n; i++) d.v[i]++;
    y = tc_zeros(d, tc_dtype_of(x));
    for (int i = 0; i < d.n; i++) y = tc_slice(y, i, 1, INT64_MAX, 1);
    break;
  default:
    return x;
  }
  tc_copy_(y, x);
  return y;
}

double fuzz_unit(tc_dtype d) {
  return d == TC_BF16 ? 4e-3 : d == TC_F16 ? 5e-4 : d == TC_F32 ? 1e-7 : 1e-15;
}

static tc_tensor *numbers(const fuzz_operand *o, tc_ints dims, uint64_t seed) {
  if (o->values == FUZZ_INDEX)
    return tc_floor(tc_mul_s(tc_rand(dims, seed, TC_F64), (double)o->bound));
  tc_tensor *x = tc_randn(dims, seed, TC_F64);
  if (o->values == FUZZ_POSITIVE || o->dtype == TC_U8) x = tc_add_s(tc_abs(x), 0.25);
  if (o->dtype == TC_BOOL) return tc_gt_s(x, 0);
  if (!fuzz_floating(o->dtype)) return tc_trunc(tc_mul_s(x, 3));
  return x;
}

static tc_tensor *specials(tc_tensor *x) {
  static const double v[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 1, -1};
  int64_t n = tc_numel(x);
  tc_tensor *flat = tc_reshape(x, TC_DIMS(-1));
  for (int64_t i = 0, k = 0; i < n; i += 7, k++)
    TC_SCOPE tc_fill_(tc_slice(flat, 0, i, i + 1, 1), v[k % 7]);
  return x;
}

tc_tensor *fuzz_changed(const tc_tensor *x, double least, uint64_t seed) {
  tc_dtype dtype = tc_dtype_of(x);
  tc_tensor *up = tc_gt_s(tc_rand(fuzz_sizes(x), seed, TC_F64), 0.5);
  tc_tensor *wide = tc_cast(x, TC_F64);
  tc_tensor *more = tc_mul_s(tc_maximum_s(tc_abs(wide), least), fuzz_unit(dtype));
  return tc_cast(tc_where(up, tc_add(wide, more), tc_sub(wide, more)), dtype);
}

tc_tensor *fuzz_tensor(const fuzz_operand *o, tc_ints dims, int run, int number, unsigned v,
                       int sample) {
  tc_tensor *x = tc_cast(numbers(o, dims, (uint64_t)(number * 17 + run + 1)), o->dtype);
  if (v & REPEATED && dims.n && dims.v[0]) x = tc_expand(tc_slice(x, 0, 0, 1, 1), dims);
  if (fuzz_floating(o->dtype)) {
    if (v & CHANGED) x = fuzz_changed(x, 0, (uint64_t)(number + 99 + 10 * sample));
    if (v & SPECIAL && o->values != FUZZ_FINITE && tc_numel(x)) x = specials(x);
    if (v & DOUBLE) x = tc_cast(x, TC_F64);
  }
  return x;
}

tc_tensor *fuzz_operand_of(const fuzz_operand *o, int run, int number, unsigned v, layout l,
                           int sample) {
  tc_ints dims = {o->rank, {0}};
  memcpy(dims.v, o->dim[run], sizeof dims.v);
  tc_tensor *x = fuzz_tensor(o, dims, run, number, v, sample);
  return v & REPEATED ? x : fuzz_stored(x, l);
}
