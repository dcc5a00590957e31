/* quantize.h - inference with weights of 8 and 4 bits, and products of 8-bit integers.
 *
 *   tc_tensor *scale, *q = tc_quantize_per_channel(w, &scale);              // once: i8[O,I], f32[O]
 *   tc_tensor *y = tc_linear_int8(x, q, scale, bias);                       // x[..,I] of any floating dtype
 *
 * Written with the functions of tcompile.h.  In a compiled function the weights stay in the form that they are stored in: the
 * product converts them as it packs them, and scales of channels are a part of its epilogue.  The same is made of
 * tc_linear(x, tc_mul(tc_cast(q, TC_F32), tc_unsqueeze(scale, -1)), NULL). */
#ifndef TCOMPILE_NN_QUANTIZE_H
#define TCOMPILE_NN_QUANTIZE_H

#include <tcompile/nn/common.h>
#include <tcompile/library_begin.h>

/* ---- 8 bits -------------------------------------------------------------------------------------- */

/* max |x| / 127 along the last `axes` axes, kept; 1 where all are 0: f32. */
static inline tc_tensor *tc_quantize_scale(const tc_tensor *x, int axes) {
  tc_ints along = TC_EMPTY_LIST;
  along.n = axes;
  for (int i = 0; i < axes; i++) along.v[i] = -1 - i;
  const tc_tensor *s = tc_div_s(tc_max(tc_abs(tc_nn_as(x, TC_F32)), along, true), 127);
  return tc_where(tc_gt_s(s, 0), s, tc_ones_like(s));
}

/* round(x / scale), from -127 to 127: i8. */
static inline tc_tensor *tc_quantize_by(const tc_tensor *x, const tc_tensor *scale) {
  return tc_cast(tc_clamp(tc_round(tc_div(tc_nn_as(x, TC_F32), scale)), -127, 127), TC_I8);
}

/* Weights w[O,...], floating, as i8 of the same shape; *scale is f32[O], so that w is near q scale: symmetric, each channel by
 * its largest element.  Both are owned as results are. */
static inline tc_tensor *tc_quantize_per_channel(const tc_tensor *w, tc_tensor **scale) {
  tc_tensor *q = NULL;
  *scale = NULL;
  if (!w) return NULL;
  if (tc_rank(w) < 2) return TC_NN_FAIL("tc_quantize_per_channel: w has %d axes, of O, I, ...", tc_rank(w));
  TC_SCOPE {
    const tc_tensor *s = tc_quantize_scale(w, tc_rank(w) - 1);
    *scale = tc_keep(tc_reshape(s, TC_DIMS(tc_size(w, 0))));
    q = tc_keep(tc_quantize_by(w, s));
  }
  return q;
}

/* Activations x[..,I], floating, as i8; *scale is f32[..,1], of each row (dynamic quantisation). */
static inline tc_tensor *tc_quantize_rows(const tc_tensor *x, tc_tensor **scale) {
  tc_tensor *q = NULL;
  *scale = NULL;
  if (!x) return NULL;
  if (tc_rank(x) < 1) return TC_NN_FAIL("tc_quantize_rows: x has no axes");
  TC_SCOPE {
    tc_tensor *s = tc_quantize_scale(x, 1);
    q = tc_keep(tc_quantize_by(x, s));
    *scale = tc_keep(s);
  }
  return q;
}

/* q[O,...] scale[O]: f32. */
static inline tc_tensor *tc_dequantize_per_channel(const tc_tensor *q, const tc_tensor *scale) {
  tc_tensor *w = NULL;
  if (!q || !scale) return NULL;
  TC_SCOPE w = tc_keep(tc_mul(tc_cast(q, TC_F32), tc_nn_along(scale, 0, tc_rank(q))));
  return w;
}

/* What is wrong with the operands, as an error; true: nothing. */
static inline bool tc_linear_checked(const char *name, const tc_tensor *x, const tc_tensor *q, const tc_tensor *scale) {
  if (tc_rank(x) < 1 || tc_rank(q) != 2 || tc_rank(scale) != 1)
    return TC_NN_FAIL("%s: x has %d axes, the weights %d, not 2, and the scales %d, not 1", name, tc_rank(x), tc_rank(q),
                      tc_rank(scale));
  if (tc_size(x, -1) != tc_size(q, 1) || tc_size(scale, 0) != tc_size(q, 0))
    return TC_NN_FAIL("%s: rows of %lld elements, weights [%lld,%lld], %lld scales", name, (long long)tc_size(x, -1),
                      (long long)tc_size(q, 0), (long long)tc_size(q, 1), (long long)tc_size(scale, 0));
  return true;
}

/* y scale + bias in f32 (f64), in the dtype of x. */
static inline tc_tensor *tc_linear_scaled(const tc_tensor *y, const tc_tensor *scale, const tc_tensor *bias, tc_dtype d) {
  const tc_tensor *z = tc_mul(tc_nn_as(y, tc_nn_wide(d)), scale);
  if (bias) z = tc_add(z, bias);
  return tc_cast(z, d);
}

/* x[..,I] times weights q[O,I] of 8 bits, scaled by f32[O], plus bias[O] where that is not NULL: [..,O], of the dtype of x, which
 * is floating.  Of 16-bit x, products are of that dtype, in which the integers are exact, and sums f32. */
static inline tc_tensor *tc_linear_int8(const tc_tensor *x, const tc_tensor *q, const tc_tensor *scale, const tc_tensor *bias) {
  tc_tensor *y = NULL;
  if (!x || !q || !scale) return NULL;
  if (!tc_linear_checked("tc_linear_int8", x, q, scale)) return NULL;
  TC_SCOPE {
    const tc_dtype d = tc_dtype_of(x);
    y = tc_keep(tc_linear_scaled(tc_linear(x, tc_cast(q, d), NULL), scale, bias, d));
  }
  return y;
}

/* ---- products of integers ------------------------------------------------------------------------ */

/* x[..,I] times q[O,I], both i8, or x u8: i32[..,O], exact up to 2^16 products. */
static inline tc_tensor *tc_linear_int32(const tc_tensor *x, const tc_tensor *q) {
  tc_tensor *y = NULL;
  if (!x || !q) return NULL;
  TC_SCOPE y = tc_keep(tc_linear(tc_cast(x, TC_I32), tc_cast(q, TC_I32), NULL));
  return y;
}

/* Rows x[..,I] of i8, scaled by x_scale[..,1], times weights q[O,I], scaled by scale[O], plus bias[O] where that is not NULL:
 * f32[..,O] (tc_quantize_rows, tc_quantize_per_channel). */
static inline tc_tensor *tc_linear_int8_rows(const tc_tensor *x, const tc_tensor *x_scale, const tc_tensor *q,
                                             const tc_tensor *scale, const tc_tensor *bias) {
  tc_tensor *y = NULL;
  if (!x || !x_scale || !q || !scale) return NULL;
  if (!tc_linear_checked("tc_linear_int8_rows", x, q, scale)) return NULL;
  TC_SCOPE {
    tc_tensor *z = tc_mul(tc_mul(tc_cast(tc_linear_int32(x, q), TC_F32), x_scale), scale);
    if (bias) z = tc_add(z, bias);
    y = tc_keep(z);
  }
  return y;
}

/* Sums i32 back to 8 bits: round(sum multiplier) + zero_point, as the nearest value of dtype, i8 or u8.  multiplier broadcasts:
 * scale of x times scale of the weights by scale of the result. */
static inline tc_tensor *tc_requantize(const tc_tensor *sum, const tc_tensor *multiplier, int zero_point, tc_dtype dtype) {
  tc_tensor *y = NULL;
  if (!sum || !multiplier) return NULL;
  if (dtype != TC_I8 && dtype != TC_U8) return TC_NN_FAIL("tc_requantize: %s is none of i8 and u8", tc_dtype_name(dtype));
  TC_SCOPE {
    const tc_tensor *z = tc_round(tc_mul(tc_cast(sum, TC_F32), multiplier));
    y = tc_keep(tc_cast(tc_add_s(z, zero_point), dtype));
  }
  return y;
}

/* ---- 4 bits ------------------------------------------------------------------------------------ */

/* Weights w[O,I], floating, in groups of `group` elements along I, which `group` divides, even: two values in a byte,
 * u8[O,I/group,group/2].  Byte j of a group has its element j in the low half and element j + group/2 in the high one, as in
 * GGUF's Q4_0 and Q4_1.  w is near (v - zero) scale with values v from 0 to 15.  *scale is f32[O,I/group]; zero NULL: zero
 * points are 8 (symmetric), else *zero is f32[O,I/group], of whole numbers. */
static inline tc_tensor *tc_quantize_int4(const tc_tensor *w, int64_t group, tc_tensor **scale, tc_tensor **zero) {
  tc_tensor *q = NULL;
  *scale = NULL;
  if (zero) *zero = NULL;
  if (!w) return NULL;
  if (tc_rank(w) != 2 || group < 2 || group % 2 || tc_size(w, 1) % group)
    return TC_NN_FAIL("tc_quantize_int4: w has %d axes, rows of %lld elements, in groups of %lld", tc_rank(w),
                      (long long)(tc_rank(w) < 1 ? 0 : tc_size(w, -1)), (long long)group);
  TC_SCOPE {
    const int64_t out = tc_size(w, 0), groups = tc_size(w, 1) / group;
    const tc_tensor *x = tc_reshape(tc_nn_as(w, TC_F32), TC_DIMS(out, groups, group)), *s, *z;
    if (zero) {
      const tc_tensor *most = tc_clamp_min(tc_max(x, TC_AXES(-1), true), 0);
      const tc_tensor *least = tc_clamp_max(tc_min(x, TC_AXES(-1), true), 0);
      s = tc_div_s(tc_sub(most, least), 15);
      s = tc_where(tc_gt_s(s, 0), s, tc_ones_like(s));
      z = tc_round(tc_neg(tc_div(least, s)));
      *zero = tc_keep(tc_reshape(z, TC_DIMS(out, groups)));
    } else {
      s = tc_div_s(tc_max(tc_abs(x), TC_AXES(-1), true), 7);
      s = tc_where(tc_gt_s(s, 0), s, tc_ones_like(s));
      z = tc_full_like(s, 8);
    }
    *scale = tc_keep(tc_reshape(s, TC_DIMS(out, groups)));
    const tc_tensor *v = tc_cast(tc_clamp(tc_add(tc_round(tc_div(x, s)), z), 0, 15), TC_U8);
    const tc_tensor *low = tc_slice(v, -1, 0, group / 2, 1), *high = tc_slice(v, -1, group / 2, group, 1);
    q = tc_keep(tc_add(low, tc_mul_s(high, 16)));
  }
  return q;
}

/* (v - zero) scale of such weights u8[O,G,H], f32[O,2 G H]; zero NULL: 8. */
static inline tc_tensor *tc_dequantize_int4(const tc_tensor *q, const tc_tensor *scale, const tc_tensor *zero) {
  tc_tensor *w = NULL;
  if (!q || !scale) return NULL;
  if (tc_rank(q) != 3 || tc_rank(scale) != 2 || (zero && tc_rank(zero) != 2))
    return TC_NN_FAIL("tc_dequantize_int4: weights of %d axes, not O, G, H; scales of %d", tc_rank(q), tc_rank(scale));
  TC_SCOPE {
    const int64_t out = tc_size(q, 0), groups = tc_size(q, 1), half = tc_size(q, 2);
    const tc_ints each = TC_DIMS(out, groups, 1, 1);
    const tc_tensor *shift = tc_reshape(tc_arange(2, 0, 4, TC_I32), TC_DIMS(2, 1)); /* of the low half, of the high one */
    const tc_tensor *both = tc_shr(tc_cast(tc_reshape(q, TC_DIMS(out, groups, 1, half)), TC_I32), shift);
    const tc_tensor *v = tc_cast(tc_bit_and(both, tc_full(TC_DIMS(1), 15, TC_I32)), TC_F32);
    v = zero ? tc_sub(v, tc_reshape(zero, each)) : tc_sub_s(v, 8);
    w = tc_keep(tc_reshape(tc_mul(v, tc_reshape(scale, each)), TC_DIMS(out, groups * 2 * half)));
  }
  return w;
}

/* x[..,2 G H] times weights of 4 bits, u8[O,G,H], plus bias[O] where that is not NULL: [..,O], of the dtype of x, which is
 * floating. */
static inline tc_tensor *tc_linear_int4(const tc_tensor *x, const tc_tensor *q, const tc_tensor *scale, const tc_tensor *zero,
                                        const tc_tensor *bias) {
  tc_tensor *y = NULL;
  if (!x || !q || !scale) return NULL;
  TC_SCOPE {
    const tc_tensor *w = tc_dequantize_int4(q, scale, zero);
    y = tc_keep(tc_linear(x, tc_nn_as(w, tc_dtype_of(x)), bias));
  }
  return y;
}

#include <tcompile/library_end.h>
#endif
