/* prelude.c - picks the chunks of a prelude that a text names, directly or through other chunks. */
#include <stdlib.h>
#include <string.h>

#include "backends/print/print.h"

static const char mark[] = "/* @ ";

typedef struct chunk {
  const char *names, *names_end, *text, *end;
  bool used;
} chunk;

typedef TC_VEC(chunk) chunks;

static bool split(const char *prelude, chunks *list) {
  const char *at = strstr(prelude, mark);
  while (at) {
    const char *names = at + strlen(mark), *line = strchr(at, '\n');
    const char *next = strstr(line ? line : at + 1, mark);
    chunk c = {names, line ? line : names, line ? line + 1 : names, next ? next : at + strlen(at),
               false};
    if (!tc_push(list, c)) return false;
    at = next;
  }
  return true;
}

/* Does the pattern [p, end) with at most one '*' match the name of length n? */
static bool matches(const char *p, const char *end, const char *name, size_t n) {
  const char *star = memchr(p, '*', (size_t)(end - p));
  if (!star) return (size_t)(end - p) == n && memcmp(p, name, n) == 0;
  const size_t before = (size_t)(star - p), after = (size_t)(end - star) - 1;
  return n >= before + after && memcmp(p, name, before) == 0 &&
         memcmp(star + 1, name + n - after, after) == 0;
}

static bool provides(const chunk *c, const char *name, size_t n) {
  for (const char *p = c->names; p < c->names_end && *p != '*';) {
    const char *end = p;
    while (end < c->names_end && *end != ' ') ++end;
    if (matches(p, end, name, n)) return true;
    p = end + (end < c->names_end);
  }
  return false;
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Identifiers seen already: an open-addressed set of hashes. */
typedef struct seen {
  uint64_t *slot;
  size_t count, cap;
} seen;

static bool insert(seen *s, uint64_t h, bool *fresh) {
  if (2 * s->count >= s->cap) {
    const size_t cap = s->cap ? 2 * s->cap : 1024;
    uint64_t *slot = calloc(cap, sizeof *slot);
    if (!slot) return false;
    for (size_t i = 0; i < s->cap; ++i) {
      if (!s->slot[i]) continue;
      size_t at = s->slot[i] % cap;
      while (slot[at]) at = (at + 1) % cap;
      slot[at] = s->slot[i];
    }
    free(s->slot);
    s->slot = slot;
    s->cap = cap;
  }
  size_t at = h % s->cap;
  while (s->slot[at] && s->slot[at] != h) at = (at + 1) % s->cap;
  *fresh = s->slot[at] == 0;
  s->count += *fresh;
  s->slot[at] = h;
  return true;
}

/* Marks the chunks that text names, and what they name in turn. */
static bool need(chunks *list, seen *s, const char *text, const char *end) {
  for (const char *p = text; p < end;) {
    const char *word = p;
    while (p < end && is_word(*p)) ++p;
    const size_t n = (size_t)(p - word);
    if (n == 0) ++p;
    if (n < 4 || (memcmp(word, "tc_", 3) != 0 && memcmp(word, "TC_", 3) != 0)) continue;
    bool fresh;
    if (!insert(s, tc_hash(word, n, 1) | 1, &fresh)) return false;
    if (!fresh) continue;
    for (size_t i = 0; i < list->n; ++i) {
      chunk *c = &list->at[i];
      if (c->used || !provides(c, word, n)) continue;
      c->used = true;
      if (!need(list, s, c->text, c->end)) return false;
    }
  }
  return true;
}

bool tc_print_prelude(const char *prelude, const char *text, tc_buf *out) {
  chunks list = {0};
  seen s = {0};
  bool ok = split(prelude, &list);
  for (size_t i = 0; i < list.n; ++i)
    if (*list.at[i].names == '*') list.at[i].used = true; /* no name: always */
  ok = ok && need(&list, &s, text, text + strlen(text));
  for (size_t i = 0; ok && i < list.n; ++i)
    if (list.at[i].used) tc_putn(out, list.at[i].text, (size_t)(list.at[i].end - list.at[i].text));
  free(list.at);
  free(s.slot);
  return ok && !out->failed;
}
