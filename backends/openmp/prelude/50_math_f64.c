/* f64 functions: polynomials in double, no table, no division unless stated. */
/* @ tc_whole_f64 */
/* As tc_whole_f32: n integral in [-2^50, 2^50]. */
TC_FN tc_vi64 tc_whole_f64(tc_vf64 n) { return TC_BITS(i64, n + 0x1.8p52) - 0x4338000000000000; }
/* @ tc_scale_f64 */
/* p * 2^n, n in [-2200, 2200] integral, right down to subnormals; rounded, whatever is done with it next. */
TC_FN tc_vf64 tc_scale_f64(tc_vf64 p, tc_vf64 n) {
#pragma clang fp contract(off)
  const tc_vi64 i = tc_whole_f64(n), a = i >> 1, b = i - a;
  return p * TC_BITS(f64, (a + 1023) << 52) * TC_BITS(f64, (b + 1023) << 52);
}
/* @ tc_expparts_f64 */
/* x = n ln 2 + r (+ low): returns e^r - 1 with r in [-ln 2 / 2, ln 2 / 2]; low: a correction to x.
 */
TC_FN tc_vf64 tc_expparts_f64(tc_vf64 x, tc_vf64 low, tc_vf64 *n) {
  *n = __builtin_elementwise_roundeven(x * 0x1.71547652b82fep+0);
  tc_vf64 r = TC_FMA(*n, (tc_vf64)-0x1.62e42fee00000p-1, x);
  r = TC_FMA(*n, (tc_vf64)-0x1.a39ef35793c76p-33, r + low);
  tc_vf64 q = TC_FMA(r, (tc_vf64)2.091475532589320219e-9, (tc_vf64)2.510531272962210178e-8);
  q = TC_FMA(q, r, (tc_vf64)2.755727347871858047e-7);
  q = TC_FMA(q, r, (tc_vf64)2.755725517000088744e-6);
  q = TC_FMA(q, r, (tc_vf64)2.48015873256774619e-5);
  q = TC_FMA(q, r, (tc_vf64)1.984126987500227879e-4);
  q = TC_FMA(q, r, (tc_vf64)1.388888888888371117e-3);
  q = TC_FMA(q, r, (tc_vf64)8.33333333332608312e-3);
  q = TC_FMA(q, r, (tc_vf64)4.166666666666666978e-2);
  q = TC_FMA(q, r, (tc_vf64)1.666666666666667103e-1);
  q = TC_FMA(q, r, (tc_vf64)0.5);
  return TC_FMA(q * r, r, r);
}
/* @ tc_exp_f64 */
/* 1 ulp.  Below -746 it is 0, as in tc_expsmall_f32. */
TC_LONG tc_vf64 tc_exp_f64(tc_vf64 x) {
  tc_vf64 n, c = x > 710.0 ? (tc_vf64)710.0 : x;
  const tc_vi64 none = c < -746.0;
  const tc_vf64 m = tc_expparts_f64(none ? (tc_vf64)0.0 : c, (tc_vf64)0.0, &n);
  return none ? (tc_vf64)0.0 : tc_scale_f64(m + 1.0, n);
}
/* @ tc_exp2_f64 */
/* 1 ulp. */
TC_LONG tc_vf64 tc_exp2_f64(tc_vf64 x) {
  tc_vf64 c = x > 1025.0 ? (tc_vf64)1025.0 : x;
  c = c < -1076.0 ? (tc_vf64)-1076.0 : c;
  const tc_vf64 n = __builtin_elementwise_roundeven(c), r = c - n;
  tc_vf64 q = TC_FMA(r, (tc_vf64)2.572932417736230421e-11, (tc_vf64)4.455817908336064493e-10);
  q = TC_FMA(q, r, (tc_vf64)7.054897304155499277e-9);
  q = TC_FMA(q, r, (tc_vf64)1.01780570877339411e-7);
  q = TC_FMA(q, r, (tc_vf64)1.321548680870556279e-6);
  q = TC_FMA(q, r, (tc_vf64)1.525273384155677259e-5);
  q = TC_FMA(q, r, (tc_vf64)1.540353039337073341e-4);
  q = TC_FMA(q, r, (tc_vf64)1.33335581464064707e-3);
  q = TC_FMA(q, r, (tc_vf64)9.618129107628479493e-3);
  q = TC_FMA(q, r, (tc_vf64)5.550410866482162704e-2);
  q = TC_FMA(q, r, (tc_vf64)2.402265069591007123e-1);
  q = TC_FMA(q, r, (tc_vf64)6.931471805599453093e-1);
  return tc_scale_f64(TC_FMA(q, r, (tc_vf64)1.0), n);
}
/* @ tc_expm1_f64 */
/* 2^n (e^r - 1) + (2^n - 1).  2 ulp. */
TC_LONG tc_vf64 tc_expm1_f64(tc_vf64 x) {
  tc_vf64 n, c = x > 709.8 ? (tc_vf64)709.8 : x;
  c = c < -40.0 ? (tc_vf64)-40.0 : c;
  const tc_vf64 m = tc_expparts_f64(c, (tc_vf64)0.0, &n);
  const tc_vf64 half = TC_BITS(f64, (tc_whole_f64(n) + 1022) << 52);
  const tc_vf64 y = TC_FMA(m, half, half - 0.5) * 2.0;
  return x > 709.8 ? (tc_vf64)__builtin_inf() : x == 0 ? x : n == 0 ? m : y;
}
/* @ tc_split_f64 */
/* x = m 2^e, sqrt(1/2) <= m < sqrt(2), for positive finite x. */
TC_FN tc_vf64 tc_split_f64(tc_vf64 x, tc_vf64 *e) {
  const tc_vf64 y = x < 0x1p-1022 ? x * 0x1p52 : x;
  const tc_vi64 i = TC_BITS(i64, y) - 0x3fe6a09e667f3bcd;
  const tc_vf64 k = TC_CAST(f64, TC_CAST(i32, i >> 52));
  *e = x < 0x1p-1022 ? k - 52.0 : k;
  return TC_BITS(f64, (i & 0xfffffffffffff) + 0x3fe6a09e667f3bcd);
}
/* @ tc_logedge_f64 */
TC_FN tc_vf64 tc_logedge_f64(tc_vf64 x, tc_vf64 y) {
  y = x < __builtin_inf() ? y : x;
  y = x == 0 ? (tc_vf64)-__builtin_inf() : y;
  return x < 0 ? (tc_vf64)__builtin_nan("") : y;
}
/* @ tc_logtail_f64 */
/* log(1+f) = f - tail, f in [sqrt(1/2)-1, sqrt(2)-1].  With s = f / (2 + f), log(1+f) = 2 atanh(s)
 * = 2s + s R; 2s = f - f^2/2 + s f^2/2 leaves f exact.  One division. */
TC_FN tc_vf64 tc_logtail_f64(tc_vf64 f) {
  const tc_vf64 s = f / (f + 2.0), z = s * s, h = 0.5 * f * f;
  tc_vf64 r = TC_FMA(z, (tc_vf64)1.461780715341732481e-1, (tc_vf64)1.53316117220550079e-1);
  r = TC_FMA(r, z, (tc_vf64)1.81828924325368712e-1);
  r = TC_FMA(r, z, (tc_vf64)2.222221108937949621e-1);
  r = TC_FMA(r, z, (tc_vf64)2.857142862625383761e-1);
  r = TC_FMA(r, z, (tc_vf64)3.999999999989889051e-1);
  r = TC_FMA(r, z, (tc_vf64)6.666666666666669708e-1);
  return h - s * TC_FMA(r, z, h);
}
/* @ tc_log_f64 */
/* 1 ulp. */
TC_LONG tc_vf64 tc_log_f64(tc_vf64 x) {
#pragma clang fp contract(off)
  tc_vf64 e;
  const tc_vf64 f = tc_split_f64(x, &e) - 1.0;
  const tc_vf64 low = tc_logtail_f64(f) - e * 0x1.a39ef35793c76p-33;
  return tc_logedge_f64(x, e * 0x1.62e42fee00000p-1 + (f - low));
}
/* @ tc_log2_f64 tc_log10_f64 tc_logbase_f64 */
/* e hh + (log(1+f)) / ln(base) with the product in two parts.  2 ulp. */
TC_FN tc_vf64 tc_logbase_f64(tc_vf64 x, double hh, double hl, double lh, double ll) {
#pragma clang fp contract(off)
  tc_vf64 e, p1;
  const tc_vf64 f = tc_split_f64(x, &e) - 1.0, tail = tc_logtail_f64(f);
  const tc_vf64 p = tc_two_product(f, (tc_vf64)lh, &p1);
  const tc_vf64 a = e * hh, s = a + p, lost = (a - s) + p; /* |a| >= |p| or a == 0 */
  return tc_logedge_f64(x, s + ((lost + p1) + (f * ll + (e * hl - tail * lh))));
}
TC_LONG tc_vf64 tc_log2_f64(tc_vf64 x) {
  return tc_logbase_f64(x, 1.0, 0.0, 0x1.71547652b82fep+0, 0x1.777d0ffda0d23p-56);
}
TC_LONG tc_vf64 tc_log10_f64(tc_vf64 x) {
  return tc_logbase_f64(x, 0x1.3441350800000p-2, 0x1.f79fef311f12bp-34, 0x1.bcb7b1526e50ep-2,
                        0x1.95355baaafad3p-57);
}
/* @ tc_log1p_f64 */
/* As tc_log1p_f32.  2 ulp. */
TC_LONG tc_vf64 tc_log1p_f64(tc_vf64 x) {
#pragma clang fp contract(off)
  tc_vf64 e;
  const tc_vf64 u = x + 1.0, big = __builtin_elementwise_abs(x) < 1 ? (tc_vf64)1.0 : x;
  const tc_vf64 small = __builtin_elementwise_abs(x) < 1 ? x : (tc_vf64)1.0;
  const tc_vf64 lost = small - (u - big), m = tc_split_f64(u, &e);
  const tc_vf64 k = e > 1022.0 ? (tc_vf64)1022.0 : e;
  const tc_vf64 scale = TC_BITS(f64, (1023 - TC_CAST(i64, TC_CAST(i32, k))) << 52);
  const tc_vf64 f = m - 1.0, add = lost * scale;
  /* log(1 + f + add) = log(1+f) + add / (1+f) */
  const tc_vf64 low = (tc_logtail_f64(f) - add / m) - e * 0x1.a39ef35793c76p-33;
  const tc_vf64 y = tc_logedge_f64(u, e * 0x1.62e42fee00000p-1 + (f - low));
  return __builtin_elementwise_abs(x) < 0x1p-53 ? x : y;
}
/* @ tc_sigmoid_f64 */
/* One division.  2 ulp. */
TC_LONG tc_vf64 tc_sigmoid_f64(tc_vf64 x) {
  const tc_vf64 e = tc_exp_f64(-__builtin_elementwise_abs(x));
  return (x < 0 ? e : (tc_vf64)1.0) / (1.0 + e);
}
/* @ tc_tanh_f64 */
/* t / (t + 2), t = e^2|x| - 1.  3 ulp. */
TC_LONG tc_vf64 tc_tanh_f64(tc_vf64 x) {
  const tc_vf64 a = __builtin_elementwise_abs(x), c = a > 20.0 ? (tc_vf64)20.0 : a;
  const tc_vf64 t = tc_expm1_f64(2.0 * c);
  return __builtin_elementwise_copysign(t / (t + 2.0), x);
}
/* @ tc_halfexp_f64 */
/* e^x / 2 without early overflow. */
TC_FN tc_vf64 tc_halfexp_f64(tc_vf64 x) {
  tc_vf64 n;
  const tc_vf64 c = x > 711.0 ? (tc_vf64)711.0 : x;
  const tc_vf64 m = tc_expparts_f64(c, (tc_vf64)0.0, &n);
  return tc_scale_f64(m + 1.0, n - 1.0);
}
/* @ tc_sinh_f64 */
/* (t + t / (t + 1)) / 2, t = e^|x| - 1; large arguments in two halves.  3 ulp. */
TC_LONG tc_vf64 tc_sinh_f64(tc_vf64 x) {
  const tc_vf64 a = __builtin_elementwise_abs(x), c = a > 40.0 ? (tc_vf64)40.0 : a;
  const tc_vf64 t = tc_expm1_f64(c);
  const tc_vf64 y = a > 40.0 ? tc_halfexp_f64(a) : 0.5 * (t + t / (t + 1.0));
  return __builtin_elementwise_copysign(a < 0x1p-28 ? a : y, x);
}
/* @ tc_cosh_f64 */
/* (e + 1/e) / 2.  2 ulp. */
TC_LONG tc_vf64 tc_cosh_f64(tc_vf64 x) {
  const tc_vf64 a = __builtin_elementwise_abs(x), h = tc_halfexp_f64(a);
  return h + 0.25 / h;
}
/* @ tc_asinh_f64 */
/* log1p(a + a^2 / (1 + sqrt(a^2 + 1))); from 2^28 on log(2a).  3 ulp. */
TC_SLOW tc_vf64 tc_asinh_f64(tc_vf64 x) {
  const tc_vf64 a = __builtin_elementwise_abs(x), c = a > 0x1p28 ? (tc_vf64)1.0 : a, s = c * c;
  const tc_vf64 y = tc_log1p_f64(c + s / (1.0 + __builtin_elementwise_sqrt(s + 1.0)));
  const tc_vf64 z = tc_log_f64(a) + 0x1.62e42fefa39efp-1;
  return __builtin_elementwise_copysign(a > 0x1p28 ? z : a < 0x1p-28 ? a : a == a ? y : a, x);
}
/* @ tc_acosh_f64 */
/* log1p(t + sqrt(2t + t^2)), t = x - 1.  3 ulp. */
TC_SLOW tc_vf64 tc_acosh_f64(tc_vf64 x) {
  const tc_vf64 t = (x > 0x1p28 ? (tc_vf64)2.0 : x) - 1.0;
  const tc_vf64 y = tc_log1p_f64(t + __builtin_elementwise_sqrt(t * (t + 2.0)));
  const tc_vf64 z = tc_log_f64(x) + 0x1.62e42fefa39efp-1;
  return x > 0x1p28 ? z : x < 1.0 ? (tc_vf64)__builtin_nan("") : y;
}
/* @ tc_atanh_f64 */
/* log1p(2a / (1 - a)) / 2.  3 ulp. */
TC_SLOW tc_vf64 tc_atanh_f64(tc_vf64 x) {
  const tc_vf64 a = __builtin_elementwise_abs(x);
  const tc_vf64 y = 0.5 * tc_log1p_f64((a + a) / (1.0 - a));
  return __builtin_elementwise_copysign(a < 0x1p-28 ? a
                                        : a > 1.0   ? (tc_vf64)__builtin_nan("")
                                                    : y,
                                        x);
}
