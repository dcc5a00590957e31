#include "rounding.h"

#include "operands.h"
#include "wrappers.h" /* of the ops, written by runner.py */

static uint64_t next; /* seed of the next change; 0: none */

void fuzz_change_roundings(uint64_t seed) { next = seed; }

/* x = y in the memory of x, of which a tape of gradients that has x sees nothing. */
static void put(const tc_tensor *x, const tc_tensor *y) {
  tc_layout l = {
      .data = (void *)(uintptr_t)tc_cdata(x), .dtype = tc_dtype_of(x), .rank = tc_rank(x)};
  for (int i = 0; i < l.rank; i++) {
    l.dim[i] = tc_size(x, i);
    l.stride[i] = tc_stride(x, i) * (int64_t)tc_dtype_size(l.dtype);
  }
  tc_copy_(tc_wrap_layout(l), y);
}

static tc_tensor *row_shift(const tc_tensor *x, int naxes, const tc_tensor *weight, double eps) {
  tc_ints axes = {naxes, {0}};
  for (int i = 0; i < naxes; i++) axes.v[i] = -1 - i;
  tc_tensor *wide = tc_cast(x, TC_F64);
  tc_tensor *scale = tc_rsqrt(tc_add_s(tc_var(wide, axes, 0, true), eps));
  tc_tensor *shift = tc_mul(tc_max(tc_abs(wide), axes, true), scale);
  return weight ? tc_mul(shift, weight) : shift;
}

/* A rounding of 1 where y was computed; 16-bit types are in f32. */
static double computing_unit(const tc_tensor *y) {
  return fuzz_unit(tc_dtype_of(y) == TC_F64 ? TC_F64 : TC_F32);
}

/* Adds what is a rounding of the terms that y is the difference of.  What is no larger than that may be
 * nothing but rounding: then it is 0 as often, as where the terms are equal. */
static void add_to(tc_tensor *y, tc_tensor *shift, uint64_t seed) {
  tc_tensor *wide = tc_cast(y, TC_F64), *least = tc_mul_s(shift, computing_unit(y));
  tc_tensor *cancels = tc_logical_and(tc_le(tc_abs(wide), tc_abs(least)),
                                      tc_gt_s(tc_rand(fuzz_sizes(y), seed, TC_F64), 2.0 / 3));
  tc_tensor *sum = tc_masked_fill(tc_add(wide, least), cancels, 0);
  put(y, tc_cast(sum, tc_dtype_of(y)));
}

/* Up or down, by chance. */
static tc_tensor *signed_of(tc_tensor *x, tc_ints dims, uint64_t seed) {
  return tc_where(tc_gt_s(tc_rand(dims, seed, TC_F64), 0.5), x, tc_neg(x));
}

static bool is_changed(const tc_tensor *y) {
  return next && y && tc_numel(y) && fuzz_floating(tc_dtype_of(y));
}

tc_tensor *fuzz_mean_rounded(tc_tensor *y, const tc_tensor *x, int naxes, const tc_tensor *weight,
                             double eps) {
  const uint64_t seed = next;
  if (!is_changed(y)) return y;
  next = 0;
  TC_SCOPE TC_NO_GRAD {
    tc_tensor *shift = row_shift(x, naxes, weight, eps);
    add_to(y, signed_of(shift, TC_SCALAR_SHAPE, seed), seed + 1);
  }
  next = seed + 2;
  return y;
}

tc_tensor *fuzz_factor_rounded(tc_tensor *y, const tc_tensor *x) {
  const uint64_t seed = next;
  if (!is_changed(y)) return y;
  next = 0;
  TC_SCOPE TC_NO_GRAD {
    tc_tensor *wide = tc_cast(x, TC_F64);
    wide = tc_masked_fill(wide, tc_logical_not(tc_isfinite(wide)), 0);
    add_to(y, signed_of(wide, fuzz_sizes(x), seed), seed + 1);
  }
  next = seed + 2;
  return y;
}

tc_tensor *fuzz_before(const tc_tensor *x) {
  tc_tensor *copy = NULL;
  if (is_changed(x)) TC_NO_GRAD copy = tc_clone(x);
  return copy;
}

tc_tensor *fuzz_rounded(tc_tensor *x, double least) {
  const uint64_t seed = next;
  if (!seed || !x || !fuzz_floating(tc_dtype_of(x))) return x;
  next = 0; /* for the ops of the change */
  TC_SCOPE TC_NO_GRAD put(x, fuzz_changed(x, least, seed));
  next = seed + 1;
  return x;
}

const tc_tensor *fuzz_near(const tc_tensor *x) {
  return is_changed(x) ? fuzz_rounded(tc_clone(x), 0) : x;
}
