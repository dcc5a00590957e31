/* pack.c - writes the format of runtime/libtcrt/src/cuda/packed.h.
 *
 * At every position: the longest match among the last places with the same three bytes, or a
 * shorter one at a recent distance, which costs fewer bits; put off by a byte where the next
 * position has a better one. */
#include "backends/cuda/pack.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/libtcrt/src/cuda/packed.h"

enum {
  HASH_BITS = 15,
  HASHED = 3, /* bytes */
  PLACES = 96 /* looked at per position */
};

/* The range coder.  A byte waits, with those of 255 behind it, until it is known whether a carry
 * comes. */
struct tc_coder {
  uint64_t low;
  uint32_t range;
  unsigned char waiting;
  size_t full; /* bytes of 255 behind the one that waits */
  unsigned char *out;
  size_t len, room; /* len grows past room: what does not fit is dropped */
};

typedef struct packer {
  tc_coder coder;
  tc_packed_model model;
  const unsigned char *in;
  size_t size;
  size_t recent[TC_PACKED_RECENT];
  int state;                               /* as in unpack.c */
  int32_t head[1 << HASH_BITS], *previous; /* last place of a hash; the one before a place */
} packer;

/* distance 0: none */
typedef struct match {
  size_t length, distance;
  int recent; /* which recent distance; TC_PACKED_RECENT: a new one */
} match;

/* ---- bits --------------------------------------------------------------------------------- */

static void put_byte(tc_coder *c, unsigned byte) {
  if (c->len < c->room) c->out[c->len] = (unsigned char)byte;
  ++c->len;
}

static void shift(tc_coder *c) {
  if (c->low < 0xff000000u || c->low > UINT32_MAX) {
    const unsigned carry = (unsigned)(c->low >> 32);
    put_byte(c, (c->waiting + carry) & 255);
    for (; c->full > 0; --c->full) put_byte(c, (255 + carry) & 255);
    c->waiting = (unsigned char)(c->low >> 24);
  } else ++c->full;
  c->low = (c->low & 0x00ffffff) << 8;
}

static unsigned tc_code(tc_coder *c, uint16_t *probability, unsigned bit) {
  const uint32_t zero = c->range / TC_PACKED_ONE * *probability;
  c->low += bit ? zero : 0;
  c->range = bit ? c->range - zero : zero;
  tc_packed_learn(probability, bit);
  while (c->range < TC_PACKED_BELOW) {
    c->range <<= 8;
    shift(c);
  }
  return bit;
}

/* ---- matches ------------------------------------------------------------------------------ */

static uint32_t hash_at(const packer *p, size_t at) {
  const unsigned char *b = p->in + at;
  return (b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16) * 2654435761u >> (32 - HASH_BITS);
}

static void enter(packer *p, size_t at) {
  if (at + HASHED > p->size) return;
  int32_t *head = &p->head[hash_at(p, at)];
  p->previous[at] = *head;
  *head = (int32_t)at;
}

static size_t common(const packer *p, size_t a, size_t b) {
  const size_t most = p->size - b < TC_PACKED_MOST ? p->size - b : TC_PACKED_MOST;
  size_t n = 0;
  while (n < most && p->in[a + n] == p->in[b + n]) ++n;
  return n;
}

static match longest_recent(const packer *p, size_t at) {
  match best = {0, 0, 0};
  for (int i = 0; i < TC_PACKED_RECENT; ++i) {
    const size_t d = p->recent[i], n = d && d <= at ? common(p, at - d, at) : 0;
    if (n >= TC_PACKED_LEAST && n > best.length) best = (match){n, d, i};
  }
  return best;
}

/* Does a match of n bytes at distance d save anything, and more than one of `than` nearer by? */
static bool pays(size_t n, size_t d, const match *than) {
  const size_t least = d < 128 ? 3 : d < 1 << 12 ? 4 : 5;
  return n >= least && n > than->length + (than->distance && d / 64 > than->distance);
}

static match longest_new(const packer *p, size_t at) {
  match best = {0, 0, TC_PACKED_RECENT};
  int32_t place = at + HASHED <= p->size ? p->head[hash_at(p, at)] : -1;
  for (int i = 0; i < PLACES && place >= 0; ++i) {
    const size_t n = common(p, (size_t)place, at), d = at - (size_t)place;
    if (pays(n, d, &best)) best = (match){n, d, TC_PACKED_RECENT};
    place = p->previous[place];
  }
  return best;
}

/* A recent distance saves about as much as two to three bytes of match. */
static match best_at(const packer *p, size_t at) {
  const match recent = longest_recent(p, at), fresh = longest_new(p, at);
  const size_t saved = fresh.distance < 1 << 9 ? 1 : 2;
  return recent.length && recent.length + saved >= fresh.length ? recent : fresh;
}

/* ---- symbols ------------------------------------------------------------------------------ */

static void put_literal(packer *p, size_t at) {
  tc_code(&p->coder, &p->model.match[p->state][at & 15], 0);
  tc_code_literal(&p->coder, &p->model, at, at ? p->in[at - 1] : 0, p->in[at]);
  p->state -= p->state > 0;
}

static void put_match(packer *p, size_t at, const match *m) {
  tc_coder *c = &p->coder;
  const bool again = m->recent < TC_PACKED_RECENT;
  const unsigned length = (unsigned)m->length - TC_PACKED_LEAST;
  int which = again ? m->recent : TC_PACKED_RECENT - 1;
  tc_code(c, &p->model.match[p->state][at & 15], 1);
  tc_code(c, &p->model.again[p->state], again);
  for (int i = 0; again && i < TC_PACKED_RECENT - 1 && i <= which; ++i)
    tc_code(c, &p->model.which[i], i < which);
  tc_code_length(c, &p->model, again, at, length);
  if (!again) tc_code_distance(c, &p->model, length, (uint32_t)m->distance - 1);
  for (; which > 0; --which) p->recent[which] = p->recent[which - 1];
  p->recent[0] = m->distance;
  p->state = 2;
}

/* Is the next position's match so much better that a literal comes first? */
static bool put_off(const match *m, const match *next) {
  const bool dearer = m->recent < TC_PACKED_RECENT && next->recent == TC_PACKED_RECENT;
  return m->length == 0 || next->length > m->length + dearer;
}

static void pack_all(packer *p) {
  match next = best_at(p, 0);
  for (size_t at = 0; at < p->size;) {
    const match m = next;
    enter(p, at);
    next = at + 1 < p->size ? best_at(p, at + 1) : (match){0, 0, 0};
    if (put_off(&m, &next)) {
      put_literal(p, at++);
      continue;
    }
    put_match(p, at, &m);
    for (size_t i = 1; i < m.length; ++i) enter(p, at + i);
    at += m.length;
    if (at < p->size) next = best_at(p, at);
  }
  for (int i = 0; i < 5; ++i) shift(&p->coder);
}

unsigned char *tc_image_pack(const unsigned char *bytes, size_t size, size_t *packed) {
  if (size < 64 || size > INT32_MAX) return NULL;
  packer *p = malloc(sizeof *p);
  if (!p) return NULL;
  *p = (packer){.in = bytes, .size = size, .coder = {.range = UINT32_MAX, .room = size}};
  memset(p->head, -1, sizeof p->head);
  tc_packed_begin(&p->model);
  p->previous = malloc(size * sizeof *p->previous);
  p->coder.out = malloc(size);
  unsigned char *out = NULL;
  if (p->previous && p->coder.out) {
    pack_all(p);
    if (p->coder.len < size) out = realloc(p->coder.out, p->coder.len);
    if (out) *packed = p->coder.len, p->coder.out = NULL;
  }
  free(p->previous);
  free(p->coder.out);
  free(p);
  return out;
}
