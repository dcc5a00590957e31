/* Lanes by number, and arrays of pixels: s channels of TC_L pixels are s vectors in memory. */
/* @ TC_EACH */
/* F(l, s, u) of every lane l. */
#if TC_L == 16
#define TC_EACH(F, s, u)                                                                           \
  F(0, s, u), F(1, s, u), F(2, s, u), F(3, s, u), F(4, s, u), F(5, s, u), F(6, s, u), F(7, s, u),  \
      F(8, s, u), F(9, s, u), F(10, s, u), F(11, s, u), F(12, s, u), F(13, s, u), F(14, s, u),     \
      F(15, s, u)
#elif TC_L == 8
#define TC_EACH(F, s, u)                                                                           \
  F(0, s, u), F(1, s, u), F(2, s, u), F(3, s, u), F(4, s, u), F(5, s, u), F(6, s, u), F(7, s, u)
#else
#define TC_EACH(F, s, u) F(0, s, u), F(1, s, u), F(2, s, u), F(3, s, u)
#endif
/* @ TC_CHANNELS */
#define TC_PLACE(l, s, u) ((u) * TC_L + (l))
#define TC_BOTH(a, b)                                                                              \
  __builtin_shufflevector(a, b, TC_EACH(TC_PLACE, 0, 0), TC_EACH(TC_PLACE, 0, 1))
/* Where s vectors hold element l * s.  The last of them ends with the last element that is wanted,
 * so that none behind it is read. */
#define TC_APART(l, s, u) ((l) * (s) + ((l) * (s) < ((s)-1) * TC_L ? 0 : (s)-1))
/* Where s vectors, one of each channel, hold what lane l of vector u of the pixels gets. */
#define TC_TOGETHER(l, s, u) (((u) * TC_L + (l)) % (s) * TC_L + ((u) * TC_L + (l)) / (s))
/* Every s-th element of `s` vectors, and vector u of the pixels at p, of channels in pairs. */
#define TC_PICK(ab, cd, s) __builtin_shufflevector(ab, cd, TC_EACH(TC_APART, s, 0))
#define TC_PIXELS(T, ab, cd, s, u)                                                                 \
  tc_rawstream_##T(p + (u) * TC_L, __builtin_shufflevector(ab, cd, TC_EACH(TC_TOGETHER, s, u)), nt)
/* tc_apart<s>_T(p): p[l * s].  tc_together<s>_T(p, nt, a, ..): p[l * s] = a[l], p[l * s + 1] = ..;
 * past the caches where nt.  Memory type T, moved as R, computed as V. */
#define TC_CHANNELS(T, R, V, IN, OUT)                                                              \
  TC_FN tc_v##V tc_apart2_##T(const tc_##T *p) {                                                   \
    return IN(TC_PICK(tc_rawload_##T(p), tc_rawload_##T(p + TC_L - 1), 2));                        \
  }                                                                                                \
  TC_FN tc_v##V tc_apart3_##T(const tc_##T *p) {                                                   \
    const tc_v##R c = tc_rawload_##T(p + 2 * (TC_L - 1));                                          \
    return IN(TC_PICK(TC_BOTH(tc_rawload_##T(p), tc_rawload_##T(p + TC_L)), TC_BOTH(c, c), 3));    \
  }                                                                                                \
  TC_FN tc_v##V tc_apart4_##T(const tc_##T *p) {                                                   \
    const tc_v##R c = tc_rawload_##T(p + 2 * TC_L), d = tc_rawload_##T(p + 3 * (TC_L - 1));        \
    return IN(TC_PICK(TC_BOTH(tc_rawload_##T(p), tc_rawload_##T(p + TC_L)), TC_BOTH(c, d), 4));    \
  }                                                                                                \
  TC_FN void tc_together2_##T(tc_##T *p, int nt, tc_v##V v, tc_v##V w) {                           \
    const tc_v##R a = OUT(v), b = OUT(w);                                                          \
    TC_PIXELS(T, a, b, 2, 0);                                                                      \
    TC_PIXELS(T, a, b, 2, 1);                                                                      \
  }                                                                                                \
  TC_FN void tc_together3_##T(tc_##T *p, int nt, tc_v##V v, tc_v##V w, tc_v##V x) {                \
    const tc_v##R a = OUT(v), b = OUT(w), c = OUT(x);                                              \
    TC_PIXELS(T, TC_BOTH(a, b), TC_BOTH(c, c), 3, 0);                                              \
    TC_PIXELS(T, TC_BOTH(a, b), TC_BOTH(c, c), 3, 1);                                              \
    TC_PIXELS(T, TC_BOTH(a, b), TC_BOTH(c, c), 3, 2);                                              \
  }                                                                                                \
  TC_FN void tc_together4_##T(tc_##T *p, int nt, tc_v##V v, tc_v##V w, tc_v##V x, tc_v##V y) {     \
    const tc_v##R a = OUT(v), b = OUT(w), c = OUT(x), d = OUT(y);                                  \
    TC_PIXELS(T, TC_BOTH(a, b), TC_BOTH(c, d), 4, 0);                                              \
    TC_PIXELS(T, TC_BOTH(a, b), TC_BOTH(c, d), 4, 1);                                              \
    TC_PIXELS(T, TC_BOTH(a, b), TC_BOTH(c, d), 4, 2);                                              \
    TC_PIXELS(T, TC_BOTH(a, b), TC_BOTH(c, d), 4, 3);                                              \
  }
/* @ tc_apart*_f32 tc_together*_f32 */
TC_CHANNELS(f32, f32, f32, TC_PLAIN_f32, TC_PLAIN_f32)
/* @ tc_apart*_f64 tc_together*_f64 */
TC_CHANNELS(f64, f64, f64, TC_PLAIN_f64, TC_PLAIN_f64)
/* @ tc_apart*_i8 tc_together*_i8 */
TC_CHANNELS(i8, i8, i8, TC_PLAIN_i8, TC_PLAIN_i8)
/* @ tc_apart*_u8 tc_together*_u8 */
TC_CHANNELS(u8, u8, u8, TC_PLAIN_u8, TC_PLAIN_u8)
/* @ tc_apart*_b8 tc_together*_b8 */
TC_CHANNELS(b8, u8, u8, TC_PLAIN_u8, TC_PLAIN_u8)
/* @ tc_apart*_i16 tc_together*_i16 */
TC_CHANNELS(i16, i16, i16, TC_PLAIN_i16, TC_PLAIN_i16)
/* @ tc_apart*_i32 tc_together*_i32 */
TC_CHANNELS(i32, i32, i32, TC_PLAIN_i32, TC_PLAIN_i32)
/* @ tc_apart*_i64 tc_together*_i64 */
TC_CHANNELS(i64, i64, i64, TC_PLAIN_i64, TC_PLAIN_i64)
/* @ tc_apart*_bf16 tc_together*_bf16 */
TC_CHANNELS(bf16, u16, f32, tc_widen_bf16, tc_narrow_bf16)
/* @ tc_apart*_f16 tc_together*_f16 */
TC_CHANNELS(f16, u16, f32, tc_widen_f16, tc_narrow_f16)
