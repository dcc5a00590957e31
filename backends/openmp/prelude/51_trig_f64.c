/* f64 trigonometry. */
/* @ tc_reduce_f64 tc_sinpoly_f64 tc_cospoly_f64 */
/* Payne and Hanek: x * 2/pi modulo 4 from the 192 bits of 2/pi that matter.  r + *low is the rest.
 */
TC_SLOW void tc_reduce_large_f64(tc_f64 *x, tc_f64 *low, int *quadrant) {
  static const uint64_t two_over_pi[] = {0,
                                         0xa2f9836e4e441529,
                                         0xfc2757d1f534ddc0,
                                         0xdb6295993c439041,
                                         0xfe5163abdebbc561,
                                         0xb7246e3a424dd2e0,
                                         0x06492eea09d1921c,
                                         0xfe1deb1cb129a73e,
                                         0xe88235f52ebb4484,
                                         0xe99c7026b45f7e41,
                                         0x3991d639835339f4,
                                         0x9c845f8bbdf9283b,
                                         0x1ff897ffde05980f,
                                         0xef2f118b5a0a6d1f,
                                         0x6d367ecf27cb09b7,
                                         0x4f463f669e5fea2d,
                                         0x7527bac7ebe5f17b,
                                         0x3d0739f78a5292ea,
                                         0x6bfb5fb11f8d5d08,
                                         0x56033046fc7b6bab};
  typedef unsigned __int128 u128;
  const uint64_t b = __builtin_bit_cast(uint64_t, *x);
  const int e = (int)(b >> 52 & 2047) - 1075; /* |x| = m 2^e */
  const uint64_t m = (b & 0xfffffffffffff) | 0x10000000000000;
  const int start = e + 62, word = start >> 6, shift = start & 63; /* as in tc_reduce_large_f32 */
  uint64_t w[3];
  for (int i = 0; i < 3; ++i)
    w[i] =
        (uint64_t)(((u128)two_over_pi[word + i] << 64 | two_over_pi[word + i + 1]) >> (64 - shift));
  u128 p = ((u128)(m * w[0]) << 64) + (u128)m * w[1] + ((u128)m * w[2] >> 64);
  const uint64_t q = (uint64_t)((p + ((u128)1 << 125)) >> 126);
  p -= (u128)q << 126;
  const __int128 s = (__int128)p;
  const double hi = (double)s, lo = (double)(s - (__int128)hi);
  const double half_pi = 0x1.921fb54442d18p+0, tail = 0x1.1a62633145c07p-54;
  const double split = hi * 0x1.0000002p27, hh = split - (split - hi), hl = hi - hh;
  const double ph = 0x1.921fb58000000p+0, pl = half_pi - ph, product = hi * half_pi;
  const double rest =
      ((hh * ph - product) + hh * pl + hl * ph) + hl * pl + (hi * tail + lo * half_pi);
  const double sign = (int64_t)b < 0 ? -0x1p-126 : 0x1p-126;
  *x = sign * (product + rest);
  *low = sign * ((product - (product + rest)) + rest);
  *quadrant = (int64_t)b < 0 ? -(int)q : (int)q;
}
/* x - n pi/2 = r + *low, |r| <= pi/4 and a bit; pi/2 in three parts of 33 bits: good to |x| < 2^19.
 */
TC_SLOW tc_vf64 tc_reduce_f64(tc_vf64 x, tc_vf64 *low, tc_vi64 *quadrant) {
#pragma clang fp contract(off)
  const tc_vb8 large = TC_TRUTH(!(__builtin_elementwise_abs(x) < 0x1p19));
  const tc_vf64 c = __builtin_elementwise_abs(x) < 0x1p19 ? x : (tc_vf64)0.0;
  const tc_vf64 n = __builtin_elementwise_roundeven(c * 0x1.45f306dc9c883p-1);
  const tc_vf64 a = (c - n * 0x1.921fb54400000p+0),
                w1 = n * 0x1.0b4611a600000p-34; /* exact products */
  const tc_vf64 b = a - w1, lost = (a - b) - w1;
  const tc_vf64 w2 = n * 0x1.3198a2e037073p-69;
  const tc_vf64 t = lost - w2;
  tc_vf64 r = b + t;
  *low = (b - r) + t;
  *quadrant = TC_CAST(i64, TC_CAST(i32, n));
  if (__builtin_expect(tc_anytrue(large), 0))
    for (int l = 0; l < TC_L; ++l)
      if (large[l]) {
        tc_f64 v = x[l] - x[l], u = 0;
        int q = 0;
        if (v == 0) v = x[l], tc_reduce_large_f64(&v, &u, &q);
        r[l] = v;
        (*low)[l] = u;
        (*quadrant)[l] = q;
      }
  return r;
}
TC_FN tc_vf64 tc_sinpoly_f64(tc_vf64 r, tc_vf64 low) {
  const tc_vf64 t = r * r;
  tc_vf64 p = TC_FMA(t, (tc_vf64)1.591798897939743328e-10, (tc_vf64)-2.505112989645018631e-8);
  p = TC_FMA(p, t, (tc_vf64)2.755731609319840519e-6);
  p = TC_FMA(p, t, (tc_vf64)-1.98412698367405321e-4);
  p = TC_FMA(p, t, (tc_vf64)8.333333333330936554e-3);
  p = TC_FMA(p, t, (tc_vf64)-1.666666666666666461e-1);
  return r + TC_FMA(p * t, r, low * (1.0 - 0.5 * t));
}
TC_FN tc_vf64 tc_cospoly_f64(tc_vf64 r, tc_vf64 low) {
#pragma clang fp contract(off)
  const tc_vf64 t = r * r;
  tc_vf64 p = TC_FMA(t, (tc_vf64)-1.138254464534925045e-11, (tc_vf64)2.087614504941317909e-9);
  p = TC_FMA(p, t, (tc_vf64)-2.755731726587808004e-7);
  p = TC_FMA(p, t, (tc_vf64)2.480158729875440117e-5);
  p = TC_FMA(p, t, (tc_vf64)-1.388888888888738977e-3);
  p = TC_FMA(p, t, (tc_vf64)4.166666666666666538e-2);
  const tc_vf64 h = 0.5 * t, w = 1.0 - h;
  return w + (((1.0 - w) - h) + (p * t * t - r * low));
}
/* @ tc_sincos_f64 */
/* sin(x + add pi/2).  1 ulp. */
TC_FN tc_vf64 tc_sincos_f64(tc_vf64 x, int add) {
  tc_vi64 q;
  tc_vf64 low;
  const tc_vf64 r = tc_reduce_f64(x, &low, &q);
  q += add;
  const tc_vf64 y = (q & 1) != 0 ? tc_cospoly_f64(r, low) : tc_sinpoly_f64(r, low);
  return TC_BITS(f64, TC_BITS(u64, y) ^ (TC_BITS(u64, q & 2) << 62));
}
/* @ tc_sin_f64 */
TC_LONG tc_vf64 tc_sin_f64(tc_vf64 x) { return x == 0 ? x : tc_sincos_f64(x, 0); }
/* @ tc_cos_f64 */
TC_LONG tc_vf64 tc_cos_f64(tc_vf64 x) { return tc_sincos_f64(x, 1); }
/* @ tc_tan_f64 */
/* One division.  3 ulp. */
TC_LONG tc_vf64 tc_tan_f64(tc_vf64 x) {
  tc_vi64 q;
  tc_vf64 low;
  const tc_vf64 r = tc_reduce_f64(x, &low, &q);
  const tc_vf64 s = tc_sinpoly_f64(r, low), c = tc_cospoly_f64(r, low);
  const tc_vf64 y = (q & 1) != 0 ? -c / s : s / c;
  return x == 0 ? x : y;
}
/* @ tc_asinpoly_f64 */
/* asin(s) - s for s^2 = t <= 1/4, over s. */
TC_FN tc_vf64 tc_asinpoly_f64(tc_vf64 t) {
  tc_vf64 p = TC_FMA(t, (tc_vf64)2.875785136742156471e-2, (tc_vf64)-1.485188707124720322e-2);
  p = TC_FMA(p, t, (tc_vf64)1.740087944269402244e-2);
  p = TC_FMA(p, t, (tc_vf64)5.4575067186403583e-3);
  p = TC_FMA(p, t, (tc_vf64)1.032281435018577929e-2);
  p = TC_FMA(p, t, (tc_vf64)1.14791774151849059e-2);
  p = TC_FMA(p, t, (tc_vf64)1.39712129735529333e-2);
  p = TC_FMA(p, t, (tc_vf64)1.735239272086997294e-2);
  p = TC_FMA(p, t, (tc_vf64)2.237217294214988787e-2);
  p = TC_FMA(p, t, (tc_vf64)3.038194413853124729e-2);
  p = TC_FMA(p, t, (tc_vf64)4.464285714635542978e-2);
  p = TC_FMA(p, t, (tc_vf64)7.499999999998432933e-2);
  p = TC_FMA(p, t, (tc_vf64)1.666666666666666783e-1);
  return p * t;
}
/* @ tc_asin_f64 */
/* From 1/2 on: pi/2 - 2 asin(sqrt((1 - |x|) / 2)).  2.5 ulp. */
TC_LONG tc_vf64 tc_asin_f64(tc_vf64 x) {
  const tc_vf64 a = __builtin_elementwise_abs(x), half = (1.0 - a) * 0.5;
  const tc_vf64 t = a > 0.5 ? half : a * a, s = a > 0.5 ? __builtin_elementwise_sqrt(half) : a;
  const tc_vf64 p = TC_FMA(s, tc_asinpoly_f64(t), s);
  const tc_vf64 y = a > 0.5 ? 0x1.921fb54442d18p+0 - (2.0 * p - 0x1.1a62633145c07p-54) : p;
  return __builtin_elementwise_copysign(y, x);
}
/* @ tc_acos_f64 */
/* pi/2 - asin in the middle; 2 asin(sqrt((1 - |x|) / 2)), mirrored for x < 0, outside.  2 ulp. */
TC_LONG tc_vf64 tc_acos_f64(tc_vf64 x) {
  const tc_vf64 a = __builtin_elementwise_abs(x), half = (1.0 - a) * 0.5;
  const tc_vf64 t = a > 0.5 ? half : a * a, s = a > 0.5 ? __builtin_elementwise_sqrt(half) : x;
  const tc_vf64 p = TC_FMA(s, tc_asinpoly_f64(t), s);
  const tc_vf64 outer = x < 0 ? 0x1.921fb54442d18p+1 - (2.0 * p - 0x1.1a62633145c07p-53) : 2.0 * p;
  return a > 0.5 ? outer : 0x1.921fb54442d18p+0 - (p - 0x1.1a62633145c07p-54);
}
/* @ tc_atanparts_f64 */
/* atan(y / x) for y, x >= 0, not both 0 or both inf: first octant by symmetry, then around pi/4. */
TC_FN tc_vf64 tc_atanparts_f64(tc_vf64 y, tc_vf64 x) {
  const tc_vf64 lo = y > x ? x : y, hi = y > x ? y : x;
  const tc_vb8 far = TC_TRUTH(lo > hi * 0x1.a827999fcef32p-2); /* tan(pi/8) */
  const tc_vf64 q = TC_CAST(i64, far) != 0 ? (lo - hi) / (lo + hi) : lo / hi, t = q * q;
  tc_vf64 p = TC_FMA(t, (tc_vf64)-1.916206891590257558e-2, (tc_vf64)3.921955253255129542e-2);
  p = TC_FMA(p, t, (tc_vf64)-5.085030492810940589e-2);
  p = TC_FMA(p, t, (tc_vf64)5.858068756861510556e-2);
  p = TC_FMA(p, t, (tc_vf64)-6.664502215671447105e-2);
  p = TC_FMA(p, t, (tc_vf64)7.692182535116648202e-2);
  p = TC_FMA(p, t, (tc_vf64)-9.090904549884610954e-2);
  p = TC_FMA(p, t, (tc_vf64)1.11111110145610136e-1);
  p = TC_FMA(p, t, (tc_vf64)-1.428571428465789355e-1);
  p = TC_FMA(p, t, (tc_vf64)1.99999999999954792e-1);
  p = TC_FMA(p, t, (tc_vf64)-3.333333333333333013e-1);
  const tc_vf64 r = TC_FMA(p * t, q, q);
  const tc_vf64 a = TC_CAST(i64, far) != 0 ? 0x1.921fb54442d18p-1 + (r + 0x1.1a62633145c07p-55) : r;
  return y > x ? 0x1.921fb54442d18p+0 - (a - 0x1.1a62633145c07p-54) : a;
}
/* @ tc_atan_f64 */
/* 2.5 ulp. */
TC_LONG tc_vf64 tc_atan_f64(tc_vf64 x) {
  const tc_vf64 a = __builtin_elementwise_abs(x), c = a > 0x1p60 ? (tc_vf64)0x1p60 : a;
  return __builtin_elementwise_copysign(a == a ? tc_atanparts_f64(c, (tc_vf64)1.0) : a, x);
}
/* @ tc_atan2_f64 */
/* C's atan2, signed zeros and infinities too.  3 ulp. */
TC_SLOW tc_vf64 tc_atan2_f64(tc_vf64 y, tc_vf64 x) {
  tc_vf64 a = __builtin_elementwise_abs(y), b = __builtin_elementwise_abs(x);
  const tc_vf64 inf = (tc_vf64)__builtin_inf();
  const tc_vb8 equal = TC_TRUTH((a == b) & ((a == 0) | (a == inf)));
  /* inf against finite, and pairs near the ends of the range */
  const tc_vf64 hi = a > b ? a : b;
  const tc_vf64 scale = hi > 0x1p1000   ? (tc_vf64)0x1p-100
                        : hi < 0x1p-900 ? (tc_vf64)0x1p100
                                        : (tc_vf64)1.0;
  const tc_vf64 sa = hi == inf ? (a == inf ? (tc_vf64)1.0 : (tc_vf64)0.0) : a * scale;
  const tc_vf64 sb = hi == inf ? (b == inf ? (tc_vf64)1.0 : (tc_vf64)0.0) : b * scale;
  tc_vf64 r = tc_atanparts_f64(sa, sb);
  r = TC_CAST(i64, equal) != 0 ? (a == 0 ? (tc_vf64)0.0 : (tc_vf64)0x1.921fb54442d18p-1) : r;
  const tc_vf64 z = TC_BITS(i64, x) < 0 ? 0x1.921fb54442d18p+1 - (r - 0x1.1a62633145c07p-53) : r;
  return (x != x) | (y != y) ? x + y : __builtin_elementwise_copysign(z, y);
}
