/* Elementary functions: CUDA's own, which are within 2 ulp (pow: 4) of the exact value, and never
 * the fast approximations.  The remainder has the sign of the divisor. */
/* @ TC_MATH1 TC_MATH2 */
#define TC_MATH1(name)                                                                             \
  TC_MAP1(tc_##name##_f32, tc_f32, tc_f32, name##f(x))                                             \
  TC_MAP1(tc_##name##_f64, tc_f64, tc_f64, name(x))
#define TC_MATH2(name)                                                                             \
  TC_MAP2(tc_##name##_f32, tc_f32, tc_f32, name##f(x, y))                                          \
  TC_MAP2(tc_##name##_f64, tc_f64, tc_f64, name(x, y))
/* @ tc_exp_f32 tc_exp_f64 */
TC_MATH1(exp)
/* @ tc_exp2_f32 tc_exp2_f64 */
TC_MATH1(exp2)
/* @ tc_expm1_f32 tc_expm1_f64 */
TC_MATH1(expm1)
/* @ tc_log_f32 tc_log_f64 */
TC_MATH1(log)
/* @ tc_log2_f32 tc_log2_f64 */
TC_MATH1(log2)
/* @ tc_log10_f32 tc_log10_f64 */
TC_MATH1(log10)
/* @ tc_log1p_f32 tc_log1p_f64 */
TC_MATH1(log1p)
/* @ tc_sin_f32 tc_sin_f64 */
TC_MATH1(sin)
/* @ tc_cos_f32 tc_cos_f64 */
TC_MATH1(cos)
/* @ tc_tan_f32 tc_tan_f64 */
TC_MATH1(tan)
/* @ tc_asin_f32 tc_asin_f64 */
TC_MATH1(asin)
/* @ tc_acos_f32 tc_acos_f64 */
TC_MATH1(acos)
/* @ tc_atan_f32 tc_atan_f64 */
TC_MATH1(atan)
/* @ tc_sinh_f32 tc_sinh_f64 */
TC_MATH1(sinh)
/* @ tc_cosh_f32 tc_cosh_f64 */
TC_MATH1(cosh)
/* @ tc_tanh_f32 tc_tanh_f64 */
TC_MATH1(tanh)
/* @ tc_asinh_f32 tc_asinh_f64 */
TC_MATH1(asinh)
/* @ tc_acosh_f32 tc_acosh_f64 */
TC_MATH1(acosh)
/* @ tc_atanh_f32 tc_atanh_f64 */
TC_MATH1(atanh)
/* @ tc_erf_f32 tc_erf_f64 */
TC_MATH1(erf)
/* @ tc_erfc_f32 tc_erfc_f64 */
TC_MATH1(erfc)
/* @ tc_pow_f32 tc_pow_f64 */
TC_MATH2(pow)
/* @ tc_atan2_f32 tc_atan2_f64 */
TC_MATH2(atan2)
/* @ tc_hypot_f32 tc_hypot_f64 */
TC_MATH2(hypot)
/* @ tc_fmod_f32 tc_fmod_f64 */
TC_MATH2(fmod)
/* @ tc_sigmoid_f32 tc_sigmoid_f64 */
/* 1 / (1 + e^-x); for x < 0 as e^x / (1 + e^x), which keeps small results.  The divisor is in [1, 2],
 * where the short division is within 2 ulp. */
TC_FN tc_f32 tc_logistic(tc_f32 x) {
  const tc_f32 e = expf(-fabsf(x));
  return __fdividef(x < 0 ? e : 1.0f, 1.0f + e);
}
TC_FN tc_f64 tc_logistic(tc_f64 x) {
  const tc_f64 e = exp(-fabs(x));
  return (x < 0 ? e : 1.0) / (1.0 + e);
}
TC_MAP1(tc_sigmoid_f32, tc_f32, tc_f32, tc_logistic(x))
TC_MAP1(tc_sigmoid_f64, tc_f64, tc_f64, tc_logistic(x))
/* @ tc_remainder_f32 tc_remainder_f64 */
template <class T> TC_FN T tc_modulo(T x, T y) {
  const T r = fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
TC_MAP2(tc_remainder_f32, tc_f32, tc_f32, tc_modulo((tc_f64)x, (tc_f64)y))
TC_MAP2(tc_remainder_f64, tc_f64, tc_f64, tc_modulo(x, y))
/* @ tc_floordiv_f32 tc_floordiv_f64 */
/* floor of the exact quotient: x / y may round up to the next integer, x - fmod(x, y) does not. */
TC_FN tc_f64 tc_floored(tc_f64 x, tc_f64 y) {
  const tc_f64 r = fmod(x, y), plain = floor(x / y);
  tc_f64 q = (x - r) / y;
  if (r != 0 && (r < 0) != (y < 0)) q -= 1;
  if (y == 0 || !(fabs(x) < TC_INF) || q != q) return plain;
  const tc_f64 f = floor(q);
  return q - f > 0.5 ? f + 1 : f;
}
TC_MAP2(tc_floordiv_f32, tc_f32, tc_f32, tc_floored(x, y))
TC_MAP2(tc_floordiv_f64, tc_f64, tc_f64, tc_floored(x, y))
