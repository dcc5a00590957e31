/* packed.h - the format of packed images: literals and matches (LZ77), every decision a bit that an
 * adaptive range coder codes by its probability in its context (after Martin 1979, and Pavlov's
 * LZMA).
 *
 * What the two sides share is here: the contexts, and how numbers become bits.  Each side defines
 * tc_code, one bit through its coder: the packer writes the bit that it is given, the unpacker
 * ignores it and returns the one it reads.
 *
 * A symbol is
 *   0                              a literal byte, in the context of the last byte and of the
 *                                  position modulo 4
 *   1 0 length distance            a match with a distance of its own
 *   1 1 which length               a match at one of the last three distances
 * Lengths begin at 2, distances at 1. */
#ifndef TC_CUDA_PACKED_H
#define TC_CUDA_PACKED_H

#include <stdint.h>

enum {
  TC_PACKED_LEAST = 2,      /* the shortest match */
  TC_PACKED_MOST = 2 + 271, /* the longest */
  TC_PACKED_RECENT = 3,     /* distances that are remembered */
  TC_PACKED_ONE = 1 << 12,  /* a probability is a number of these */
  TC_PACKED_HALF = 1 << 11,
  TC_PACKED_SPEED = 4,      /* a probability moves by 1 / 2^this of its error */
  TC_PACKED_BELOW = 1 << 24 /* a coder's range stays above */
};

/* Probabilities that a bit is 0. */
typedef struct tc_packed_model {
  uint16_t match[3][16]; /* by what the last two symbols were, and the position modulo 16 */
  uint16_t again[3];
  uint16_t which[2];
  uint16_t literal[32][256];
  struct {
    uint16_t large, larger, low[8][8], middle[8], high[256];
  } length[2];             /* of new distances, of recent ones */
  uint16_t slot[4][64];    /* of a distance, by the match's length */
  uint16_t footer[64][16]; /* its lowest bits, by the slot */
} tc_packed_model;

typedef struct tc_coder tc_coder;
static unsigned tc_code(tc_coder *c, uint16_t *probability, unsigned bit);

static inline void tc_packed_begin(tc_packed_model *m) {
  uint16_t *p = (uint16_t *)m;
  for (size_t i = 0; i < sizeof *m / sizeof *p; ++i) p[i] = TC_PACKED_HALF;
}

/* The probability p of 0 after a bit. */
static inline void tc_packed_learn(uint16_t *p, unsigned bit) {
  if (bit) *p = (uint16_t)(*p - (*p >> TC_PACKED_SPEED));
  else *p = (uint16_t)(*p + ((TC_PACKED_ONE - *p) >> TC_PACKED_SPEED));
}

/* The lowest `bits` bits of v, the highest first, each in the context of those before. */
static inline unsigned tc_code_tree(tc_coder *c, uint16_t *p, int bits, unsigned v) {
  unsigned node = 1;
  for (int i = bits - 1; i >= 0; --i) node = node << 1 | tc_code(c, &p[node], v >> i & 1);
  return node - (1u << bits);
}

/* Bits that are as likely 0 as 1. */
static inline uint32_t tc_code_plain(tc_coder *c, int bits, uint32_t v) {
  uint32_t out = 0;
  for (int i = bits - 1; i >= 0; --i) {
    uint16_t half = TC_PACKED_HALF;
    out = out << 1 | tc_code(c, &half, v >> i & 1);
  }
  return out;
}

static inline unsigned tc_code_literal(tc_coder *c, tc_packed_model *m, size_t at, unsigned last,
                                       unsigned byte) {
  return tc_code_tree(c, m->literal[(at & 3) << 3 | last >> 5], 8, byte);
}

/* 0 to 7, 8 to 15, 16 to 271, above TC_PACKED_LEAST. */
static inline unsigned tc_code_length(tc_coder *c, tc_packed_model *m, bool recent, size_t at,
                                      unsigned n) {
  if (!tc_code(c, &m->length[recent].large, n >= 8))
    return tc_code_tree(c, m->length[recent].low[at & 7], 3, n);
  if (!tc_code(c, &m->length[recent].larger, n >= 16))
    return 8 + tc_code_tree(c, m->length[recent].middle, 3, n - 8);
  return 16 + tc_code_tree(c, m->length[recent].high, 8, n - 16);
}

/* Distance - 1: how many bits it has and its second-highest bit (the slot), plain bits, and the
 * lowest four bits in their context: instructions are 16 bytes long. */
static inline uint32_t tc_code_distance(tc_coder *c, tc_packed_model *m, unsigned length,
                                        uint32_t d) {
  unsigned slot = d;
  int bits = 0;
  if (d >= 4) {
    bits = 30 - __builtin_clz(d);
    slot = 2 * (unsigned)(bits + 1) + (d >> bits & 1);
  }
  slot = tc_code_tree(c, m->slot[length < 3 ? length : 3], 6, slot);
  if (slot < 4) return slot;
  bits = (int)(slot >> 1) - 1;
  uint32_t out = 2 | (slot & 1);
  const int low = bits < 4 ? bits : 4;
  if (bits > low)
    out = out << (bits - low) | tc_code_plain(c, bits - low, d >> low & ((1u << (bits - low)) - 1));
  return out << low | tc_code_tree(c, m->footer[slot], low, d & ((1u << low) - 1));
}

#endif
