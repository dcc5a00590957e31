/* SHA-256 (FIPS 180-4), for names that no two contents may share. */
#include "graph/support/sha256.h"

#include <string.h>

static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static uint32_t big_endian(const unsigned char *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void schedule(const unsigned char *block, uint32_t w[64]) {
  for (int i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
}

/* Round i, with the working variables where the rounds before left them: each round moves all of
 * them on by one, so that the next one names them shifted instead. */
static inline void take_round(uint32_t s[8], int i, uint32_t word) {
  uint32_t *const h = &s[(7 - i) & 7], *const d = &s[(3 - i) & 7];
  const uint32_t a = s[-i & 7], b = s[(1 - i) & 7], c = s[(2 - i) & 7], e = s[(4 - i) & 7];
  const uint32_t choice = (e & s[(5 - i) & 7]) ^ (~e & s[(6 - i) & 7]);
  const uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
  const uint32_t t1 =
      *h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + round_constant[i] + word;
  *d += t1;
  *h = t1 + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
}

static void take_block(uint32_t state[8], const unsigned char *block) {
  uint32_t w[64], s[8];
  schedule(block, w);
  memcpy(s, state, sizeof s);
  for (int i = 0; i < 64; i += 8) { /* unrolled, so that the variables are registers */
    take_round(s, 0 + i, w[i]);
    take_round(s, 1 + i, w[i + 1]);
    take_round(s, 2 + i, w[i + 2]);
    take_round(s, 3 + i, w[i + 3]);
    take_round(s, 4 + i, w[i + 4]);
    take_round(s, 5 + i, w[i + 5]);
    take_round(s, 6 + i, w[i + 6]);
    take_round(s, 7 + i, w[i + 7]);
  }
  for (int i = 0; i < 8; ++i) state[i] += s[i];
}

void tc_sha256_begin(tc_sha256 *h) {
  *h = (tc_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                             0x1f83d9ab, 0x5be0cd19}};
}

void tc_sha256_add(tc_sha256 *h, const void *data, size_t n) {
  for (const unsigned char *p = data; n;) {
    const size_t at = h->length % sizeof h->block, room = sizeof h->block - at;
    const size_t take = n < room ? n : room;
    memcpy(h->block + at, p, take);
    h->length += take;
    if (take == room) take_block(h->state, h->block);
    p += take;
    n -= take;
  }
}

void tc_sha256_add_field(tc_sha256 *h, const void *data, size_t n) {
  unsigned char length[8];
  for (int i = 0; i < 8; ++i) length[i] = (unsigned char)((uint64_t)n >> 8 * i);
  tc_sha256_add(h, length, sizeof length);
  tc_sha256_add(h, data, n);
}

tc_digest tc_sha256_end(tc_sha256 *h) {
  static const unsigned char padding[64] = {0x80};
  const uint64_t bits = h->length * 8;
  unsigned char length[8];
  for (int i = 0; i < 8; ++i) length[i] = (unsigned char)(bits >> (56 - 8 * i));
  tc_sha256_add(h, padding, 1 + (119 - h->length % 64) % 64);
  tc_sha256_add(h, length, sizeof length);
  tc_digest out;
  for (int i = 0; i < 32; ++i) out.byte[i] = (unsigned char)(h->state[i / 4] >> (24 - i % 4 * 8));
  return out;
}
