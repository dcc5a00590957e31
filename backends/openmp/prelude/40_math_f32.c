/* f32 functions that have to be fast: no division unless stated, no branch, no table.
 * Errors are in units of the last place over all floats, as tests/openmp measures them. */
/* @ tc_whole_f32 */
/* n as an integer, n integral in [-2^21, 2^21]: the last bits of a sum.  A conversion of NaN is undefined,
 * and what clang makes of one among constants has no value at all; of NaN this makes some integer. */
TC_FN tc_vi32 tc_whole_f32(tc_vf32 n) { return TC_BITS(i32, n + 0x1.8p23f) - 0x4b400000; }
/* @ tc_scale_f32 */
/* p * 2^n, n in [-300, 300] integral, right down to subnormals; rounded, whatever is done with it next. */
TC_FN tc_vf32 tc_scale_f32(tc_vf32 p, tc_vf32 n) {
#pragma clang fp contract(off)
#if TC_AVX512
  typedef float tc_w __attribute__((vector_size(64)));
  return (tc_vf32)__builtin_ia32_scalefps512_mask((tc_w)p, (tc_w)n, (tc_w){0}, (tc_u16)-1, 4);
#else
  const tc_vi32 i = tc_whole_f32(n), a = i >> 1, b = i - a;
  return p * TC_BITS(f32, (a + 127) << 23) * TC_BITS(f32, (b + 127) << 23);
#endif
}
/* @ tc_expreduce_f32 */
/* x = n ln 2 + r, n integral, |r| <= ln 2 / 2, for |x| < 2^21; n by way of a sum whose last place
 * is 1, which is faster than rounding. */
TC_FN tc_vf32 tc_expreduce_f32(tc_vf32 x, tc_vf32 *n) {
  const tc_vf32 big = (tc_vf32)0x1.8p23f;
  *n = TC_FMA(x, (tc_vf32)1.44269504f, big) - big;
  const tc_vf32 r = TC_FMA(*n, (tc_vf32)-0x1.62e4p-1f, x);
  return TC_FMA(*n, (tc_vf32)-0x1.7f7d1cp-20f, r);
}
/* @ tc_exppoly_f32 */
/* (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2 */
TC_FN tc_vf32 tc_exppoly_f32(tc_vf32 r) {
  tc_vf32 q = TC_FMA(r, (tc_vf32)1.3926250831e-3f, (tc_vf32)8.3632328837e-3f);
  q = TC_FMA(q, r, (tc_vf32)4.1666554213e-2f);
  q = TC_FMA(q, r, (tc_vf32)1.6666576666e-1f);
  return TC_FMA(q, r, (tc_vf32)0.5f);
}
/* @ tc_expsmall_f32 */
/* e^x = 2^n e^r, e^r = 1 + r (1 + r q(r)), for x <= 89.  Below -104 it is 0 (masked scores are -inf), of which no
 * multiplication shall hear: a result below the normal range takes some processors a hundred times as long. */
TC_FN tc_vf32 tc_expsmall_f32(tc_vf32 x) {
  tc_vf32 n;
  const tc_vi32 none = x < -104.0f;
  const tc_vf32 r = tc_expreduce_f32(none ? (tc_vf32)-104.0f : x, &n);
#if TC_AVX512
  n = none ? (tc_vf32)-__builtin_inff() : n; /* p * 2^-inf is 0, and exact */
#else
  n = none ? (tc_vf32)0.0f : n;
#endif
#if TC_FUSED
  const tc_vf32 q = TC_FMA(tc_exppoly_f32(r), r, (tc_vf32)1.0f);
  const tc_vf32 y = tc_scale_f32(TC_FMA(q, r, (tc_vf32)1.0f), n);
#else
  const tc_vf32 y = tc_scale_f32(tc_exppoly_f32(r) * r * r + r + 1.0f, n);
#endif
#if TC_AVX512
  return y;
#else
  return none ? (tc_vf32)0.0f : y;
#endif
}
/* @ tc_exp_f32 */
/* 1.1 ulp. */
TC_LONG tc_vf32 tc_exp_f32(tc_vf32 x) { return tc_expsmall_f32(x > 89.0f ? (tc_vf32)89.0f : x); }
/* @ tc_expapprox_f32 */
/* 2^t = 2^floor(t) 2^r, 0 <= r < 1, to 17 bits: infinities and what is out of range come right by
 * themselves. */
TC_FN tc_vf32 tc_expapprox_f32(tc_vf32 x) {
#if TC_AVX512
  typedef float tc_w __attribute__((vector_size(64)));
  const tc_w t = (tc_w)(x * 1.44269504f), none = {0};
  const tc_vf32 r = (tc_vf32)__builtin_ia32_reduceps512_mask(t, 9, none, (tc_u16)-1, 4); /* floor */
  tc_vf32 q = TC_FMA(r, (tc_vf32)1.3426685532e-2f, (tc_vf32)5.2242472200e-2f);
  q = TC_FMA(q, r, (tc_vf32)2.4128020570e-1f);
  q = TC_FMA(q, r, (tc_vf32)6.9304484478e-1f);
  q = TC_FMA(q, r, (tc_vf32)1.0f);
  return (tc_vf32)__builtin_ia32_scalefps512_mask((tc_w)q, t, none, (tc_u16)-1, 4);
#else
  return tc_exp_f32(x);
#endif
}
/* @ tc_exp2_f32 */
/* 2^x = 2^n 2^r, |r| <= 1/2.  1.2 ulp. */
TC_LONG tc_vf32 tc_exp2_f32(tc_vf32 x) {
  tc_vf32 c = x > 129.0f ? (tc_vf32)129.0f : x;
  c = c < -151.0f ? (tc_vf32)-151.0f : c;
  const tc_vf32 n = __builtin_elementwise_roundeven(c), r = c - n;
  tc_vf32 q = TC_FMA(r, (tc_vf32)1.5453162945e-4f, (tc_vf32)1.3390863365e-3f);
  q = TC_FMA(q, r, (tc_vf32)9.6180825573e-3f);
  q = TC_FMA(q, r, (tc_vf32)5.5503571142e-2f);
  q = TC_FMA(q, r, (tc_vf32)2.4022650761e-1f);
  q = TC_FMA(q, r, (tc_vf32)6.9314718803e-1f);
  return tc_scale_f32(TC_FMA(q, r, (tc_vf32)1.0f), n);
}
/* @ tc_expm1_f32 */
/* 2^n (e^r - 1) + (2^n - 1), the first factor not rounded to 1 + ...  2 ulp. */
TC_LONG tc_vf32 tc_expm1_f32(tc_vf32 x) {
  tc_vf32 n, c = x > 88.8f ? (tc_vf32)88.8f : x;
  c = c < -18.0f ? (tc_vf32)-18.0f : c;
  const tc_vf32 r = tc_expreduce_f32(c, &n), q = TC_FMA(tc_exppoly_f32(r) * r, r, r);
  /* n = 128 needs 2^128 without overflow: the last factor 2 is applied to the sum */
  const tc_vf32 half = TC_BITS(f32, (tc_whole_f32(n) + 126) << 23);
  const tc_vf32 y = TC_FMA(q, half, half - 0.5f) * 2.0f;
  return x > 88.8f ? (tc_vf32)__builtin_inff() : x == 0 ? x : n == 0 ? q : y;
}
/* @ tc_split_f32 */
/* x = m 2^e, sqrt(1/2) <= m < sqrt(2), for positive finite x, subnormal ones too. */
TC_FN tc_vf32 tc_split_f32(tc_vf32 x, tc_vf32 *e) {
  const tc_vu32 tiny = TC_BITS(u32, x < 0x1p-126f);
  const tc_vf32 y = x < 0x1p-126f ? x * 0x1p23f : x;
  const tc_vi32 i = TC_BITS(i32, y) - 0x3f3504f3;
  const tc_vi32 k = i >> 23;
  *e = TC_CAST(f32, k - TC_BITS(i32, tiny & 23));
  return TC_BITS(f32, (i & 0x7fffff) + 0x3f3504f3);
}
/* @ tc_logpoly_f32 */
/* log(1+f) - f + f^2/2 = f^3 q(f), f in [sqrt(1/2)-1, sqrt(2)-1]: returns f q(f); s = f^2.  Even
 * and odd powers are summed side by side. */
TC_FN tc_vf32 tc_logpoly_f32(tc_vf32 f, tc_vf32 s) {
  tc_vf32 q = TC_FMA(s, (tc_vf32)-7.9027437724e-2f, (tc_vf32)-1.2998183764e-1f);
  tc_vf32 p = TC_FMA(s, (tc_vf32)1.2622319849e-1f, (tc_vf32)1.4214495924e-1f);
  q = TC_FMA(q, s, (tc_vf32)-1.6641281463e-1f);
  p = TC_FMA(p, s, (tc_vf32)2.0001045094e-1f);
  q = TC_FMA(q, s, (tc_vf32)-2.5000306423e-1f);
  p = TC_FMA(p, s, (tc_vf32)3.3333330728e-1f);
  return TC_FMA(q, f, p) * f;
}
/* @ tc_logedge_f32 */
/* What every logarithm does at the edges: 0 to -inf, negative to NaN, inf and NaN to themselves. */
TC_FN tc_vf32 tc_logedge_f32(tc_vf32 x, tc_vf32 y) {
  y = x < __builtin_inff() ? y : x;
  y = x == 0 ? (tc_vf32)-__builtin_inff() : y;
  return x < 0 ? (tc_vf32)__builtin_nanf("") : y;
}
/* @ tc_logsum_f32 */
/* log(m 2^e) for m near 1: e ln 2 + f - f^2/2 + f^3 q(f), f = m - 1. */
TC_FN tc_vf32 tc_logsum_f32(tc_vf32 m, tc_vf32 e) {
  const tc_vf32 f = m - 1.0f, s = f * f;
  tc_vf32 y = TC_FMA(tc_logpoly_f32(f, s), s, e * -0x1.bd0106p-13f);
  y = TC_FMA(s, (tc_vf32)-0.5f, y);
  return TC_FMA(e, (tc_vf32)0x1.63p-1f, y + f);
}
/* @ tc_log_f32 */
TC_SLOW tc_vf32 tc_logany_f32(tc_vf32 x) {
  tc_vf32 e;
  const tc_vf32 m = tc_split_f32(x, &e);
  return tc_logedge_f32(x, tc_logsum_f32(m, e));
}
/* Vectors of normal positive numbers, nearly all of them, skip the edges.  1.1 ulp. */
TC_LONG tc_vf32 tc_log_f32(tc_vf32 x) {
  const tc_vu32 above = TC_BITS(u32, x) - 0x00800000u;
  if (__builtin_expect(__builtin_reduce_or(above >= 0x7f000000u) != 0, 0)) return tc_logany_f32(x);
  const tc_vi32 i = TC_BITS(i32, x) - 0x3f3504f3;
  return tc_logsum_f32(TC_BITS(f32, (i & 0x7fffff) + 0x3f3504f3), TC_CAST(f32, i >> 23));
}
/* @ tc_log2_f32 tc_logbase_f32 */
/* e h + log(1+f) l, with log(1+f) = f + t in two parts and the base's factor l = lh + ll.
 * 2.2 ulp. */
TC_FN tc_vf32 tc_logbase_f32(tc_vf32 x, float hh, float hl, float lh, float ll) {
  tc_vf32 e;
  const tc_vf32 f = tc_split_f32(x, &e) - 1.0f, s = f * f;
  const tc_vf32 t = TC_FMA(s, (tc_vf32)-0.5f, tc_logpoly_f32(f, s) * s);
  tc_vf32 y = TC_FMA(f, (tc_vf32)ll, TC_FMA(e, (tc_vf32)hl, t * lh));
  y = TC_FMA(f, (tc_vf32)lh, y);
  return tc_logedge_f32(x, TC_FMA(e, (tc_vf32)hh, y));
}
TC_LONG tc_vf32 tc_log2_f32(tc_vf32 x) {
  return tc_logbase_f32(x, 1.0f, 0.0f, 0x1.715476p+0f, 0x1.4ae0cp-26f);
}
/* @ tc_log10_f32 */
TC_LONG tc_vf32 tc_log10_f32(tc_vf32 x) {
  return tc_logbase_f32(x, 0x1.3441p-2f, 0x1.a84fbcp-21f, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f);
}
/* @ tc_log1p_f32 */
/* u = 1 + x rounded, u = m 2^e; f = m - 1 + 2^-e (x + 1 - u) is free of that rounding.  2 ulp. */
TC_LONG tc_vf32 tc_log1p_f32(tc_vf32 x) {
#pragma clang fp contract(off)
  tc_vf32 e;
  const tc_vf32 u = x + 1.0f, big = __builtin_elementwise_abs(x) < 1 ? (tc_vf32)1.0f : x;
  const tc_vf32 small = __builtin_elementwise_abs(x) < 1 ? x : (tc_vf32)1.0f;
  const tc_vf32 lost = small - (u - big);
  const tc_vf32 m = tc_split_f32(u, &e);
  const tc_vf32 scale =
      TC_BITS(f32, (127 - TC_CAST(i32, __builtin_elementwise_min(e, (tc_vf32)126))) << 23);
  const tc_vf32 f = (m - 1.0f) + lost * scale, s = f * f;
  tc_vf32 y = TC_FMA(tc_logpoly_f32(f, s), s, e * -0x1.bd0106p-13f);
  y = TC_FMA(s, (tc_vf32)-0.5f, y);
  y = TC_FMA(e, (tc_vf32)0x1.63p-1f, y + f);
  y = tc_logedge_f32(u, y);
  return __builtin_elementwise_abs(x) < 0x1p-24f ? x : y;
}
/* @ tc_sigmoid_f32 */
/* 1 / (1 + e^-x); for x < 0 as e^x / (1 + e^x), which keeps small results.  One division.  2 ulp.
 */
TC_LONG tc_vf32 tc_sigmoid_f32(tc_vf32 x) {
  const tc_vf32 e = tc_expsmall_f32(-__builtin_elementwise_abs(x));
  return (x < 0 ? e : (tc_vf32)1.0f) / (1.0f + e);
}
/* @ tc_sigmoidapprox_f32 */
/* The same to 17 bits; the quotient by a reciprocal of 14 bits and a step of Newton's method. */
TC_FN tc_vf32 tc_sigmoidapprox_f32(tc_vf32 x) {
#if TC_AVX512
  typedef float tc_w __attribute__((vector_size(64)));
  const tc_vf32 e = tc_expapprox_f32(-__builtin_elementwise_abs(x)), d = 1.0f + e;
  const tc_w none = {0};
  const tc_vf32 r = (tc_vf32)__builtin_ia32_rcp14ps512_mask((tc_w)d, none, (tc_u16)-1);
  return (x < 0 ? e : (tc_vf32)1.0f) * (r * TC_FMA(-d, r, (tc_vf32)2.0f));
#else
  return tc_sigmoid_f32(x);
#endif
}
/* @ tc_tanh_f32 */
/* t / (t + 2), t = e^2|x| - 1.  One division.  3 ulp. */
TC_LONG tc_vf32 tc_tanh_f32(tc_vf32 x) {
  const tc_vf32 a = __builtin_elementwise_abs(x);
  tc_vf32 n, c = 2.0f * a;
  c = c > 19.0f ? (tc_vf32)19.0f : c;
  const tc_vf32 r = tc_expreduce_f32(c, &n), q = TC_FMA(tc_exppoly_f32(r) * r, r, r);
  const tc_vf32 power = TC_BITS(f32, (tc_whole_f32(n) + 127) << 23);
  const tc_vf32 t = TC_FMA(q, power, power - 1.0f);
  const tc_vf32 y = __builtin_elementwise_copysign(t / (t + 2.0f), x);
  return a < 0x1p-12f ? x : y;
}
/* @ tc_quintic_f32 */
/* a + b t + c t^2 + d t^3 + e t^4 + f t^5; pairs of terms side by side. */
TC_FN tc_vf32 tc_quintic_f32(tc_vf32 t, float a, float b, float c, float d, float e, float f) {
  const tc_vf32 s = t * t, low = TC_FMA(t, (tc_vf32)b, (tc_vf32)a);
  const tc_vf32 high =
      TC_FMA(TC_FMA(t, (tc_vf32)f, (tc_vf32)e), s, TC_FMA(t, (tc_vf32)d, (tc_vf32)c));
  return TC_FMA(high, s, low);
}
/* @ tc_erf_f32 */
/* x P(x^2) / Q(x^2) up to 3.92, beyond which it is 1 in f32.  Coefficients are positive, so that
 * nothing cancels; they come from a linear program (relative error 2e-8) and a search of their last
 * places for the least error after rounding.  One division.  Without fused multiply-add: x P(x^2),
 * P in powers of u = 2 x^2 / 3.92^2 - 1, where |P| <= 2 / sqrt(pi) keeps it well conditioned.
 * 4.3 ulp, 5.1 where multiply-adds are fused, over all floats. */
TC_LONG tc_vf32 tc_erf_f32(tc_vf32 x) {
  tc_vf32 c = x > 3.92f ? (tc_vf32)3.92f : x;
  c = c < -3.92f ? (tc_vf32)-3.92f : c;
#if TC_FUSED
  const tc_vf32 t = c * c;
  const tc_vf32 p = tc_quintic_f32(t, 1.94115055f, 0.326166451f, 0.0905555114f, 0.00641472451f,
                                   0.000488021818f, 3.53061296e-06f);
  const tc_vf32 q = tc_quintic_f32(t, 1.72029984f, 0.862490714f, 0.195722222f, 0.0256288759f,
                                   0.00198316877f, 6.54578034e-05f);
  const tc_vf32 y = p * c / q;
#else
  const tc_vf32 u = TC_FMA(c * c, (tc_vf32)1.3015410246e-1f, (tc_vf32)-1.0f);
  tc_vf32 p = TC_FMA(u, (tc_vf32)3.7880095081e-4f, (tc_vf32)-9.3791437663e-4f);
  p = TC_FMA(p, u, (tc_vf32)6.1253631653e-4f);
  p = TC_FMA(p, u, (tc_vf32)-1.0503589282e-3f);
  p = TC_FMA(p, u, (tc_vf32)4.282949024e-3f);
  p = TC_FMA(p, u, (tc_vf32)-8.1628789967e-3f);
  p = TC_FMA(p, u, (tc_vf32)1.2259530993e-2f);
  p = TC_FMA(p, u, (tc_vf32)-1.9623283517e-2f);
  p = TC_FMA(p, u, (tc_vf32)3.0586192925e-2f);
  p = TC_FMA(p, u, (tc_vf32)-4.3583371824e-2f);
  p = TC_FMA(p, u, (tc_vf32)5.817710485e-2f);
  p = TC_FMA(p, u, (tc_vf32)-7.3990384577e-2f);
  p = TC_FMA(p, u, (tc_vf32)9.0623308141e-2f);
  p = TC_FMA(p, u, (tc_vf32)-1.0918180874e-1f);
  p = TC_FMA(p, u, (tc_vf32)1.3408335583e-1f);
  p = TC_FMA(p, u, (tc_vf32)-1.8010856339e-1f);
  p = TC_FMA(p, u, (tc_vf32)3.6073682021e-1f);
  const tc_vf32 y = p * c;
#endif
  const tc_vf32 z = y > 1.0f ? (tc_vf32)1.0f : y;
  return z < -1.0f ? (tc_vf32)-1.0f : z;
}
/* @ tc_sincos_f32 tc_reduce_f32 */
/* Payne and Hanek: x * 2/pi modulo 4 from the 96 bits of 2/pi that matter, in integers. */
TC_SLOW void tc_reduce_large_f32(tc_f32 *x, int *quadrant) {
  static const uint32_t two_over_pi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                         0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  const uint32_t b = __builtin_bit_cast(uint32_t, *x);
  const int e = (int)(b >> 23 & 255) - 150; /* |x| = m 2^e, e <= 104 */
  const uint64_t m = (b & 0x7fffff) | 0x800000;
  /* bits of 2/pi from position e-1 on: above them the product is a multiple of 4 */
  const int start = e + 30, word = start >> 5, shift = start & 31;
  uint32_t w[3];
  for (int i = 0; i < 3; ++i)
    w[i] = (uint32_t)(((uint64_t)two_over_pi[word + i] << 32 | two_over_pi[word + i + 1]) >>
                      (32 - shift));
  /* top two bits of the 64-bit result: the quadrant; the rest: the fraction */
  uint64_t p = (m * w[0] << 32) + m * w[1] + (m * w[2] >> 32);
  const uint64_t q = (p + (1ull << 61)) >> 62;
  p -= q << 62;
  const double r = (double)(int64_t)p * 0x1.921fb54442d18p-62;
  *x = (tc_f32)((int32_t)b < 0 ? -r : r);
  *quadrant = (int32_t)b < 0 ? -(int)q : (int)q;
}
/* x - n pi/2 with |result| <= pi/4, n mod 4 in *quadrant.  pi/2 in three parts: good to |x| < 2^15.
 */
TC_FN tc_vf32 tc_reduce_f32(tc_vf32 x, tc_vi32 *quadrant) {
  const tc_vb8 large = TC_TRUTH(!(__builtin_elementwise_abs(x) < 0x1p15f));
  const tc_vf32 c = __builtin_elementwise_abs(x) < 0x1p15f ? x : (tc_vf32)0.0f;
  const tc_vf32 n = __builtin_elementwise_roundeven(c * 0x1.45f306p-1f);
#if TC_FUSED
  tc_vf32 r = TC_FMA(n, (tc_vf32)-0x1.921fb6p+0f, c);
  r = TC_FMA(n, (tc_vf32)0x1.777a5cp-25f, r);
  r = TC_FMA(n, (tc_vf32)0x1.ee59dap-50f, r);
#else
  const tc_vf64 d = TC_CAST(f64, n);
  tc_vf32 r = TC_CAST(f32, (TC_CAST(f64, c) - d * 0x1.921fb544p+0) - d * 0x1.0b4611a626331p-34);
#endif
  *quadrant = TC_CAST(i32, n);
  if (__builtin_expect(tc_anytrue(large), 0))
    for (int l = 0; l < TC_L; ++l)
      if (large[l]) {
        tc_f32 v = x[l] - x[l]; /* NaN for inf and NaN */
        int q = 0;
        if (v == 0) v = x[l], tc_reduce_large_f32(&v, &q);
        r[l] = v;
        (*quadrant)[l] = q;
      }
  return r;
}
TC_FN tc_vf32 tc_sinpoly_f32(tc_vf32 r, tc_vf32 t) {
  tc_vf32 p = TC_FMA(t, (tc_vf32)-1.9587639099e-4f, (tc_vf32)8.3327471047e-3f);
  p = TC_FMA(p, t, (tc_vf32)-1.6666664656e-1f);
  return TC_FMA(p * t, r, r);
}
TC_FN tc_vf32 tc_cospoly_f32(tc_vf32 t) {
  tc_vf32 p = TC_FMA(t, (tc_vf32)2.4547689772e-5f, (tc_vf32)-1.3888301868e-3f);
  p = TC_FMA(p, t, (tc_vf32)4.1666664653e-2f);
  return TC_FMA(p * t, t, TC_FMA(t, (tc_vf32)-0.5f, (tc_vf32)1.0f));
}
/* sin(x + add pi/2): odd quadrants swap sine and cosine, quadrants 2 and 3 negate.  2 ulp. */
TC_FN tc_vf32 tc_sincos_f32(tc_vf32 x, int add) {
  tc_vi32 q;
  const tc_vf32 r = tc_reduce_f32(x, &q), t = r * r;
  q += add;
  const tc_vf32 y = (q & 1) != 0 ? tc_cospoly_f32(t) : tc_sinpoly_f32(r, t);
  return TC_BITS(f32, TC_BITS(u32, y) ^ (TC_BITS(u32, q & 2) << 30));
}
/* @ tc_sin_f32 */
TC_LONG tc_vf32 tc_sin_f32(tc_vf32 x) { return x == 0 ? x : tc_sincos_f32(x, 0); }
/* @ tc_cos_f32 */
TC_LONG tc_vf32 tc_cos_f32(tc_vf32 x) { return tc_sincos_f32(x, 1); }
