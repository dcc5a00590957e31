/* A 64-bit multiply-and-fold hash that reads its input as little-endian words, so that the result
 * does not depend on the machine.  Not for hostile keys. */
#include "graph/support/support.h"

static uint64_t fold(uint64_t h, uint64_t word) {
  h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
  return h ^ (h >> 29);
}

/* Of a whole word, so that compilers see one load; the bytes that are left are less than one. */
static uint64_t whole_word(const unsigned char *p) {
  uint64_t word = 0;
  for (size_t i = 0; i < 8; i++) word |= (uint64_t)p[i] << (8 * i);
  return word;
}

uint64_t tc_hash(const void *data, size_t n, uint64_t seed) {
  const unsigned char *p = data;
  uint64_t h = fold(seed + UINT64_C(0x2545F4914F6CDD1D), n);
  for (; n >= 8; p += 8, n -= 8) h = fold(h, whole_word(p));
  if (n) {
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++) word |= (uint64_t)p[i] << (8 * i);
    h = fold(h, word);
  }
  h *= UINT64_C(0xD6E8FEB86659FD93);
  return h ^ (h >> 32);
}
