/* lz.c - see lz.h.  The packed form is a list of: a number of bytes, these bytes; a number of bytes
 * that stood before, and how far back they begin.  The last pair may lack its second half.  Numbers
 * are of 7 bits a byte, the lowest first; all but the last byte have the highest bit. */
#include "graph/support/lz.h"

#include <stdlib.h>
#include <string.h>

/* A match takes 2 to 6 bytes, shorter ones gain nothing; how many places are tried for one. */
enum { LEAST = 6, TRIED = 64, HASH_BITS = 15 };

/* ---- packing --------------------------------------------------------------------------------- */

static void put_number(size_t n, tc_buf *out) {
  for (; n >= 0x80; n >>= 7) tc_putn(out, &(char){(char)(n | 0x80)}, 1);
  tc_putn(out, &(char){(char)n}, 1);
}

/* Places by the hash of the LEAST bytes there: the last one of each, and of each place the one
 * before; one more than the place, 0: none. */
typedef struct places {
  const unsigned char *bytes;
  size_t n, *last, *before;
} places;

static size_t *slot(const places *p, size_t at) {
  uint64_t word = 0;
  memcpy(&word, p->bytes + at, LEAST);
  return &p->last[word * 0x9E3779B97F4A7C15u >> (64 - HASH_BITS)];
}

static void add(places *p, size_t at) {
  if (at + LEAST > p->n) return;
  size_t *last = slot(p, at);
  p->before[at] = *last;
  *last = at + 1;
}

static size_t equal_bytes(const places *p, size_t a, size_t b) {
  size_t n = 0;
  while (b + n < p->n && p->bytes[a + n] == p->bytes[b + n]) ++n;
  return n;
}

/* The longest that stands before `at` and is equal: its length, or 0. */
static size_t match(const places *p, size_t at, size_t *from) {
  size_t longest = LEAST - 1;
  if (at + LEAST > p->n) return 0;
  size_t next = *slot(p, at);
  for (int i = 0; next && i < TRIED; ++i) {
    const size_t n = equal_bytes(p, next - 1, at);
    if (n > longest) longest = n, *from = next - 1;
    next = p->before[next - 1];
  }
  return longest < LEAST ? 0 : longest;
}

static void pack(places *p, tc_buf *out) {
  size_t literal = 0, at = 0, from = 0;
  while (at < p->n) {
    const size_t length = match(p, at, &from);
    if (!length) {
      add(p, at++);
      continue;
    }
    put_number(at - literal, out);
    tc_putn(out, (const char *)p->bytes + literal, at - literal);
    put_number(length, out);
    put_number(at - from, out);
    for (size_t end = at + length; at < end; ++at) add(p, at);
    literal = at;
  }
  if (literal == p->n) return;
  put_number(p->n - literal, out);
  tc_putn(out, (const char *)p->bytes + literal, p->n - literal);
}

void tc_lz_pack(const void *bytes, size_t n, tc_buf *out) {
  places p = {bytes, n, calloc((size_t)1 << HASH_BITS, sizeof *p.last),
              calloc(n + 1, sizeof *p.before)};
  if (p.last && p.before) pack(&p, out);
  else out->failed = true;
  free(p.last);
  free(p.before);
}

/* ---- unpacking ------------------------------------------------------------------------------- */

typedef struct packed {
  const unsigned char *at, *end;
} packed;

static bool number(packed *p, size_t *n) {
  *n = 0;
  for (unsigned shift = 0; p->at < p->end && shift < 63; shift += 7) {
    const unsigned char c = *p->at++;
    *n |= (size_t)(c & 0x7F) << shift;
    if (c < 0x80) return true;
  }
  return false;
}

static bool put_again(size_t length, size_t distance, size_t from, tc_buf *out) {
  if (!distance || distance > out->len - from) return false;
  for (size_t part; length; length -= part) { /* may reach into what it writes */
    part = length < distance ? length : distance;
    char piece[256];
    if (part > sizeof piece) part = sizeof piece;
    memcpy(piece, out->text + out->len - distance, part);
    tc_putn(out, piece, part);
    if (out->failed) return false;
  }
  return true;
}

bool tc_lz_unpack(const void *bytes, size_t n, size_t size, tc_buf *out) {
  packed p = {bytes, (const unsigned char *)bytes + n};
  const size_t from = out->len;
  while (p.at < p.end) {
    size_t length, distance;
    if (!number(&p, &length) || length > (size_t)(p.end - p.at) ||
        length > size - (out->len - from))
      return false;
    tc_putn(out, (const char *)p.at, length);
    p.at += length;
    if (out->failed) return false;
    if (p.at == p.end) break;
    if (!number(&p, &length) || !number(&p, &distance) || length > size - (out->len - from) ||
        !put_again(length, distance, from, out))
      return false;
  }
  return !out->failed && out->len - from == size;
}
