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
/* @ tc_uniform_of_word */
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
/* @ tc_uniforms_of_columns tc_uniforms_of_rows tc_uniforms_apart */
/* The uniforms of a lane's rows l / 4 and l / 4 + 8, columns 2 (l % 4) and the next, of 16 x 8 that lie so in registers; a and
 * b: the number of the first of these columns in the lane's rows, and `step` from there to the next.
 *
 *   columns  neighbours along columns are numbered one after the other, rows those along rows: four lanes share four
 *            blocks, of which each computes one.  Blocks begin with a column, or a row, whose place is a multiple of 4
 *   apart    any others */
template <class T> TC_FN void tc_uniforms_of_columns(tc_f32 (&to)[4], tc_i64 seed, tc_i64 a, tc_i64 b) {
  const int lane = (int)threadIdx.x % 32;
  const bool odd = lane & 1;
  const uint4 w = tc_philox(seed, (tc_u64)(odd ? b : a) >> 2, 0);
  const tc_u32 x = tc_shuffle(0xffffffffu, odd ? w.x : w.z, 1), y = tc_shuffle(0xffffffffu, odd ? w.y : w.w, 1);
  to[0] = tc_uniform_of_word<T>(odd ? x : w.x), to[1] = tc_uniform_of_word<T>(odd ? y : w.y);
  to[2] = tc_uniform_of_word<T>(odd ? w.z : x), to[3] = tc_uniform_of_word<T>(odd ? w.w : y);
}
template <class T> TC_FN void tc_uniforms_of_rows(tc_f32 (&to)[4], tc_i64 seed, tc_i64 a, tc_i64 b, tc_i64 step) {
  const int row = (int)threadIdx.x % 32 / 4 % 4;
  const bool odd = row & 1, high = row & 2;
  const uint4 w = tc_philox(seed, (tc_u64)((odd ? b : a) + (high ? step : 0)) >> 2, 0);
  /* a transposition of 4 x 4: word `row` of all four */
  const tc_u32 x = tc_shuffle(0xffffffffu, odd ? w.x : w.y, 4), z = tc_shuffle(0xffffffffu, odd ? w.z : w.w, 4);
  const tc_u32 even0 = odd ? x : w.x, odd0 = odd ? w.y : x; /* words 0 or 1, of blocks 0 and 1, or 2 and 3 */
  const tc_u32 even2 = odd ? z : w.z, odd2 = odd ? w.w : z; /* words 2 or 3 */
  const tc_u32 s = tc_shuffle(0xffffffffu, high ? even0 : even2, 8), t = tc_shuffle(0xffffffffu, high ? odd0 : odd2, 8);
  to[0] = tc_uniform_of_word<T>(high ? s : even0), to[1] = tc_uniform_of_word<T>(high ? even2 : s);
  to[2] = tc_uniform_of_word<T>(high ? t : odd0), to[3] = tc_uniform_of_word<T>(high ? odd2 : t);
}
template <class T> TC_FN void tc_uniforms_apart(tc_f32 (&to)[4], tc_i64 seed, tc_i64 a, tc_i64 b, tc_i64 step) {
  TC_ROLLED for (int i = 0; i < 4; ++i) {
    const tc_u64 at = (tc_u64)((i & 2 ? b : a) + (i & 1 ? step : 0));
    const tc_f32 x = tc_uniform_of_word<T>(tc_philox_word(tc_philox(seed, at >> 2, 0), (int)(at & 3)));
    TC_UNROLL for (int j = 0; j < 4; ++j) to[j] = i == j ? x : to[j];
  }
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
