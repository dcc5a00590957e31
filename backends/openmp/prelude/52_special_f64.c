/* f64 error function, power, hypotenuse, remainders. */
/* @ tc_erfpoly_f64 */
/* erf(x) for |x| < 1: 2/sqrt(pi) x + x^3 P(x^2). */
TC_FN tc_vf64 tc_erfpoly_f64(tc_vf64 x) {
  const tc_vf64 t = x * x;
  tc_vf64 p = TC_FMA(t, (tc_vf64)6.1740972213052543e-11, (tc_vf64)-1.150035715978529482e-9);
  p = TC_FMA(p, t, (tc_vf64)1.469248485913326316e-8);
  p = TC_FMA(p, t, (tc_vf64)-1.635511861087770569e-7);
  p = TC_FMA(p, t, (tc_vf64)1.646144665692856114e-6);
  p = TC_FMA(p, t, (tc_vf64)-1.492562250448984131e-5);
  p = TC_FMA(p, t, (tc_vf64)1.205533221471627573e-4);
  p = TC_FMA(p, t, (tc_vf64)-8.548327010033327995e-4);
  p = TC_FMA(p, t, (tc_vf64)5.223977625303517895e-3);
  p = TC_FMA(p, t, (tc_vf64)-2.686617064512383949e-2);
  p = TC_FMA(p, t, (tc_vf64)1.128379167095511021e-1);
  p = TC_FMA(p, t, (tc_vf64)-3.761263890318375241e-1);
  return TC_FMA(x, (tc_vf64)1.128379167095512574, TC_FMA(p * t, x, x * 1.533545961316588e-17));
}
/* @ tc_erfcpos_f64 */
/* erfc(x) = e^(-x^2) / x g(y), y = (x - 4) / (x + 4), for x in [1/2, 28]; x^2 in two parts. */
TC_FN tc_vf64 tc_erfcpos_f64(tc_vf64 x) {
  tc_vf64 low, n;
  const tc_vf64 y = (x - 4.0) / (x + 4.0), s = tc_two_product(x, x, &low);
  tc_vf64 g = TC_FMA(y, (tc_vf64)8.725257057091952809e-10, (tc_vf64)1.12565603185942819e-9);
  g = TC_FMA(g, y, (tc_vf64)-8.482783716628096326e-9);
  g = TC_FMA(g, y, (tc_vf64)-8.777339760758669386e-9);
  g = TC_FMA(g, y, (tc_vf64)6.319807143768533757e-8);
  g = TC_FMA(g, y, (tc_vf64)2.600940204316999402e-8);
  g = TC_FMA(g, y, (tc_vf64)-4.611026855674979625e-7);
  g = TC_FMA(g, y, (tc_vf64)2.878798098332798287e-7);
  g = TC_FMA(g, y, (tc_vf64)3.059285113528459316e-6);
  g = TC_FMA(g, y, (tc_vf64)-7.082772011194433501e-6);
  g = TC_FMA(g, y, (tc_vf64)-1.124797997992069008e-5);
  g = TC_FMA(g, y, (tc_vf64)8.65886986028057873e-5);
  g = TC_FMA(g, y, (tc_vf64)-1.391199524560719834e-4);
  g = TC_FMA(g, y, (tc_vf64)-3.680057533587577528e-4);
  g = TC_FMA(g, y, (tc_vf64)2.915548399097320003e-3);
  g = TC_FMA(g, y, (tc_vf64)-1.012899884449817353e-2);
  g = TC_FMA(g, y, (tc_vf64)2.500573078405142718e-2);
  g = TC_FMA(g, y, (tc_vf64)-4.88147111651946416e-2);
  g = TC_FMA(g, y, (tc_vf64)7.842032531906344395e-2);
  g = TC_FMA(g, y, (tc_vf64)-1.050011217176142041e-1);
  g = TC_FMA(g, y, (tc_vf64)1.161774354760004254e-1);
  g = TC_FMA(g, y, (tc_vf64)-1.016700134078224367e-1);
  g = TC_FMA(g, y, (tc_vf64)5.972346595980456578e-2);
  g = TC_FMA(g, y, (tc_vf64)5.479978305002455596e-1);
  const tc_vf64 m = tc_expparts_f64(-s, -low, &n), q = g / x;
  return tc_scale_f64(TC_FMA(m, q, q), n);
}
/* @ tc_erf_f64 */
/* 2 ulp. */
TC_SLOW tc_vf64 tc_erf_f64(tc_vf64 x) {
  const tc_vf64 a = __builtin_elementwise_abs(x);
  tc_vf64 c = a < 1.0 ? (tc_vf64)1.0 : a;
  c = c > 6.0 ? (tc_vf64)6.0 : c;
  const tc_vf64 y = 1.0 - tc_erfcpos_f64(c);
  return x == 0    ? x
         : a < 1.0 ? tc_erfpoly_f64(x)
         : a == a  ? __builtin_elementwise_copysign(y, x)
                   : x;
}
/* @ tc_erfc_f64 */
/* 5 ulp; 6 at v2, where products and sums round apart (no fused multiply-add). */
TC_SLOW tc_vf64 tc_erfc_f64(tc_vf64 x) {
  const tc_vf64 a = __builtin_elementwise_abs(x);
  tc_vf64 c = a < 0.5 ? (tc_vf64)0.5 : a;
  c = c > 28.0 ? (tc_vf64)28.0 : c;
  const tc_vf64 t = tc_erfcpos_f64(c), y = x < 0 ? 2.0 - t : t;
  return a < 0.5 ? 1.0 - tc_erfpoly_f64(x) : a == a ? y : x;
}
/* @ tc_powedge_f64 */
/* pow beyond positive finite bases: r is |x|^y. */
TC_FN tc_vf64 tc_powedge_f64(tc_vf64 x, tc_vf64 y, tc_vf64 r) {
  const tc_vf64 a = __builtin_elementwise_abs(x), b = __builtin_elementwise_abs(y),
                inf = (tc_vf64)__builtin_inf();
  const tc_vf64 up = y > 0 ? inf : (tc_vf64)0.0, down = y > 0 ? (tc_vf64)0.0 : inf;
  r = a == 0 ? down : a == inf ? up : r;
  r = b == inf ? (a > 1 ? up : a < 1 ? down : (tc_vf64)1.0) : r;
  const tc_vf64 whole = __builtin_elementwise_trunc(y), half = y * 0.5;
  const tc_vb8 integral = TC_TRUTH(whole == y);
  const tc_vb8 odd =
      TC_TRUTH(__builtin_elementwise_trunc(half) != half) & integral & TC_TRUTH(b < 0x1p53);
  const tc_vb8 negative = TC_TRUTH(TC_BITS(i64, x) < 0);
  r = TC_CAST(i64, negative & odd) != 0 ? -r : r;
  const tc_vb8 invalid = TC_TRUTH((x < 0) & (a < inf)) & (integral ^ 1);
  r = TC_CAST(i64, invalid) != 0 ? (tc_vf64)__builtin_nan("") : r;
  r = (x != x) | (y != y) ? x + y : r;
  return (y == 0) | (x == 1) ? (tc_vf64)1.0 : r;
}
/* @ tc_logwide_f64 */
/* log(x) = h + *low to about 2^-68, for positive finite x. */
TC_FN tc_vf64 tc_logwide_f64(tc_vf64 x, tc_vf64 *low) {
#pragma clang fp contract(off)
  tc_vf64 e, q1, q2, z1, t1, u1;
  const tc_vf64 f = tc_split_f64(x, &e) - 1.0;
  /* s = f / (2 + f) in two parts */
  const tc_vf64 d = 2.0 + f, dl = (2.0 - d) + f, s = f / d;
  q1 = tc_two_product(s, d, &q2);
  const tc_vf64 sl = (((f - q1) - q2) - s * dl) / d;
  /* z = s^2, log(1+f) = 2s + s (2/3 z + z^2 R(z)) */
  const tc_vf64 z = tc_two_product(s, s, &z1), zl = z1 + 2.0 * (s * sl);
  tc_vf64 r = TC_FMA(z, (tc_vf64)1.172432706084674644e-1, (tc_vf64)1.170612646456339726e-1);
  r = TC_FMA(r, z, (tc_vf64)1.333480879881233868e-1);
  r = TC_FMA(r, z, (tc_vf64)1.53845948870071794e-1);
  r = TC_FMA(r, z, (tc_vf64)1.818181833609984623e-1);
  r = TC_FMA(r, z, (tc_vf64)2.222222222165276527e-1);
  r = TC_FMA(r, z, (tc_vf64)2.857142857142937133e-1);
  r = TC_FMA(r, z, (tc_vf64)3.999999999999999982e-1);
  const tc_vf64 third = tc_two_product(z, (tc_vf64)0x1.5555555555555p-1, &t1);
  const tc_vf64 p = z * z * r, t = third + p;
  const tc_vf64 tl =
      ((third - t) + p) + (t1 + (zl * 0x1.5555555555555p-1 + z * 0x1.5555555555555p-55));
  const tc_vf64 u = tc_two_product(s, t, &u1), ul = u1 + (s * tl + sl * t);
  const tc_vf64 a = 2.0 * s, h = a + u, hl = ((a - h) + u) + (ul + 2.0 * sl);
  const tc_vf64 b = e * 0x1.62e42fee00000p-1, sum = b + h;
  const tc_vf64 lost = (b - sum) + h; /* |b| > |h| unless b is 0 */
  *low = lost + (hl + e * 0x1.a39ef35793c76p-33);
  return sum;
}
/* @ tc_pow_f64 */
/* e^(y log x) with the exponent in two parts.  2 ulp. */
TC_SLOW tc_vf64 tc_pow_f64(tc_vf64 x, tc_vf64 y) {
#pragma clang fp contract(off)
  tc_vf64 ll, e, n;
  const tc_vf64 a = __builtin_elementwise_abs(x);
  const tc_vf64 base = (a > 0) & (a < __builtin_inf()) ? a : (tc_vf64)1.0;
  const tc_vf64 l = tc_logwide_f64(base, &ll);
  /* exponents beyond 2^64 overflow or vanish all the same, unless the base is 1 */
  tc_vf64 c = y > 0x1p64 ? (tc_vf64)0x1p64 : y;
  c = c < -0x1p64 ? (tc_vf64)-0x1p64 : c;
  const tc_vf64 p = tc_two_product(c, l, &e), low = e + c * ll;
  const tc_vf64 q = p > 800.0 ? (tc_vf64)800.0 : p < -800.0 ? (tc_vf64)-800.0 : p;
  const tc_vf64 m = tc_expparts_f64(q, q == p ? low : (tc_vf64)0.0, &n);
  return tc_powedge_f64(x, y, tc_scale_f64(m + 1.0, n));
}
/* @ tc_hypot_f64 */
/* sqrt(a^2 + b^2), scaled where the squares would leave the range.  1 ulp. */
TC_LONG tc_vf64 tc_hypot_f64(tc_vf64 x, tc_vf64 y) {
  const tc_vf64 a = __builtin_elementwise_abs(x), b = __builtin_elementwise_abs(y),
                hi = a > b ? a : b;
  const tc_vf64 scale = hi > 0x1p500    ? (tc_vf64)0x1p-600
                        : hi < 0x1p-500 ? (tc_vf64)0x1p600
                                        : (tc_vf64)1.0;
  const tc_vf64 back = hi > 0x1p500    ? (tc_vf64)0x1p600
                       : hi < 0x1p-500 ? (tc_vf64)0x1p-600
                                       : (tc_vf64)1.0;
  const tc_vf64 u = a * scale, v = b * scale;
  const tc_vf64 h = __builtin_elementwise_sqrt(TC_FMA(u, u, v * v)) * back;
  return (a == __builtin_inf()) | (b == __builtin_inf()) ? (tc_vf64)__builtin_inf() : h;
}
/* @ tc_fmod_f64 */
/* Long division of the significands, for quotients beyond 2^52. */
TC_SLOW tc_f64 tc_fmod_large(tc_f64 x, tc_f64 y) {
  uint64_t a = __builtin_bit_cast(uint64_t, x) & 0x7fffffffffffffff,
           b = __builtin_bit_cast(uint64_t, y) & 0x7fffffffffffffff;
  int ea = (int)(a >> 52), eb = (int)(b >> 52);
  uint64_t m = ea ? (a & 0xfffffffffffff) | 0x10000000000000 : a,
           d = eb ? (b & 0xfffffffffffff) | 0x10000000000000 : b;
  if (a < b) return x;
  ea += !ea;
  eb += !eb;
  for (m %= d; ea > eb && m; --ea) m = 2 * m % d;
  const tc_f64 unit = __builtin_bit_cast(tc_f64, (uint64_t)eb << 52); /* 2^(eb - 1023) */
  const tc_f64 r = (tc_f64)m * 0x1p-52 * unit; /* in this order: m * unit may overflow */
  return __builtin_copysign(
      eb > 60 ? r : (tc_f64)m * 0x1p-1022 * __builtin_bit_cast(tc_f64, (uint64_t)(eb + 970) << 52),
      x);
}
/* x - trunc(x / y) y, exact: the quotient is corrected where x / y rounded to the next integer. */
TC_LONG tc_vf64 tc_fmod_f64(tc_vf64 x, tc_vf64 y) {
#pragma clang fp contract(off)
  const tc_vf64 a = __builtin_elementwise_abs(x), b = __builtin_elementwise_abs(y),
                inf = (tc_vf64)__builtin_inf();
  const tc_vf64 ratio = a / b, q = __builtin_elementwise_trunc(ratio);
  const tc_vb8 far = TC_TRUTH((ratio >= 0x1p52) & (a < inf) & (b > 0)) |
                     TC_TRUTH((a < inf) & (b > 0) & (b < 0x1p-900)) |
                     TC_TRUTH((a < inf) & (b > 0x1p900) & (b < inf)); /* b splits, without FMA */
  tc_vf64 e;
  const tc_vf64 p = tc_two_product(q, b, &e);
  tc_vf64 r = (a - p) - e;
  r = r < 0 ? r + b : r;
  r = r >= b ? r - b : r;
  r = (b == inf) & (a < inf) ? a : r;
  r = __builtin_elementwise_copysign(r, x);
  if (__builtin_expect(tc_anytrue(far), 0))
    for (int l = 0; l < TC_L; ++l)
      if (far[l]) r[l] = tc_fmod_large(x[l], y[l]);
  return (b == 0) | !(a < inf) | (y != y) ? (tc_vf64)__builtin_nan("") : r;
}
/* @ tc_remainder_f64 */
TC_LONG tc_vf64 tc_remainder_f64(tc_vf64 x, tc_vf64 y) {
  const tc_vf64 r = tc_fmod_f64(x, y);
  return (r != 0) & ((r < 0) != (y < 0)) ? r + y : r;
}
/* @ tc_floordiv_f64 */
/* floor of the exact quotient: x / y may round up to the next integer, x - fmod(x, y) does not.  An
 * infinite x gives NaN, and a zero has the sign of x / y. */
TC_FN tc_vf64 tc_floordiv_f64(tc_vf64 x, tc_vf64 y) {
  const tc_vf64 r = tc_fmod_f64(x, y), plain = x / y;
  tc_vf64 q = (x - r) / y;
  q = (r != 0) & ((r < 0) != (y < 0)) ? q - 1.0 : q;
  const tc_vf64 f = __builtin_elementwise_floor(q), g = q - f > 0.5 ? f + 1.0 : f;
  const tc_vf64 zero = __builtin_elementwise_copysign((tc_vf64)0.0, plain);
  return y == 0 ? plain : q == 0 ? zero : g;
}
