/* pack.c - an LZ4 compressor that looks long: at every position the longest match among the last
 * places with the same four bytes, and a match is put off by one byte where the next is longer. */
#include "backends/cuda/pack.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  HASH_BITS = 15,
  WINDOW = 65535,  /* the farthest match */
  LEAST = 4,       /* the shortest match */
  LAST = 5,        /* bytes at the end that are literals by the format's rules ... */
  LAST_MATCH = 12, /* ... and no match begins in these */
  PLACES = 64      /* looked at per position */
};

typedef struct packer {
  const unsigned char *in;
  size_t size, limit; /* limit: matches begin before it */
  unsigned char *out;
  size_t len;
  int32_t head[1 << HASH_BITS], *previous; /* last place of a hash; the one before a place */
} packer;

typedef struct match {
  size_t length, distance;
} match;

static uint32_t hash_at(const packer *p, size_t at) {
  uint32_t v;
  memcpy(&v, p->in + at, sizeof v);
  return v * 2654435761u >> (32 - HASH_BITS);
}

static void enter(packer *p, size_t at) {
  int32_t *head = &p->head[hash_at(p, at)];
  p->previous[at] = *head;
  *head = (int32_t)at;
}

static size_t common(const packer *p, size_t a, size_t b) {
  const size_t end = p->size - LAST;
  size_t n = 0;
  while (b + n < end && p->in[a + n] == p->in[b + n]) ++n;
  return n;
}

static match longest(const packer *p, size_t at) {
  match best = {0, 0};
  int32_t place = p->head[hash_at(p, at)];
  for (int i = 0; i < PLACES && place >= 0 && at - (size_t)place <= WINDOW; ++i) {
    const size_t n = common(p, (size_t)place, at);
    if (n >= LEAST && n > best.length) best = (match){n, at - (size_t)place};
    place = p->previous[place];
  }
  return best;
}

/* What a count of four bits could not hold. */
static void put_count(packer *p, size_t count) {
  if (count < 15) return;
  for (count -= 15; count >= 255; count -= 255) p->out[p->len++] = 255;
  p->out[p->len++] = (unsigned char)count;
}

/* m NULL: the last sequence, of literals alone. */
static void put_sequence(packer *p, size_t from, size_t at, const match *m) {
  const size_t literals = at - from, more = m ? m->length - LEAST : 0;
  p->out[p->len++] =
      (unsigned char)((literals < 15 ? literals : 15) << 4 | (more < 15 ? more : 15));
  put_count(p, literals);
  memcpy(p->out + p->len, p->in + from, literals);
  p->len += literals;
  if (!m) return;
  p->out[p->len++] = (unsigned char)(m->distance & 255);
  p->out[p->len++] = (unsigned char)(m->distance >> 8);
  put_count(p, more);
}

static void pack_all(packer *p) {
  size_t from = 0, at = 0;
  while (at < p->limit) {
    match m = longest(p, at);
    enter(p, at);
    if (m.length == 0) {
      ++at;
      continue;
    }
    if (at + 1 < p->limit) {
      const match next = longest(p, at + 1);
      if (next.length > m.length + 1) {
        ++at;
        continue;
      }
    }
    put_sequence(p, from, at, &m);
    for (size_t i = 1; i < m.length && at + i < p->limit; ++i) enter(p, at + i);
    from = at += m.length;
  }
  put_sequence(p, from, p->size, NULL);
}

unsigned char *tc_image_pack(const unsigned char *bytes, size_t size, size_t *packed) {
  if (size < 64 || size > INT32_MAX) return NULL;
  packer *p = malloc(sizeof *p);
  if (!p) return NULL;
  *p = (packer){.in = bytes, .size = size, .limit = size - LAST_MATCH};
  memset(p->head, -1, sizeof p->head);
  p->previous = malloc(size * sizeof *p->previous);
  p->out = malloc(size + size / 255 + 16); /* what incompressible bytes take */
  unsigned char *out = NULL;
  if (p->previous && p->out) {
    pack_all(p);
    if (p->len < size) out = realloc(p->out, p->len);
    if (out) *packed = p->len, p->out = NULL;
  }
  free(p->previous);
  free(p->out);
  free(p);
  return out;
}
