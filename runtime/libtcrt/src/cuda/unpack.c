/* LZ4's block format: sequences of literals and matches.  A sequence is a token (two counts of four
 * bits), literals, the distance of the match as 16 bits, little endian; a count of 15 goes on in
 * bytes until one is not 255; a match is at least 4 bytes long.  The last sequence ends behind its
 * literals. */
#include "runtime/libtcrt/src/cuda/unpack.h"

#include <string.h>

enum { LEAST_MATCH = 4 };

typedef struct stream {
  const unsigned char *at, *end;
} stream;

/* The rest of a count whose four bits were 15. */
static bool read_count(stream *s, size_t *count) {
  if (*count != 15) return true;
  unsigned char byte;
  do {
    if (s->at == s->end) return false;
    *count += byte = *s->at++;
  } while (byte == 255);
  return true;
}

/* A match may reach into what it writes: bytes are copied in order. */
static void copy_match(unsigned char *to, size_t distance, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] = to[(ptrdiff_t)i - (ptrdiff_t)distance];
}

bool tcrt_unpack(const void *from, size_t packed, void *to, size_t size) {
  stream s = {from, (const unsigned char *)from + packed};
  unsigned char *out = to;
  size_t done = 0;
  while (s.at < s.end) {
    const unsigned token = *s.at++;
    size_t literals = token >> 4, match = token & 15;
    if (!read_count(&s, &literals) || literals > (size_t)(s.end - s.at) || literals > size - done)
      return false;
    memcpy(out + done, s.at, literals);
    s.at += literals;
    done += literals;
    if (s.at == s.end) break;
    if (s.end - s.at < 2) return false;
    const size_t distance = s.at[0] | (size_t)s.at[1] << 8;
    s.at += 2;
    if (!read_count(&s, &match)) return false;
    match += LEAST_MATCH;
    if (distance == 0 || distance > done || match > size - done) return false;
    copy_match(out + done, distance, match);
    done += match;
  }
  return done == size;
}
