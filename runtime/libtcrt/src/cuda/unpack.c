/* unpack.c - reads the format of packed.h. */
#include "runtime/libtcrt/src/cuda/unpack.h"

#include <stdlib.h>

#include "runtime/libtcrt/src/cuda/packed.h"

struct tc_coder {
  const unsigned char *at, *end;
  uint32_t range, code;
  bool over; /* bytes were wanted behind the end */
};

static unsigned next_byte(tc_coder *c) {
  if (c->at < c->end) return *c->at++;
  c->over = true;
  return 0;
}

static unsigned tc_code(tc_coder *c, uint16_t *probability, unsigned ignored) {
  (void)ignored;
  const uint32_t zero = c->range / TC_PACKED_ONE * *probability;
  const unsigned bit = c->code >= zero;
  c->code -= bit ? zero : 0;
  c->range = bit ? c->range - zero : zero;
  tc_packed_learn(probability, bit);
  while (c->range < TC_PACKED_BELOW) {
    c->range <<= 8;
    c->code = c->code << 8 | next_byte(c);
  }
  return bit;
}

typedef struct unpacker {
  tc_coder coder;
  tc_packed_model model;
  unsigned char *out;
  size_t done, size;
  size_t recent[TC_PACKED_RECENT];
  int state; /* 0: two literals behind, 1: a literal behind a match, 2: behind a match */
} unpacker;

/* The distance of a match: in front of the others from now on. */
static size_t read_distance(unpacker *u, unsigned *length) {
  tc_coder *c = &u->coder;
  tc_packed_model *m = &u->model;
  const bool again = tc_code(c, &m->again[u->state], 0);
  int which = TC_PACKED_RECENT - 1;
  size_t distance = 0;
  if (again) {
    for (which = 0; which < TC_PACKED_RECENT - 1 && tc_code(c, &m->which[which], 0);) ++which;
    distance = u->recent[which];
  }
  *length = tc_code_length(c, m, again, u->done, 0);
  if (!again) distance = (size_t)tc_code_distance(c, m, *length, 0) + 1;
  for (; which > 0; --which) u->recent[which] = u->recent[which - 1];
  return u->recent[0] = distance;
}

/* A match may reach into what it writes: bytes are copied in order. */
static bool read_match(unpacker *u) {
  unsigned length;
  const size_t distance = read_distance(u, &length);
  length += TC_PACKED_LEAST;
  if (distance == 0 || distance > u->done || length > u->size - u->done) return false;
  for (unsigned i = 0; i < length; ++i, ++u->done) u->out[u->done] = u->out[u->done - distance];
  u->state = 2;
  return true;
}

static void read_literal(unpacker *u) {
  const unsigned last = u->done ? u->out[u->done - 1] : 0;
  u->out[u->done] = (unsigned char)tc_code_literal(&u->coder, &u->model, u->done, last, 0);
  ++u->done;
  u->state -= u->state > 0;
}

static bool unpack_all(unpacker *u) {
  for (int i = 0; i < 5; ++i) u->coder.code = u->coder.code << 8 | next_byte(&u->coder);
  while (u->done < u->size && !u->coder.over) {
    if (!tc_code(&u->coder, &u->model.match[u->state][u->done & 15], 0)) read_literal(u);
    else if (!read_match(u)) return false;
  }
  return !u->coder.over && u->coder.at == u->coder.end;
}

bool tcrt_unpack(const void *from, size_t packed, void *to, size_t size) {
  unpacker *u = malloc(sizeof *u);
  if (!u) return false;
  const unsigned char *at = from;
  *u = (unpacker){.coder = {.at = at, .end = at + packed, .range = UINT32_MAX}};
  tc_packed_begin(&u->model);
  u->out = to;
  u->size = size;
  const bool done = unpack_all(u);
  free(u);
  return done;
}
