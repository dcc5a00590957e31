/* read_words.c - words of the loop IR that all of its lines are made of, and memory for them. */
#include "lower/read.h"

#include <string.h>

void *lo_make(lo_reader *r, size_t bytes) {
  void *made = tc_arena_alloc(r->p->arena, bytes + 1);
  if (!made) tc_words_fail(&r->w, "out of memory");
  return made;
}

/* Lists double where they hold a power of two. */
bool lo_room(lo_reader *r, void *items, uint32_t n, size_t size) {
  void *old;
  if (n & (n - 1)) return true;
  void *grown = lo_make(r, (n ? 2 * (size_t)n : 1) * size);
  if (!grown) return false;
  memcpy(&old, items, sizeof old);
  if (n) memcpy(grown, old, n * size);
  memcpy(items, &grown, sizeof grown);
  return true;
}

bool lo_read_count(lo_reader *r, int64_t end, const char *what, uint32_t *out) {
  int64_t v;
  tc_words_skip(&r->w);
  const char *const start = r->w.at;
  if (*start < '0' || *start > '9' || !tc_words_int(&r->w, &v))
    return tc_words_fail(&r->w, "expected a %s before \"%.20s\"", what, start);
  if (v >= end) return tc_words_fail(&r->w, "there is no %s %lld", what, (long long)v);
  *out = (uint32_t)v;
  return true;
}

bool lo_read_dim(lo_reader *r, tc_dim *d) {
  if (!tc_words_dim(&r->w, r->dims, d)) return false;
  if (r->open || tc_dims_sym_count(r->dims) == r->nsym) return true;
  return tc_words_fail(&r->w, "no input has the size %s", tc_dims_sym(r->dims, r->nsym)->name);
}

bool lo_read_label(lo_reader *r, char end, uint32_t *buffer) {
  size_t longest = 0;
  tc_words_skip(&r->w);
  for (uint32_t i = 0; i < r->p->nbuffer; i++) {
    const size_t n = strlen(r->label[i]);
    if (n <= longest || strncmp(r->w.at, r->label[i], n) != 0) continue;
    if (r->w.at[n] != end && (end != ' ' || r->w.at[n])) continue;
    longest = n;
    *buffer = i;
  }
  if (!longest) return tc_words_fail(&r->w, "expected a buffer before \"%.20s\"", r->w.at);
  r->w.at += longest;
  return true;
}

const char *lo_read_word(lo_reader *r) {
  const char *start;
  const size_t n = tc_words_next(&r->w, &start);
  if (!n) {
    tc_words_fail(&r->w, "expected a name before \"%.20s\"", r->w.at);
    return NULL;
  }
  char *own = lo_make(r, n + 1);
  if (own) memcpy(own, start, n);
  return own;
}
