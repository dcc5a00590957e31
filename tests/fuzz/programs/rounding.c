#include "rounding.h"

#include <math.h>

#include "operands.h"
#include "wrappers.h" /* of the ops, written by runner.py */

/* Elements of a row that differ by this many roundings are equal but for those. */
enum { SOME_ROUNDINGS = 16 };

static uint64_t next; /* seed of the next change; 0: none */
static bool widens;   /* what is made is f64 */

void fuzz_change_roundings(uint64_t seed) { next = seed; }

void fuzz_widen(bool on) { widens = on; }

tc_dtype fuzz_dtype(tc_dtype d) { return widens && fuzz_floating(d) ? TC_F64 : d; }

tc_tensor *fuzz_widened(tc_tensor *x) {
  return widens && x && fuzz_floating(tc_dtype_of(x)) ? tc_cast(x, TC_F64) : x;
}

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

tc_tensor *fuzz_cotangent_rounded(tc_tensor *x) {
  const uint64_t seed = next;
  tc_tensor *y, *factor = NULL;
  if (!is_changed(x) || !tc_requires_grad(x)) return x;
  next = 0;
  TC_NO_GRAD factor = fuzz_changed(tc_ones(fuzz_sizes(x), tc_dtype_of(x)), 0, seed);
  y = tc_mul(x, factor);
  TC_SCOPE TC_NO_GRAD put(y, x);
  next = seed + 1;
  return y;
}

/* y is multiplied with a factor where the condition is true, by the chance p. */
static void sometimes(tc_tensor *y, const tc_tensor *condition, double p, double factor,
                      uint64_t seed) {
  tc_tensor *rare = tc_gt_s(tc_rand(fuzz_sizes(y), seed, TC_F64), 1 - p),
            *found = tc_logical_and(tc_reshape(condition, fuzz_sizes(y)), rare);
  put(y, tc_where(found, tc_mul_s(y, factor), y));
}

tc_tensor *fuzz_deviation_rounded(tc_tensor *y, const tc_tensor *x, tc_ints axes, bool squared) {
  const uint64_t seed = next;
  if (!is_changed(y) || !tc_numel(x)) return y;
  next = 0;
  TC_SCOPE TC_NO_GRAD {
    tc_tensor *least = tc_mul_s(tc_max(tc_abs(tc_cast(x, TC_F64)), axes, true),
                                SOME_ROUNDINGS * computing_unit(y));
    if (squared) least = tc_square(least);
    const tc_tensor *rounding = tc_le(tc_reshape(tc_cast(y, TC_F64), fuzz_sizes(least)), least);
    sometimes(y, rounding, 1.0 / 3, 1e-3, seed);
    sometimes(y, rounding, 1.0 / 3, 0, seed + 1);
  }
  next = seed + 2;
  return y;
}

tc_tensor *fuzz_product_rounded(tc_tensor *y, const tc_tensor *x, tc_ints axes, bool scan) {
  const uint64_t seed = next;
  if (!is_changed(y)) return y;
  next = 0;
  TC_SCOPE TC_NO_GRAD {
    const double most = tc_dtype_of(y) == TC_F64 ? 1022 : 126;
    tc_tensor *logs = tc_log2(tc_abs(tc_cast(x, TC_F64))), *large = tc_maximum_s(logs, 0),
              *small = tc_minimum_s(logs, 0);
    large = scan ? tc_cumsum(large, (int)axes.v[0]) : tc_sum(large, axes, true);
    small = scan ? tc_cumsum(small, (int)axes.v[0]) : tc_sum(small, axes, true);
    const tc_tensor *any = tc_logical_and(tc_gt_s(large, most), tc_lt_s(small, -most));
    put(y, tc_masked_fill(y,
                          tc_logical_and(tc_reshape(any, fuzz_sizes(y)),
                                         tc_gt_s(tc_rand(fuzz_sizes(y), seed, TC_F64), 0.5)),
                          INFINITY));
  }
  next = seed + 1;
  return y;
}

const tc_tensor *fuzz_near(const tc_tensor *x, tc_ints axes) {
  const uint64_t seed = next;
  tc_tensor *y = NULL;
  if (!is_changed(x)) return x;
  next = 0;
  y = tc_clone(x);
  TC_SCOPE TC_NO_GRAD {
    const double chance = tc_item(tc_rand(TC_SCALAR_SHAPE, seed, TC_F64));
    const double unit = computing_unit(x), factor = 1 + 8 * (chance - 0.25) * unit;
    tc_tensor *wide = tc_cast(x, TC_F64), *mean = tc_mean(wide, axes, true);
    tc_tensor *off = tc_max(tc_abs(tc_sub(wide, mean)), axes, true);
    tc_tensor *equal = tc_le(off, tc_mul_s(tc_abs(mean), SOME_ROUNDINGS * unit));
    tc_tensor *changed = tc_cast(fuzz_changed(x, 0, seed + 1), TC_F64);
    if (chance < 0.5) changed = tc_where(equal, tc_mul_s(mean, factor), changed);
    put(y, tc_cast(changed, tc_dtype_of(x)));
  }
  next = seed + 2;
  return y;
}
