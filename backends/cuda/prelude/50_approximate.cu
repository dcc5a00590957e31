/* Elementary functions for kernels whose results are all f16 or bf16, which keep 11 bits at most:
 * relative error below 2^-17 (erf, and log next to 1: absolute, 2^-20), for a third of the instructions.  Infinities,
 * zeros and NaN come out as they do in f32; what f32 has below its normal numbers is 0. */
/* @ tc_log2_near tc_sqrt_near tc_ratio_near */
#ifndef TC_EMULATED
TC_FN tc_f32 tc_log2_near(tc_f32 x) {
  tc_f32 r;
  asm("lg2.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
TC_FN tc_f32 tc_sqrt_near(tc_f32 x) {
  tc_f32 r;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
TC_FN tc_f32 tc_ratio_near(tc_f32 x, tc_f32 y) {
  tc_f32 r;
  asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return r;
}
#endif
/* @ tc_log_approx */
TC_MAP1(tc_log_approx, tc_f32, tc_f32, tc_log2_near(x) * 0.693147182f)
/* @ tc_sqrt_approx */
TC_MAP1(tc_sqrt_approx, tc_f32, tc_f32, tc_sqrt_near(x))
/* @ tc_div_approx */
TC_MAP2(tc_div_approx, tc_f32, tc_f32, tc_ratio_near(x, y))
/* @ tc_exp_approx */
TC_MAP1(tc_exp_approx, tc_f32, tc_f32, tc_exp2_near(x *TC_LOG2_E))
/* @ tc_exp_difference_approx tc_exp_scaled_difference_approx */
/* e to the x - y and to the x by - y, y one for many x: 2 to the x k - y k.  An error of y k is one of y, the same for all x.
 * k is small where y log2(e) would overflow: of such y 2^104 is the unit. */
TC_FN tc_f32 tc_exp_unit(tc_f32 y) { return fabsf(y) < 0x1p120f ? TC_LOG2_E : 0x1p-104f; }
TC_MAP2(tc_exp_difference_approx, tc_f32, tc_f32, tc_exp2_near(fmaf(x, tc_exp_unit(y), -(y *tc_exp_unit(y)))))
template <int N>
TC_FN tc_vec<tc_f32, N> tc_exp_scaled_difference_approx(const tc_vec<tc_f32, N> &a, const tc_vec<tc_f32, 1> &by,
                                                        const tc_vec<tc_f32, 1> &y) {
  tc_vec<tc_f32, N> r;
  const tc_f32 k = tc_exp_unit(y.l[0]);
  TC_FOR_EACH(N, r.l[i] = tc_exp2_near(fmaf(a.l[i], by.l[0] * k, -(y.l[0] * k))));
  return r;
}
/* @ tc_sigmoid_approx */
TC_MAP1(tc_sigmoid_approx, tc_f32, tc_f32, tc_inverse_near(1.0f + tc_exp2_near(x * -TC_LOG2_E)))
/* @ tc_tanh_approx */
/* (1 - e^-2|x|) / (1 + e^-2|x|); near 0, where that cancels, x - x^3/3 + 2x^5/15. */
TC_FN tc_f32 tc_tanh_near(tc_f32 x) {
  const tc_f32 s = x * x, e = tc_exp2_near(fabsf(x) * (-2 * TC_LOG2_E));
  const tc_f32 far = copysignf((1.0f - e) * tc_inverse_near(1.0f + e), x);
  const tc_f32 near = x * fmaf(s, fmaf(s, 2.0f / 15, -1.0f / 3), 1.0f);
  return s < 0.04f ? near : far;
}
TC_MAP1(tc_tanh_approx, tc_f32, tc_f32, tc_tanh_near(x))
/* @ tc_erf_approx */
/* x P(x^2) below 0.9, else 1 - 2^Q(|x|): minimax polynomials, to 4e-7 and 3e-8. */
TC_FN tc_f32 tc_erf_near(tc_f32 x) {
  const tc_f32 s = x * x, a = fabsf(x);
  tc_f32 p = fmaf(0.00378219155f, s, -0.0259105209f), q = fmaf(-0.00180563447f, a, 0.0224759001f);
  p = fmaf(p, s, 0.112571433f);
  q = fmaf(q, a, -0.131442979f);
  p = fmaf(p, s, -0.376100093f);
  q = fmaf(q, a, -0.938841105f);
  p = fmaf(p, s, 1.12837875f);
  q = fmaf(q, a, -1.61609399f);
  const tc_f32 far = copysignf(1.0f - tc_exp2_near(fmaf(q, a, -0.00270880712f)), x);
  return a < 0.9f ? x * p : far;
}
TC_MAP1(tc_erf_approx, tc_f32, tc_f32, tc_erf_near(x))
/* @ tc_erf1p_approx */
/* As tc_erf1p_f32, to 7e-7. */
TC_FN tc_f32 tc_normal_near(tc_f32 x) {
  const tc_f32 a = fabsf(x);
  tc_f32 p = fmaf(-0.00293303664f, a, 0.0295529014f);
  p = fmaf(p, a, -0.148625179f);
  p = fmaf(p, a, -0.918525683f);
  p = fmaf(p, a, -1.6278871f);
  const tc_f32 e = tc_exp2_near(p * a);
  return x < 0 ? e : 2.0f - e;
}
TC_MAP1(tc_erf1p_approx, tc_f32, tc_f32, tc_normal_near(x))
