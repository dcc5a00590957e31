/* x = mantissa 2^exponent with 0.5 <= |mantissa| < 1, exact; zeros, infinities and NaN have exponent 0. */
/* @ TC_FREXP */
/* S: signed integers of the width; digits: bits of the fraction; top: the exponent of 0.5; least: the
 * least normal number, `up` bits below which there is nothing. */
#define TC_FREXP(T, S, digits, keep, top, least, up)                                               \
  TC_FN tc_v##S tc_normalbits_##T(tc_v##T x) {                                                     \
    const tc_##T more = (tc_##T)((tc_u64)1 << up);                                                 \
    return TC_BITS(S, __builtin_elementwise_abs(x) < (tc_##T)(least) ? x * more : x);              \
  }                                                                                                \
  TC_FN tc_v##T tc_mantissa_##T(tc_v##T x) {                                                       \
    const tc_v##S kept = tc_normalbits_##T(x) & (tc_v##S)(tc_##S)(keep);                           \
    const tc_v##T m = TC_BITS(T, kept | (tc_v##S)((tc_##S)(top) << digits));                       \
    return (x != 0) & (__builtin_elementwise_abs(x) < (tc_##T)__builtin_inf()) ? m : x;            \
  }                                                                                                \
  TC_FN tc_v##T tc_exponent_##T(tc_v##T x) {                                                       \
    const tc_v##T a = __builtin_elementwise_abs(x);                                                \
    const tc_v##S e = (tc_normalbits_##T(a) >> digits) - (tc_##S)(top);                            \
    const tc_v##S whole = a < (tc_##T)(least) ? e - (tc_##S)up : e;                                \
    const tc_v##T none = (tc_v##T)(tc_##T)0;                                                       \
    return (x != 0) & (a < (tc_##T)__builtin_inf()) ? TC_CAST(T, whole) : none;                    \
  }
/* @ tc_normalbits_f32 tc_mantissa_f32 tc_exponent_f32 */
TC_FREXP(f32, i32, 23, 0x807fffff, 126, 0x1p-126f, 24)
/* @ tc_normalbits_f64 tc_mantissa_f64 tc_exponent_f64 */
TC_FREXP(f64, i64, 52, 0x800fffffffffffff, 1022, 0x1p-1022, 53)
