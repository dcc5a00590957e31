/* philox.h - the random numbers of tc_rand and tc_randn, a pure function of (seed, element index).
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011).
 * Key: the seed, low word first.  Counter: {block, block >> 32, stream, 0}; one block is 128 bits.
 *
 * f32, f16 and bf16 take one word per element, four elements a block.  A uniform is the top 24, 11
 * or 8 bits of the word (the precision of the dtype) as a fraction: exact, below 1, never rounded.
 * f64 takes two words per element, two elements a block, and 53 bits.
 *
 * Normals come in pairs (even and odd element) from two words, or for f64 from two double words,
 * through Box-Muller in double with u1 in (0,1] and u2 in [0,1):
 *   z_even = sqrt(-2 ln u1) cos(2 pi u2)      z_odd = sqrt(-2 ln u1) sin(2 pi u2)
 * An f32 normal is (float)z; f16 and bf16 normals are that float rounded to nearest.
 * Uniforms, normals and permutations (random.c) use streams of their own, so equal seeds do not
 * make them dependent.
 *
 * Generated code has its own copy of these definitions and must give the same numbers: uniforms bit
 * for bit, normals within the tolerance of the dtype. */
#ifndef TC_PHILOX_H
#define TC_PHILOX_H

#include <math.h>
#include <stdint.h>

enum { TC_PHILOX_UNIFORM = 0, TC_PHILOX_NORMAL = 1, TC_PHILOX_PERMUTATION = 2 };

typedef struct tc_philox_block {
  uint32_t word[4];
} tc_philox_block;

/* Ten rounds: (c0,c1,c2,c3) -> (hi(M1 c2)^c1^k0, lo(M1 c2), hi(M0 c0)^c3^k1, lo(M0 c0)). */
static __attribute__((noinline, unused)) tc_philox_block tc_philox(uint64_t seed, uint64_t block,
                                                                   uint32_t stream) {
  uint32_t c0 = (uint32_t)block, c1 = (uint32_t)(block >> 32), c2 = stream, c3 = 0;
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return (tc_philox_block){{c0, c1, c2, c3}};
}

/* The top `bits` <= 24 bits of element i's word as a multiple of 2^-bits in [0,1). */
static inline float tc_philox_uniform_bits(uint64_t seed, uint64_t i, int bits) {
  uint32_t word = tc_philox(seed, i / 4, TC_PHILOX_UNIFORM).word[i % 4];
  return (float)(word >> (32 - bits)) * (1.0f / (float)(1u << bits));
}

static inline float tc_philox_uniform_f32(uint64_t seed, uint64_t i) {
  return tc_philox_uniform_bits(seed, i, 24);
}

static inline float tc_philox_uniform_f16(uint64_t seed, uint64_t i) {
  return tc_philox_uniform_bits(seed, i, 11);
}

static inline float tc_philox_uniform_bf16(uint64_t seed, uint64_t i) {
  return tc_philox_uniform_bits(seed, i, 8);
}

/* 53 bits of words 2*half+1 (high) and 2*half (low). */
static inline uint64_t tc_philox_bits53(const tc_philox_block *b, unsigned half) {
  return ((uint64_t)b->word[2 * half + 1] << 32 | b->word[2 * half]) >> 11;
}

static inline double tc_philox_uniform_f64(uint64_t seed, uint64_t i) {
  tc_philox_block b = tc_philox(seed, i / 2, TC_PHILOX_UNIFORM);
  return (double)tc_philox_bits53(&b, i % 2) * 0x1p-53;
}

static inline double tc_box_muller(double u1, double u2, unsigned odd) {
  double r = sqrt(-2.0 * log(u1)), angle = 6.283185307179586476925 * u2;
  return r * (odd ? sin(angle) : cos(angle));
}

static inline float tc_philox_normal_f32(uint64_t seed, uint64_t i) {
  tc_philox_block b = tc_philox(seed, i / 4, TC_PHILOX_NORMAL);
  unsigned pair = i % 4 & 2u;
  double u1 = ((double)b.word[pair] + 1.0) * 0x1p-32, u2 = (double)b.word[pair + 1] * 0x1p-32;
  return (float)tc_box_muller(u1, u2, i & 1);
}

static inline double tc_philox_normal_f64(uint64_t seed, uint64_t i) {
  tc_philox_block b = tc_philox(seed, i / 2, TC_PHILOX_NORMAL);
  double u1 = ((double)tc_philox_bits53(&b, 0) + 1.0) * 0x1p-53;
  double u2 = (double)tc_philox_bits53(&b, 1) * 0x1p-53;
  return tc_box_muller(u1, u2, i & 1);
}

#endif
