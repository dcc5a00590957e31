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
/* @ tc_div_f32 */
TC_MAP2(tc_div_f32, tc_f32, tc_f32, x / y)
/* @ tc_exp2_near tc_inverse_near */
#ifndef TC_EMULATED
TC_FN tc_f32 tc_exp2_near(tc_f32 x) {
  tc_f32 r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
TC_FN tc_f32 tc_inverse_near(tc_f32 x) {
  tc_f32 r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
#endif
#define TC_LOG2_E 1.44269504f
/* @ tc_erf1p_f32 */
/* 1 + erf(x) = erfc(-x): e = erfc|x| = 2^(|x| P(|x|)), P minimax to 4e-8 of e, else 2 - e. */
TC_FN tc_f32 tc_normal(tc_f32 x) {
  const tc_f32 a = fabsf(x);
  tc_f32 p = fmaf(-2.71266746e-05f, a, 0.000307191865f);
  p = fmaf(p, a, -0.00108029832f);
  p = fmaf(p, a, -0.00137732202f);
  p = fmaf(p, a, 0.0287214348f);
  p = fmaf(p, a, -0.148667245f);
  p = fmaf(p, a, -0.918383107f);
  p = fmaf(p, a, -1.62791051f);
  const tc_f32 e = tc_exp2_near(p * a);
  return x < 0 ? e : 2.0f - e;
}
TC_MAP1(tc_erf1p_f32, tc_f32, tc_f32, tc_normal(x))
/* @ tc_sigmoid_f32 tc_sigmoid_f64 */
/* 1 / (1 + e^-x).  f32: e^-x = 2^t e^(-x - t ln 2), whose second factor is 1 + r, r below 2^-16;
 * results below the normal numbers are 0. */
TC_FN tc_f32 tc_logistic(tc_f32 x) {
  const tc_f32 v = tc_smaller(tc_larger(x, -88.5f), 88.5f), t = v * -TC_LOG2_E;
  const tc_f32 e = tc_exp2_near(t), r = fmaf(t, 0.693147182f, v);
  return tc_inverse_near(1.0f + fmaf(e, -r, e));
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
/* floor of the exact quotient: x / y may round up to the next integer, x - fmod(x, y) does not.  An
 * infinite x gives NaN, and a zero has the sign of x / y. */
TC_FN tc_f64 tc_floored(tc_f64 x, tc_f64 y) {
  const tc_f64 r = fmod(x, y), plain = x / y;
  tc_f64 q = (x - r) / y;
  if (y == 0) return plain;
  if (r != 0 && (r < 0) != (y < 0)) q -= 1;
  if (q == 0) return copysign(0.0, plain);
  const tc_f64 f = floor(q);
  return q - f > 0.5 ? f + 1 : f;
}
TC_MAP2(tc_floordiv_f32, tc_f32, tc_f32, tc_floored(x, y))
TC_MAP2(tc_floordiv_f64, tc_f64, tc_f64, tc_floored(x, y))
