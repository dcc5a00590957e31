/* Lanes by number; loads with a stride of s elements, and interleaved stores: s vectors of TC_L elements, of
 * which lane l is next to lane l of the others in memory. */
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
/* @ TC_INTERLEAVED */
#define TC_PLACE(l, s, u) ((u)*TC_L + (l))
#define TC_BOTH(a, b)                                                                              \
  __builtin_shufflevector(a, b, TC_EACH(TC_PLACE, 0, 0), TC_EACH(TC_PLACE, 0, 1))
/* Where s vectors hold element l * s.  The last of them ends with the last element that is wanted,
 * so that none behind it is read. */
#define TC_STRIDE_PLACE(l, s, u) ((l) * (s) + ((l) * (s) < ((s)-1) * TC_L ? 0 : (s)-1))
/* Where s vectors, one of each channel, hold what goes to lane l of vector u in memory. */
#define TC_INTERLEAVE_PLACE(l, s, u) (((u)*TC_L + (l)) % (s)*TC_L + ((u)*TC_L + (l)) / (s))
/* Every s-th element of `s` vectors; the store of vector u at p, of channels in pairs. */
#define TC_PICK(ab, cd, s) __builtin_shufflevector(ab, cd, TC_EACH(TC_STRIDE_PLACE, s, 0))
#define TC_STORE_INTERLEAVED(T, ab, cd, s, u)                                                      \
  tc_rawnontemporal_##T(p + (u)*TC_L,                                                              \
                        __builtin_shufflevector(ab, cd, TC_EACH(TC_INTERLEAVE_PLACE, s, u)),       \
                        nontemporal)
/* The same of the first n elements of all vectors. */
#define TC_STOREN_INTERLEAVED(T, ab, cd, s, u)                                                     \
  if ((s)*n > (u)*TC_L)                                                                            \
  tc_rawstoren_##T(p + (u)*TC_L, __builtin_shufflevector(ab, cd, TC_EACH(TC_INTERLEAVE_PLACE, s, u)), \
                   TC_MIN((s)*n - (u)*TC_L, TC_L))
#define TC_EVEN_PLACE(l, s, u) (2 * (l))
/* tc_loadstride<s>_T(p): p[l * s].  tc_loadstride2n_T(p, n): of lanes 0 to n - 1, the others 0.  tc_interleave<s>_T(p, nontemporal, a, ..): p[l * s] = a[l], p[l * s + 1] = ..;
 * nontemporal where that flag says so.  tc_interleave<s>n_T(p, n, a, ..): of lanes 0 to n - 1.  Memory type T, moved as R, computed as V. */
#define TC_INTERLEAVED(T, R, V, IN, OUT)                                                           \
  TC_FN tc_v##V tc_loadstride2_##T(const tc_##T *p) {                                              \
    return IN(TC_PICK(tc_rawload_##T(p), tc_rawload_##T(p + TC_L - 1), 2));                        \
  }                                                                                                \
  TC_FN tc_v##V tc_loadstride2n_##T(const tc_##T *p, int64_t n) {                                  \
    const int64_t last = 2 * n - 1;                                                                \
    if (n == TC_L) return tc_loadstride2_##T(p);                                                   \
    const tc_v##R a = tc_rawloadn_##T(p, TC_MIN(last, TC_L));                                      \
    const tc_v##R b = tc_rawloadn_##T(p + TC_L, TC_MAX(last - TC_L, 0));                           \
    return IN(__builtin_shufflevector(a, b, TC_EACH(TC_EVEN_PLACE, 0, 0)));                        \
  }                                                                                                \
  TC_FN tc_v##V tc_loadstride3_##T(const tc_##T *p) {                                              \
    const tc_v##R c = tc_rawload_##T(p + 2 * (TC_L - 1));                                          \
    return IN(TC_PICK(TC_BOTH(tc_rawload_##T(p), tc_rawload_##T(p + TC_L)), TC_BOTH(c, c), 3));    \
  }                                                                                                \
  TC_FN tc_v##V tc_loadstride4_##T(const tc_##T *p) {                                              \
    const tc_v##R c = tc_rawload_##T(p + 2 * TC_L), d = tc_rawload_##T(p + 3 * (TC_L - 1));        \
    return IN(TC_PICK(TC_BOTH(tc_rawload_##T(p), tc_rawload_##T(p + TC_L)), TC_BOTH(c, d), 4));    \
  }                                                                                                \
  TC_FN void tc_interleave2_##T(tc_##T *p, int nontemporal, tc_v##V v, tc_v##V w) {                \
    const tc_v##R a = OUT(v), b = OUT(w);                                                          \
    TC_STORE_INTERLEAVED(T, a, b, 2, 0);                                                           \
    TC_STORE_INTERLEAVED(T, a, b, 2, 1);                                                           \
  }                                                                                                \
  TC_FN void tc_interleave2n_##T(tc_##T *p, int64_t n, tc_v##V v, tc_v##V w) {                     \
    const tc_v##R a = OUT(v), b = OUT(w);                                                          \
    TC_STOREN_INTERLEAVED(T, a, b, 2, 0);                                                          \
    TC_STOREN_INTERLEAVED(T, a, b, 2, 1);                                                          \
  }                                                                                                \
  TC_FN void tc_interleave3_##T(tc_##T *p, int nontemporal, tc_v##V v, tc_v##V w, tc_v##V x) {     \
    const tc_v##R a = OUT(v), b = OUT(w), c = OUT(x);                                              \
    TC_STORE_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, c), 3, 0);                                   \
    TC_STORE_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, c), 3, 1);                                   \
    TC_STORE_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, c), 3, 2);                                   \
  }                                                                                                \
  TC_FN void tc_interleave3n_##T(tc_##T *p, int64_t n, tc_v##V v, tc_v##V w, tc_v##V x) {          \
    const tc_v##R a = OUT(v), b = OUT(w), c = OUT(x);                                              \
    TC_STOREN_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, c), 3, 0);                                  \
    TC_STOREN_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, c), 3, 1);                                  \
    TC_STOREN_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, c), 3, 2);                                  \
  }                                                                                                \
  TC_FN void tc_interleave4_##T(tc_##T *p, int nontemporal, tc_v##V v, tc_v##V w, tc_v##V x,       \
                                tc_v##V y) {                                                       \
    const tc_v##R a = OUT(v), b = OUT(w), c = OUT(x), d = OUT(y);                                  \
    TC_STORE_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, d), 4, 0);                                   \
    TC_STORE_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, d), 4, 1);                                   \
    TC_STORE_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, d), 4, 2);                                   \
    TC_STORE_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, d), 4, 3);                                   \
  }                                                                                                \
  TC_FN void tc_interleave4n_##T(tc_##T *p, int64_t n, tc_v##V v, tc_v##V w, tc_v##V x,            \
                                 tc_v##V y) {                                                      \
    const tc_v##R a = OUT(v), b = OUT(w), c = OUT(x), d = OUT(y);                                  \
    TC_STOREN_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, d), 4, 0);                                  \
    TC_STOREN_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, d), 4, 1);                                  \
    TC_STOREN_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, d), 4, 2);                                  \
    TC_STOREN_INTERLEAVED(T, TC_BOTH(a, b), TC_BOTH(c, d), 4, 3);                                  \
  }
/* @ tc_loadstride*_f32 tc_interleave*_f32 */
TC_INTERLEAVED(f32, f32, f32, TC_PLAIN_f32, TC_PLAIN_f32)
/* @ tc_loadstride*_f64 tc_interleave*_f64 */
TC_INTERLEAVED(f64, f64, f64, TC_PLAIN_f64, TC_PLAIN_f64)
/* @ tc_loadstride*_i8 tc_interleave*_i8 */
TC_INTERLEAVED(i8, i8, i8, TC_PLAIN_i8, TC_PLAIN_i8)
/* @ tc_loadstride*_u8 tc_interleave*_u8 */
TC_INTERLEAVED(u8, u8, u8, TC_PLAIN_u8, TC_PLAIN_u8)
/* @ tc_loadstride*_b8 tc_interleave*_b8 */
TC_INTERLEAVED(b8, u8, u8, TC_PLAIN_u8, TC_PLAIN_u8)
/* @ tc_loadstride*_i16 tc_interleave*_i16 */
TC_INTERLEAVED(i16, i16, i16, TC_PLAIN_i16, TC_PLAIN_i16)
/* @ tc_loadstride*_i32 tc_interleave*_i32 */
TC_INTERLEAVED(i32, i32, i32, TC_PLAIN_i32, TC_PLAIN_i32)
/* @ tc_loadstride*_i64 tc_interleave*_i64 */
TC_INTERLEAVED(i64, i64, i64, TC_PLAIN_i64, TC_PLAIN_i64)
/* @ tc_loadstride*_bf16 tc_interleave*_bf16 */
TC_INTERLEAVED(bf16, u16, f32, tc_widen_bf16, tc_narrow_bf16)
/* @ tc_loadstride*_f16 tc_interleave*_f16 */
TC_INTERLEAVED(f16, u16, f32, tc_widen_f16, tc_narrow_f16)
