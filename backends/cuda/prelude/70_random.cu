/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011), a pure function of (seed, element number), as
 * the runtime's philox.h defines it: key = seed; counter = {block, block >> 32, stream, 0}.  f32,
 * f16 and bf16 take word i % 4 of block i / 4; f64 takes 53 bits of words 2 (i % 2), 2 (i % 2) + 1
 * of block i / 2.  Uniforms (stream 0) are equal bit for bit, normals (stream 1, Box-Muller in f64)
 * to the dtype's tolerance. */
/* @ tc_philox */
TC_FN uint4 tc_philox(tc_i64 seed, tc_u64 block, tc_u32 stream) {
  tc_u32 c0 = (tc_u32)block, c1 = (tc_u32)(block >> 32), c2 = stream, c3 = 0;
  tc_u32 k0 = (tc_u32)seed, k1 = (tc_u32)((tc_u64)seed >> 32);
  TC_UNROLL for (int round = 0; round < 10; ++round) {
    const tc_u32 h0 = __umulhi(c0, 0xD2511F53u), l0 = c0 * 0xD2511F53u;
    const tc_u32 h1 = __umulhi(c2, 0xCD9E8D57u), l1 = c2 * 0xCD9E8D57u;
    c0 = h1 ^ c1 ^ k0;
    c2 = h0 ^ c3 ^ k1;
    c1 = l1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  uint4 r;
  r.x = c0;
  r.y = c1;
  r.z = c2;
  r.w = c3;
  return r;
}
TC_FN tc_u32 tc_philox_word(const uint4 &w, int i) {
  return (i & 2) ? ((i & 1) ? w.w : w.z) : ((i & 1) ? w.y : w.x);
}
/* @ TC_RANDOM */
#define TC_RANDOM(name, R, call)                                                                   \
  template <int M, int N>                                                                          \
  TC_FN tc_vec<R, tc_most(M, N)> name(const tc_vec<tc_i64, M> &seed, const tc_vec<tc_i64, N> &at) { \
    tc_vec<R, tc_most(M, N)> r;                                                                    \
    TC_FOR_EACH(tc_most(M, N), r.l[i] = (R)call(TC_AT(seed, i), (tc_u64)TC_AT(at, i)));            \
    return r;                                                                                      \
  }
/* @ tc_uniform_bits tc_uniform_of_word */
/* Bits of a uniform of type T. */
template <class T> constexpr int tc_uniform_bits = 24;
template <> constexpr int tc_uniform_bits<tc_f16> = 11;
template <> constexpr int tc_uniform_bits<tc_bf16> = 8;
template <class T> TC_FN tc_f32 tc_uniform_of_word(tc_u32 word) {
  return (tc_f32)(word >> (32 - tc_uniform_bits<T>)) * (1.0f / (tc_f32)(1u << tc_uniform_bits<T>));
}
/* @ TC_UNIFORM */
/* Neighbours share their blocks. */
#define TC_UNIFORM(name, T)                                                                        \
  template <int M, int N>                                                                          \
  TC_FN tc_vec<tc_f32, tc_most(M, N)> name(const tc_vec<tc_i64, M> &seed, const tc_vec<tc_i64, N> &at) { \
    tc_vec<tc_f32, tc_most(M, N)> r;                                                               \
    uint4 w = tc_philox(TC_AT(seed, 0), (tc_u64)at.l[0] >> 2, 0);                                  \
    TC_UNROLL for (int i = 0; i < tc_most(M, N); ++i) {                                            \
      const tc_u64 at_i = (tc_u64)TC_AT(at, i);                                                    \
      if (i > 0 && (M > 1 || at_i >> 2 != (tc_u64)TC_AT(at, i - 1) >> 2))                          \
        w = tc_philox(TC_AT(seed, i), at_i >> 2, 0);                                               \
      r.l[i] = tc_uniform_of_word<T>(tc_philox_word(w, (int)(at_i & 3)));                       \
    }                                                                                              \
    return r;                                                                                      \
  }
/* @ tc_rand_f32 */
TC_UNIFORM(tc_rand_f32, tc_f32)
/* @ tc_rand_f16 */
TC_UNIFORM(tc_rand_f16, tc_f16)
/* @ tc_rand_bf16 */
TC_UNIFORM(tc_rand_bf16, tc_bf16)
/* @ tc_all */
TC_FN bool tc_all(bool x) { return __ballot_sync(0xffffffffu, x) == 0xffffffffu; } /* of the warp */
/* @ tc_uniform_below */
/* Is the uniform of type T that the word is below p, or equal?  Words are compared: of a p that is one for many words that is
 * all that there is to do for each. */
template <class T, bool or_equal> TC_FN bool tc_uniform_below(tc_u32 word, tc_f32 p) {
  constexpr tc_u32 unit = 1u << (32 - tc_uniform_bits<T>), all = 1u << tc_uniform_bits<T>;
  const tc_f32 x = p * (tc_f32)all;
  const tc_u32 below = !(x >= 0) ? 0 : x >= (tc_f32)all ? all : (tc_u32)(or_equal ? floorf(x) + 1 : ceilf(x));
  return word <= below * unit - 1 && below > 0;
}
/* @ tc_uniform_lt tc_uniform_le tc_uniform_gt tc_uniform_ge */
template <class T> TC_FN bool tc_uniform_lt(tc_u32 word, tc_f32 p) { return tc_uniform_below<T, false>(word, p); }
template <class T> TC_FN bool tc_uniform_le(tc_u32 word, tc_f32 p) { return tc_uniform_below<T, true>(word, p); }
template <class T> TC_FN bool tc_uniform_gt(tc_u32 word, tc_f32 p) { return !tc_uniform_le<T>(word, p) && p == p; }
template <class T> TC_FN bool tc_uniform_ge(tc_u32 word, tc_f32 p) { return !tc_uniform_lt<T>(word, p) && p == p; }
/* @ tc_philox_from */
/* The words of four numbers from `at` on, which may be in two blocks. */
TC_FN uint4 tc_philox_from(tc_i64 seed, tc_u64 at) {
  const uint4 a = tc_philox(seed, at >> 2, 0), b = tc_philox(seed, (at >> 2) + 1, 0);
  const bool one = at & 1, two = at & 2;
  const tc_u32 w[6] = {one ? a.y : a.x, one ? a.z : a.y, one ? a.w : a.z, one ? b.x : a.w, one ? b.y : b.x, one ? b.z : b.y};
  uint4 r;
  r.x = two ? w[2] : w[0], r.y = two ? w[3] : w[1], r.z = two ? w[4] : w[2], r.w = two ? w[5] : w[3];
  return r;
}
/* @ tc_words_of_columns tc_words_of_rows */
/* The words of uniforms of a lane's rows l / 4 and l / 4 + 8, columns 2 (l % 4) and the next, of 16 x 8 that lie so in
 * registers.  w: those that the lane computes for four of them.
 *
 *   columns  of four columns of a row, which are numbered one after the other: the first ones or the others by l / 2 % 2, of
 *            the second row where l is odd
 *   rows     of four rows of a column, likewise: the first ones of the lane's eight or the others by l / 16, of its first or
 *            second column by l / 8 % 2, of the second rows where l / 4 is odd */
TC_FN void tc_words_of_columns(tc_u32 (&to)[4], const uint4 &w) {
  const bool odd = threadIdx.x & 1;
  const tc_u32 x = tc_shuffle(0xffffffffu, odd ? w.x : w.z, 1), y = tc_shuffle(0xffffffffu, odd ? w.y : w.w, 1);
  to[0] = odd ? x : w.x, to[1] = odd ? y : w.y;
  to[2] = odd ? w.z : x, to[3] = odd ? w.w : y;
}
TC_FN void tc_words_of_rows(tc_u32 (&to)[4], const uint4 &w) {
  const bool odd = threadIdx.x & 4, high = threadIdx.x & 8;
  /* a transposition of 4 x 4: word l / 4 % 4 of all four */
  const tc_u32 x = tc_shuffle(0xffffffffu, odd ? w.x : w.y, 4), z = tc_shuffle(0xffffffffu, odd ? w.z : w.w, 4);
  const tc_u32 even0 = odd ? x : w.x, odd0 = odd ? w.y : x; /* words 0 or 1, of lanes 0 and 1, or 2 and 3 */
  const tc_u32 even2 = odd ? z : w.z, odd2 = odd ? w.w : z; /* words 2 or 3 */
  const tc_u32 s = tc_shuffle(0xffffffffu, high ? even0 : even2, 8), t = tc_shuffle(0xffffffffu, high ? odd0 : odd2, 8);
  to[0] = high ? s : even0, to[1] = high ? even2 : s;
  to[2] = high ? t : odd0, to[3] = high ? odd2 : t;
}
/* @ tc_bits53 */
/* Words 2 half + 1 (high) and 2 half (low), as a number below 2^53. */
TC_FN tc_f64 tc_bits53(const uint4 &w, int half) {
  const tc_u64 hi = half ? w.w : w.y, lo = half ? w.z : w.x;
  return (tc_f64)((hi << 32 | lo) >> 11);
}
/* @ tc_uniform53 */
TC_FN tc_f64 tc_uniform53(tc_i64 seed, tc_u64 i) {
  return tc_bits53(tc_philox(seed, i >> 1, 0), (int)(i & 1)) * 0x1p-53;
}
/* @ tc_rand_f64 */
TC_RANDOM(tc_rand_f64, tc_f64, tc_uniform53)
/* @ tc_box_muller */
/* sqrt(-2 ln u1) cos(2 pi u2) for even elements, sin for odd ones. */
TC_FN tc_f64 tc_box_muller(tc_f64 u1, tc_f64 u2, int odd) {
  const tc_f64 r = sqrt(-2.0 * log(u1));
  return r * (odd ? sinpi(2.0 * u2) : cospi(2.0 * u2));
}
/* @ tc_normal */
TC_FN tc_f32 tc_normal(tc_i64 seed, tc_u64 i) {
  const uint4 w = tc_philox(seed, i >> 2, 1);
  const int pair = (int)(i & 2);
  const tc_f64 a = tc_philox_word(w, pair), b = tc_philox_word(w, pair + 1);
  return (tc_f32)tc_box_muller((a + 1.0) * 0x1p-32, b * 0x1p-32, (int)(i & 1));
}
/* @ tc_randn_f32 tc_randn_f16 tc_randn_bf16 */
TC_RANDOM(tc_randn_f32, tc_f32, tc_normal)
#define tc_randn_f16(seed, at) tc_randn_f32(seed, at)
#define tc_randn_bf16(seed, at) tc_randn_f32(seed, at)
/* @ tc_normal53 */
TC_FN tc_f64 tc_normal53(tc_i64 seed, tc_u64 i) {
  const uint4 w = tc_philox(seed, i >> 1, 1);
  return tc_box_muller((tc_bits53(w, 0) + 1.0) * 0x1p-53, tc_bits53(w, 1) * 0x1p-53, (int)(i & 1));
}
/* @ tc_randn_f64 */
TC_RANDOM(tc_randn_f64, tc_f64, tc_normal53)
