#include "rounding.h"

#include "operands.h"
#include "wrappers.h" /* of the ops, written by runner.py */

static uint64_t next; /* seed of the next change; 0: none */

void fuzz_change_roundings(uint64_t seed) { next = seed; }

static tc_tensor *row_shift(const tc_tensor *x, int naxes, const tc_tensor *weight, double eps) {
  tc_ints axes = {naxes, {0}};
  for (int i = 0; i < naxes; i++) axes.v[i] = -1 - i;
  tc_tensor *wide = tc_cast(x, TC_F64);
  tc_tensor *scale = tc_rsqrt(tc_add_s(tc_var(wide, axes, 0, true), eps));
  tc_tensor *shift = tc_mul(tc_max(tc_abs(wide), axes, true), scale);
  shift = tc_mul_s(shift, fuzz_unit(tc_dtype_of(x) == TC_F64 ? TC_F64 : TC_F32));
  return weight ? tc_mul(shift, weight) : shift;
}

tc_tensor *fuzz_mean_rounded(tc_tensor *y, const tc_tensor *x, int naxes, const tc_tensor *weight,
                             double eps) {
  const uint64_t seed = next;
  if (!seed || !y || !tc_numel(y) || !fuzz_floating(tc_dtype_of(y))) return y;
  next = 0;
  TC_SCOPE {
    tc_tensor *shift = row_shift(x, naxes, weight, eps), *wide = tc_cast(y, TC_F64);
    tc_copy_(y, tc_cast(seed % 2 ? tc_add(wide, shift) : tc_sub(wide, shift), tc_dtype_of(y)));
  }
  next = seed + 1;
  return y;
}

tc_tensor *fuzz_rounded(tc_tensor *x, double least) {
  const uint64_t seed = next;
  if (!seed || !x || !fuzz_floating(tc_dtype_of(x))) return x;
  next = 0; /* for the ops of the change */
  TC_SCOPE tc_copy_(x, fuzz_changed(x, least, seed));
  next = seed + 1;
  return x;
}
