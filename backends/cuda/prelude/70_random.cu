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
/* @ tc_uniform */
template <int bits> TC_FN tc_f32 tc_uniform(tc_i64 seed, tc_u64 i) {
  const uint4 w = tc_philox(seed, i >> 2, 0);
  return (tc_f32)(tc_philox_word(w, (int)(i & 3)) >> (32 - bits)) * (1.0f / (tc_f32)(1u << bits));
}
/* @ tc_rand_f32 */
TC_RANDOM(tc_rand_f32, tc_f32, tc_uniform<24>)
/* @ tc_rand_f16 */
TC_RANDOM(tc_rand_f16, tc_f32, tc_uniform<11>)
/* @ tc_rand_bf16 */
TC_RANDOM(tc_rand_bf16, tc_f32, tc_uniform<8>)
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
