/* Arithmetic, comparison, selection for every compute type, and reductions over the lanes.
 * Integers wrap; x/0 and x%0 are 0; NaN wins in min and max; bool is 0 or 1 in a byte. */
/* @ tc_differs_f32 */
TC_FN int tc_differs_f32(tc_vf32 a, tc_vf32 b) { return __builtin_reduce_or(a != b) != 0; } /* in some lane */
/* @ tc_differs_f64 */
TC_FN int tc_differs_f64(tc_vf64 a, tc_vf64 b) { return __builtin_reduce_or(a != b) != 0; }
/* @ TC_TRUTH TC_ARITH TC_COMPARE */
/* A comparison's mask (0 or -1 in lanes of any width) as b8. */
#define TC_TRUTH(mask) TC_BITS(u8, __builtin_convertvector((mask), tc_vi8) & 1)
#define TC_COMPARE(T)                                                                              \
  TC_FN tc_vb8 tc_eq_##T(tc_v##T a, tc_v##T b) { return TC_TRUTH(a == b); }                        \
  TC_FN tc_vb8 tc_ne_##T(tc_v##T a, tc_v##T b) { return TC_TRUTH(a != b); }                        \
  TC_FN tc_vb8 tc_lt_##T(tc_v##T a, tc_v##T b) { return TC_TRUTH(a < b); }                         \
  TC_FN tc_vb8 tc_le_##T(tc_v##T a, tc_v##T b) { return TC_TRUTH(a <= b); }                        \
  TC_FN tc_vb8 tc_gt_##T(tc_v##T a, tc_v##T b) { return TC_TRUTH(a > b); }                         \
  TC_FN tc_vb8 tc_ge_##T(tc_v##T a, tc_v##T b) { return TC_TRUTH(a >= b); }                        \
  TC_FN tc_vb8 tc_not_##T(tc_v##T a) { return TC_TRUTH(a == 0); }                                  \
  TC_FN tc_vb8 tc_and_##T(tc_v##T a, tc_v##T b) { return TC_TRUTH(a != 0) & TC_TRUTH(b != 0); }    \
  TC_FN tc_vb8 tc_or_##T(tc_v##T a, tc_v##T b) { return TC_TRUTH(a != 0) | TC_TRUTH(b != 0); }     \
  TC_FN tc_vb8 tc_xor_##T(tc_v##T a, tc_v##T b) { return TC_TRUTH(a != 0) ^ TC_TRUTH(b != 0); }
/* S: the signed integer vector of the width of T. */
#define TC_ARITH(T, S)                                                                             \
  TC_COMPARE(T)                                                                                    \
  TC_FN tc_v##T tc_add_##T(tc_v##T a, tc_v##T b) { return a + b; }                                 \
  TC_FN tc_v##T tc_sub_##T(tc_v##T a, tc_v##T b) { return a - b; }                                 \
  TC_FN tc_v##T tc_mul_##T(tc_v##T a, tc_v##T b) { return a * b; }                                 \
  TC_FN tc_v##T tc_neg_##T(tc_v##T a) { return -a; }                                               \
  TC_FN tc_v##T tc_where_##T(tc_vb8 c, tc_v##T a, tc_v##T b) { return TC_CAST(S, c) != 0 ? a : b; }
/* @ tc_index */
/* Index operands: a live lane outside [0, bound) sets *bad; outside lanes become 0. */
TC_FN tc_vi64 tc_index(tc_vi64 v, int64_t bound, tc_vb8 live, int *bad) {
  const tc_vb8 out = TC_TRUTH((v < 0) | (v >= bound)) & live;
  *bad |= tc_anytrue(out);
  return (v < 0) | (v >= bound) ? (tc_vi64)(tc_i64)0 : v;
}
/* @ tc_index_free */
#define tc_index_free(v) (v)
/* @ tc_index_one */
/* The same of lanes that are equal, at least one of which is live. */
TC_FN tc_vi64 tc_index_one(tc_vi64 v, int64_t bound, int *bad) {
  const int64_t i = v[0];
  const int out = (uint64_t)i >= (uint64_t)bound;
  *bad |= out;
  return tc_set_i64(out ? 0 : i);
}
/* @ TC_INTEGER */
/* Integers; bits: width. */
#define TC_INTEGER(T, S, bits)                                                                     \
  TC_ARITH(T, S)                                                                                   \
  TC_FN tc_v##T tc_max_##T(tc_v##T a, tc_v##T b) { return a > b ? a : b; }                         \
  TC_FN tc_v##T tc_min_##T(tc_v##T a, tc_v##T b) { return a < b ? a : b; }                         \
  TC_FN tc_v##T tc_fma_##T(tc_v##T a, tc_v##T b, tc_v##T c) { return a * b + c; }                  \
  TC_FN tc_v##T tc_floor_##T(tc_v##T a) { return a; }                                              \
  TC_FN tc_v##T tc_ceil_##T(tc_v##T a) { return a; }                                               \
  TC_FN tc_v##T tc_round_##T(tc_v##T a) { return a; }                                              \
  TC_FN tc_v##T tc_trunc_##T(tc_v##T a) { return a; }                                              \
  TC_FN tc_vb8 tc_isnan_##T(tc_v##T a) { return TC_TRUTH(a != a); }                                \
  TC_FN tc_vb8 tc_isinf_##T(tc_v##T a) { return TC_TRUTH(a != a); }                                \
  TC_FN tc_vb8 tc_isfinite_##T(tc_v##T a) { return TC_TRUTH(a == a); }                             \
  TC_FN tc_v##T tc_bitnot_##T(tc_v##T a) { return ~a; }                                            \
  TC_FN tc_v##T tc_shl_##T(tc_v##T a, tc_v##T b) {                                                 \
    return (b >= 0) & (b < bits) ? a << (b & (bits - 1)) : (tc_v##T)(tc_##T)0;                     \
  }                                                                                                \
  TC_FN tc_v##T tc_shr_##T(tc_v##T a, tc_v##T b) {                                                 \
    const tc_v##T fill = a < 0 ? ~(tc_v##T)(tc_##T)0 : (tc_v##T)(tc_##T)0;                         \
    return (b >= 0) & (b < bits) ? a >> (b & (bits - 1)) : fill;                                   \
  }                                                                                                \
  /* Division towards zero without traps: by 0 gives 0, the least value by -1 wraps. */            \
  TC_FN tc_v##T tc_quot_##T(tc_v##T a, tc_v##T b) {                                                \
    const tc_v##T one = (tc_v##T)(tc_##T)1, minus = ~(tc_v##T)(tc_##T)0;                           \
    const tc_v##T safe = (b == 0) | ((minus < 0) & (b == minus)) ? one : b;                        \
    tc_v##T q = a / safe;                                                                          \
    q = (minus < 0) & (b == minus) ? -a : q;                                                       \
    return b == 0 ? (tc_v##T)(tc_##T)0 : q;                                                        \
  }                                                                                                \
  TC_FN tc_v##T tc_fmod_##T(tc_v##T a, tc_v##T b) {                                                \
    return b == 0 ? (tc_v##T)(tc_##T)0 : a - tc_quot_##T(a, b) * b;                                \
  }                                                                                                \
  TC_FN tc_v##T tc_remainder_##T(tc_v##T a, tc_v##T b) {                                           \
    const tc_v##T r = tc_fmod_##T(a, b);                                                           \
    return (r != 0) & ((r ^ b) < 0) ? r + b : r;                                                   \
  }                                                                                                \
  TC_FN tc_v##T tc_floordiv_##T(tc_v##T a, tc_v##T b) {                                            \
    const tc_v##T q = tc_quot_##T(a, b), r = a - q * b;                                            \
    return (b != 0) & (r != 0) & ((r ^ b) < 0) ? q - 1 : q;                                        \
  }                                                                                                \
  /* By squaring; a negative exponent leaves 1, or a power of -1. */                               \
  TC_SLOW tc_v##T tc_pow_##T(tc_v##T a, tc_v##T b) {                                               \
    tc_v##T r = (tc_v##T)(tc_##T)1, base = a;                                                      \
    for (int i = 0; i < bits; ++i, base *= base) r = ((b >> i) & 1) != 0 ? r * base : r;           \
    const tc_v##T one = (tc_v##T)(tc_##T)1, zero = one - one;                                      \
    const tc_v##T unit = a == one ? one : (a == ~zero ? ((b & 1) != 0 ? a : one) : zero);          \
    return b < 0 ? unit : r;                                                                       \
  }
/* @ tc_*_i8 */
TC_INTEGER(i8, i8, 8)
TC_FN tc_vi8 tc_abs_i8(tc_vi8 a) { return a < 0 ? -a : a; }
TC_FN tc_vi8 tc_sign_i8(tc_vi8 a) { return TC_BITS(i8, (a < 0) - (a > 0)); }
/* @ tc_*_u8 */
TC_INTEGER(u8, i8, 8)
TC_FN tc_vu8 tc_abs_u8(tc_vu8 a) { return a; }
TC_FN tc_vu8 tc_sign_u8(tc_vu8 a) { return a != 0 ? (tc_vu8)(tc_u8)1 : a; }
/* @ tc_*_i16 */
TC_INTEGER(i16, i16, 16)
TC_FN tc_vi16 tc_abs_i16(tc_vi16 a) { return a < 0 ? -a : a; }
TC_FN tc_vi16 tc_sign_i16(tc_vi16 a) { return (a < 0) - (a > 0); }
/* @ tc_*_i32 */
TC_INTEGER(i32, i32, 32)
TC_FN tc_vi32 tc_abs_i32(tc_vi32 a) { return a < 0 ? -a : a; }
TC_FN tc_vi32 tc_sign_i32(tc_vi32 a) { return (a < 0) - (a > 0); }
/* @ tc_*_i64 */
TC_INTEGER(i64, i64, 64)
TC_FN tc_vi64 tc_abs_i64(tc_vi64 a) { return a < 0 ? -a : a; }
TC_FN tc_vi64 tc_sign_i64(tc_vi64 a) { return (a < 0) - (a > 0); }
/* @ tc_*_b8 */
TC_COMPARE(b8)

TC_FN tc_vb8 tc_add_b8(tc_vb8 a, tc_vb8 b) { return a | b; }
TC_FN tc_vb8 tc_mul_b8(tc_vb8 a, tc_vb8 b) { return a & b; }
TC_FN tc_vb8 tc_sub_b8(tc_vb8 a, tc_vb8 b) { return a ^ b; }
TC_FN tc_vb8 tc_max_b8(tc_vb8 a, tc_vb8 b) { return a | b; }
TC_FN tc_vb8 tc_min_b8(tc_vb8 a, tc_vb8 b) { return a & b; }
TC_FN tc_vb8 tc_bitnot_b8(tc_vb8 a) { return a ^ 1; }
TC_FN tc_vb8 tc_abs_b8(tc_vb8 a) { return a; }
TC_FN tc_vb8 tc_sign_b8(tc_vb8 a) { return a; }
TC_FN tc_vb8 tc_where_b8(tc_vb8 c, tc_vb8 a, tc_vb8 b) { return c != 0 ? a : b; }
TC_FN tc_vb8 tc_isnan_b8(tc_vb8 a) { return a & 0; }
TC_FN tc_vb8 tc_isinf_b8(tc_vb8 a) { return a & 0; }
TC_FN tc_vb8 tc_isfinite_b8(tc_vb8 a) { return a | 1; }
/* @ TC_FLOATING TC_FMA TC_FUSED */
/* a * b + c, fused where the machine can. */
#if defined(__FMA__) || defined(__AVX512F__) || defined(__aarch64__)
#define TC_FMA(a, b, c) __builtin_elementwise_fma(a, b, c)
#define TC_FUSED 1
#else
#define TC_FMA(a, b, c) ((a) * (b) + (c))
#define TC_FUSED 0
#endif
/* S: signed integers, U: unsigned, of the width; one: 1.0 of type T; top: the sign bit. */
#define TC_FLOATING(T, S, U, top)                                                                  \
  TC_ARITH(T, S)                                                                                   \
  TC_FN tc_v##T tc_abs_##T(tc_v##T a) { return __builtin_elementwise_abs(a); }                     \
  TC_FN tc_v##T tc_copysign_##T(tc_v##T a, tc_v##T b) {                                            \
    return __builtin_elementwise_copysign(a, b);                                                   \
  }                                                                                                \
  TC_FN tc_v##T tc_sign_##T(tc_v##T a) {                                                           \
    const tc_v##T one = tc_copysign_##T((tc_v##T)(tc_##T)1, a);                                    \
    return (a > 0) | (a < 0) ? one : a != a ? a : (tc_v##T)(tc_##T)0;                              \
  }                                                                                                \
  /* The machine's maximum gives b where either is NaN: one more selection keeps a NaN of a. */    \
  TC_FN tc_v##T tc_max_##T(tc_v##T a, tc_v##T b) {                                                 \
    const tc_v##T m = a > b ? a : b;                                                               \
    return a == a ? m : a;                                                                         \
  }                                                                                                \
  TC_FN tc_v##T tc_min_##T(tc_v##T a, tc_v##T b) {                                                 \
    const tc_v##T m = a < b ? a : b;                                                               \
    return a == a ? m : a;                                                                         \
  }                                                                                                \
  /* Of what a and b are when they are rounded. */                                                 \
  TC_FN tc_v##T tc_add_uncontracted_##T(tc_v##T a, tc_v##T b) {                                    \
    _Pragma("clang fp contract(off)") return a + b;                                                \
  }                                                                                                \
  TC_FN tc_v##T tc_sub_uncontracted_##T(tc_v##T a, tc_v##T b) {                                    \
    _Pragma("clang fp contract(off)") return a - b;                                                \
  }                                                                                                \
  TC_FN tc_v##T tc_sqrt_##T(tc_v##T a) { return __builtin_elementwise_sqrt(a); }                   \
  TC_FN tc_v##T tc_rsqrt_##T(tc_v##T a) { return (tc_##T)1 / __builtin_elementwise_sqrt(a); }      \
  TC_FN tc_v##T tc_floor_##T(tc_v##T a) { return __builtin_elementwise_floor(a); }                 \
  TC_FN tc_v##T tc_ceil_##T(tc_v##T a) { return __builtin_elementwise_ceil(a); }                   \
  TC_FN tc_v##T tc_round_##T(tc_v##T a) { return __builtin_elementwise_roundeven(a); }             \
  TC_FN tc_v##T tc_trunc_##T(tc_v##T a) { return __builtin_elementwise_trunc(a); }                 \
  TC_FN tc_vb8 tc_isnan_##T(tc_v##T a) { return TC_TRUTH(a != a); }                                \
  TC_FN tc_vb8 tc_isinf_##T(tc_v##T a) {                                                           \
    return TC_TRUTH(__builtin_elementwise_abs(a) == (tc_##T)__builtin_inf());                      \
  }                                                                                                \
  TC_FN tc_vb8 tc_isfinite_##T(tc_v##T a) {                                                        \
    return TC_TRUTH(__builtin_elementwise_abs(a) < (tc_##T)__builtin_inf());                       \
  }                                                                                                \
  TC_FN tc_v##T tc_signbit_##T(tc_v##T a) {                                                        \
    return TC_BITS(T, TC_BITS(U, a) & (tc_v##U)(tc_##U)(top));                                     \
  }
/* @ tc_*_f32 */
TC_FLOATING(f32, i32, u32, 0x80000000u)
TC_FN tc_vf32 tc_fma_f32(tc_vf32 a, tc_vf32 b, tc_vf32 c) {
#if TC_FUSED
  return __builtin_elementwise_fma(a, b, c);
#else /* the product is exact in double */
  return TC_CAST(f32, TC_CAST(f64, a) * TC_CAST(f64, b) + TC_CAST(f64, c));
#endif
}
/* @ tc_*_f64 */
TC_FLOATING(f64, i64, u64, 0x8000000000000000u)
/* @ tc_fma_f64 tc_two_product */
/* p + *e == a * b (no overflow). */
TC_FN tc_vf64 tc_two_product(tc_vf64 a, tc_vf64 b, tc_vf64 *e) {
#pragma clang fp contract(off)
  const tc_vf64 p = a * b;
#if TC_FUSED
  *e = __builtin_elementwise_fma(a, b, -p);
#else
  const tc_vf64 sa = a * 0x1.0000002p27, sb = b * 0x1.0000002p27; /* Veltkamp, Dekker */
  const tc_vf64 ah = sa - (sa - a), al = a - ah, bh = sb - (sb - b), bl = b - bh;
  *e = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
#endif
  return p;
}
TC_FN tc_vf64 tc_fma_f64(tc_vf64 a, tc_vf64 b, tc_vf64 c) {
#pragma clang fp contract(off)
#if TC_FUSED
  return __builtin_elementwise_fma(a, b, c);
#else /* the sum of the exact product and c, but for double rounding */
  tc_vf64 e;
  const tc_vf64 p = tc_two_product(a, b, &e), s = p + c, t = s - p;
  const tc_vf64 r = s + (((p - (s - t)) + (c - t)) + e);
  return __builtin_elementwise_abs(p) < 0x1p990 ? r : a * b + c;
#endif
}
