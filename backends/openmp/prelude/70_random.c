/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011), a pure function of (seed, element number), as
 * the runtime's philox.h defines it: key = seed; counter = {block, block >> 32, stream, 0}.  f32,
 * f16 and bf16 take word i % 4 of block i / 4; f64 takes 53 bits of words 2 (i % 2), 2 (i % 2) + 1
 * of block i / 2. Uniforms (stream 0) are equal bit for bit, normals (stream 1, Box-Muller in f64)
 * to the dtype's tolerance. */
/* @ tc_high_product */
/* The upper halves of the products, of even and of odd lanes: two multiplications in registers of the same size, where
 * lanes of 64 bits would take four and conversions. */
TC_FN tc_vu32 tc_high_product(tc_vu32 a, uint32_t m) {
  typedef uint64_t pairs __attribute__((vector_size(sizeof(tc_vu32))));
  const pairs both = (pairs)a, even = (both & 0xffffffffu) * m, odd = (both >> 32) * m;
  return (tc_vu32)(even >> 32 | (odd & ~(uint64_t)0xffffffffu));
}
/* @ tc_philox */
TC_SLOW void tc_philox(tc_vi64 seed, tc_vi64 block, uint32_t stream, tc_vu32 word[4]) {
  const tc_vu64 b = TC_BITS(u64, block), s = TC_BITS(u64, seed);
  tc_vu32 c0 = TC_CAST(u32, b), c1 = TC_CAST(u32, b >> 32), c2 = (tc_vu32)stream, c3 = (tc_vu32)0u;
  tc_vu32 k0 = TC_CAST(u32, s), k1 = TC_CAST(u32, s >> 32);
  for (int round = 0; round < 10; ++round) {
    const tc_vu32 h0 = tc_high_product(c0, 0xD2511F53u), h1 = tc_high_product(c2, 0xCD9E8D57u);
    const tc_vu32 l0 = c0 * 0xD2511F53u, l1 = c2 * 0xCD9E8D57u;
    c0 = h1 ^ c1 ^ k0;
    c2 = h0 ^ c3 ^ k1;
    c1 = l1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  word[0] = c0;
  word[1] = c1;
  word[2] = c2;
  word[3] = c3;
}
/* @ tc_philox_word */
/* word[which] lane by lane. */
TC_FN tc_vu32 tc_philox_word(const tc_vu32 word[4], tc_vi64 which) {
  const tc_vi32 w = TC_CAST(i32, which);
  const tc_vu32 even = (w & 2) != 0 ? word[2] : word[0], odd = (w & 2) != 0 ? word[3] : word[1];
  return (w & 1) != 0 ? odd : even;
}
/* @ tc_uniform_of_word */
TC_FN tc_vf32 tc_uniform_of_word(tc_vu32 word, int bits) {
  return TC_CAST(f32, TC_BITS(i32, word >> (uint32_t)(32 - bits))) * (1.0f / (float)(1u << bits));
}
/* @ tc_philox_uniform */
TC_FN tc_vf32 tc_philox_uniform(tc_vi64 seed, tc_vi64 i, int bits) {
  tc_vu32 word[4];
  tc_philox(seed, TC_BITS(i64, TC_BITS(u64, i) >> 2), 0, word);
  return tc_uniform_of_word(tc_philox_word(word, i & 3), bits);
}
/* @ tc_random_run */
/* The uniforms of TC_L blocks, those of elements first, first + 1, ...: a loop over neighbours computes a block once, and
 * not for each of its elements. */
typedef struct tc_random_run {
  int64_t first;
  tc_f32 value[4 * TC_L];
} tc_random_run;
#define TC_NO_RANDOM_RUN (-0x7fffffffffffffff - 1)
/* @ tc_random_run_of */
TC_SLOW void tc_random_run_of(tc_random_run *r, int64_t seed, int64_t i, int bits) {
  tc_vu32 w[4];
  r->first = i & ~(int64_t)3;
  tc_philox(tc_set_i64(seed), tc_set_i64(r->first >> 2) + TC_LANES(i64), 0, w);
  tc_interleave4_f32(r->value, 0, tc_uniform_of_word(w[0], bits), tc_uniform_of_word(w[1], bits),
                     tc_uniform_of_word(w[2], bits), tc_uniform_of_word(w[3], bits));
}
/* @ tc_random_next */
TC_FN tc_vf32 tc_random_next(tc_random_run *r, int64_t seed, int64_t i, int bits) {
  if ((uint64_t)i - (uint64_t)r->first > 3 * TC_L) tc_random_run_of(r, seed, i, bits);
  return tc_load_f32(r->value + (i - r->first));
}
/* @ tc_randrun_f32 */
TC_FN tc_vf32 tc_randrun_f32(tc_random_run *r, int64_t seed, int64_t i) { return tc_random_next(r, seed, i, 24); }
/* @ tc_randrun_f16 */
TC_FN tc_vf32 tc_randrun_f16(tc_random_run *r, int64_t seed, int64_t i) { return tc_random_next(r, seed, i, 11); }
/* @ tc_randrun_bf16 */
TC_FN tc_vf32 tc_randrun_bf16(tc_random_run *r, int64_t seed, int64_t i) { return tc_random_next(r, seed, i, 8); }
/* @ tc_rand_f32 */
TC_FN tc_vf32 tc_rand_f32(tc_vi64 seed, tc_vi64 i) { return tc_philox_uniform(seed, i, 24); }
/* @ tc_rand_f16 */
TC_FN tc_vf32 tc_rand_f16(tc_vi64 seed, tc_vi64 i) { return tc_philox_uniform(seed, i, 11); }
/* @ tc_rand_bf16 */
TC_FN tc_vf32 tc_rand_bf16(tc_vi64 seed, tc_vi64 i) { return tc_philox_uniform(seed, i, 8); }
/* @ tc_philox_bits53 */
/* Words 2 half + 1 (high) and 2 half (low), as a number below 2^53. */
TC_FN tc_vf64 tc_philox_bits53(const tc_vu32 word[4], tc_vi64 half) {
  const tc_vu64 hi = TC_CAST(u64, tc_philox_word(word, 2 * half + 1)),
                lo = TC_CAST(u64, tc_philox_word(word, 2 * half));
  return TC_CAST(f64, TC_BITS(i64, (hi << 32 | lo) >> 11));
}
/* @ tc_rand_f64 */
TC_FN tc_vf64 tc_rand_f64(tc_vi64 seed, tc_vi64 i) {
  tc_vu32 word[4];
  tc_philox(seed, TC_BITS(i64, TC_BITS(u64, i) >> 1), 0, word);
  return tc_philox_bits53(word, i & 1) * 0x1p-53;
}
/* @ tc_box_muller */
/* sqrt(-2 ln u1) cos(2 pi u2) for even elements, sin for odd ones: cos(2 pi u2) = sin(2 pi (u2 + 1/4)). */
TC_FN tc_vf64 tc_box_muller(tc_vf64 u1, tc_vf64 u2, tc_vi64 odd) {
  const tc_vf64 turn = odd != 0 ? u2 : u2 + 0.25;
  return __builtin_elementwise_sqrt(-2.0 * tc_log_f64(u1)) *
         tc_sin_f64(6.283185307179586476925 * turn);
}
/* @ tc_randn_f32 */
TC_FN tc_vf32 tc_randn_f32(tc_vi64 seed, tc_vi64 i) {
  tc_vu32 word[4];
  tc_philox(seed, TC_BITS(i64, TC_BITS(u64, i) >> 2), 1, word);
  const tc_vf64 a = TC_CAST(f64, tc_philox_word(word, i & 2)),
                b = TC_CAST(f64, tc_philox_word(word, (i & 2) + 1));
  return TC_CAST(f32, tc_box_muller((a + 1.0) * 0x1p-32, b * 0x1p-32, i & 1));
}
/* @ tc_randn_f16 */
TC_FN tc_vf32 tc_randn_f16(tc_vi64 seed, tc_vi64 i) { return tc_randn_f32(seed, i); }
/* @ tc_randn_bf16 */
TC_FN tc_vf32 tc_randn_bf16(tc_vi64 seed, tc_vi64 i) { return tc_randn_f32(seed, i); }
/* @ tc_randn_f64 */
TC_FN tc_vf64 tc_randn_f64(tc_vi64 seed, tc_vi64 i) {
  tc_vu32 word[4];
  tc_philox(seed, TC_BITS(i64, TC_BITS(u64, i) >> 1), 1, word);
  const tc_vi64 zero = i & 0;
  const tc_vf64 u1 = (tc_philox_bits53(word, zero) + 1.0) * 0x1p-53,
                u2 = tc_philox_bits53(word, zero + 1) * 0x1p-53;
  return tc_box_muller(u1, u2, i & 1);
}
