/* f32 functions by way of f64: rounded once, so below 1 ulp. */
/* @ TC_BY_F64 TC_BY_F64_2 */
#define TC_BY_F64(name)                                                                            \
  TC_FN tc_vf32 tc_##name##_f32(tc_vf32 x) {                                                       \
    return TC_CAST(f32, tc_##name##_f64(TC_CAST(f64, x)));                                         \
  }
#define TC_BY_F64_2(name)                                                                          \
  TC_FN tc_vf32 tc_##name##_f32(tc_vf32 x, tc_vf32 y) {                                            \
    return TC_CAST(f32, tc_##name##_f64(TC_CAST(f64, x), TC_CAST(f64, y)));                        \
  }
/* @ tc_tan_f32 */
TC_BY_F64(tan) /* tc_tan_f64 */
/* @ tc_asin_f32 */
TC_BY_F64(asin) /* tc_asin_f64 */
/* @ tc_acos_f32 */
TC_BY_F64(acos) /* tc_acos_f64 */
/* @ tc_atan_f32 */
TC_BY_F64(atan) /* tc_atan_f64 */
/* @ tc_sinh_f32 */
TC_BY_F64(sinh) /* tc_sinh_f64 */
/* @ tc_cosh_f32 */
TC_BY_F64(cosh) /* tc_cosh_f64 */
/* @ tc_asinh_f32 */
TC_BY_F64(asinh) /* tc_asinh_f64 */
/* @ tc_acosh_f32 */
TC_BY_F64(acosh) /* tc_acosh_f64 */
/* @ tc_atanh_f32 */
TC_BY_F64(atanh) /* tc_atanh_f64 */
/* @ tc_erfc_f32 */
TC_BY_F64(erfc) /* tc_erfc_f64 */
/* @ tc_atan2_f32 */
TC_BY_F64_2(atan2) /* tc_atan2_f64 */
/* @ tc_fmod_f32 */
TC_BY_F64_2(fmod) /* tc_fmod_f64 */
/* @ tc_remainder_f32 */
TC_BY_F64_2(remainder) /* tc_remainder_f64 */
/* @ tc_floordiv_f32 */
TC_BY_F64_2(floordiv) /* tc_floordiv_f64 */
/* @ tc_hypot_f32 */
/* The squares are exact in f64. */
TC_LONG tc_vf32 tc_hypot_f32(tc_vf32 x, tc_vf32 y) {
  const tc_vf64 a = TC_CAST(f64, x), b = TC_CAST(f64, y);
  const tc_vf32 h = TC_CAST(f32, __builtin_elementwise_sqrt(a * a + b * b));
  const tc_vf32 inf = (tc_vf32)__builtin_inff();
  return (__builtin_elementwise_abs(x) == inf) | (__builtin_elementwise_abs(y) == inf) ? inf : h;
}
/* @ tc_pow_f32 */
/* e^(y log x) in f64, whose error of 2^-43 in the exponent is far below an f32's place. */
TC_SLOW tc_vf32 tc_pow_f32(tc_vf32 x, tc_vf32 y) {
  const tc_vf64 b = TC_CAST(f64, x), e = TC_CAST(f64, y), a = __builtin_elementwise_abs(b);
  const tc_vf64 base = (a > 0) & (a < __builtin_inf()) ? a : (tc_vf64)1.0;
  tc_vf64 p = e * tc_log_f64(base);
  p = p == p ? p : (tc_vf64)0.0;
  return TC_CAST(f32, tc_powedge_f64(b, e, tc_exp_f64(p)));
}
