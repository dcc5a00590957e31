/* x = mantissa 2^exponent with 0.5 <= |mantissa| < 1, exact; zeros, infinities and NaN have exponent 0. */
/* @ TC_FREXP */
#define TC_FREXP(T)                                                                                \
  TC_FN tc_##T tc_fraction_##T(tc_##T x) {                                                         \
    int e;                                                                                         \
    return frexp(x, &e);                                                                           \
  }                                                                                                \
  TC_FN tc_##T tc_power_##T(tc_##T x) {                                                            \
    int e = 0;                                                                                     \
    return fabs(x) < (tc_##T)TC_INF && frexp(x, &e) != 0 ? (tc_##T)e : 0;                          \
  }                                                                                                \
  TC_MAP1(tc_mantissa_##T, tc_##T, tc_##T, tc_fraction_##T(x))                                     \
  TC_MAP1(tc_exponent_##T, tc_##T, tc_##T, tc_power_##T(x))
/* @ tc_mantissa_f32 tc_exponent_f32 */
TC_FREXP(f32)
/* @ tc_mantissa_f64 tc_exponent_f64 */
TC_FREXP(f64)
