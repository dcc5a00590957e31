/* names.c - see names.h. */
#include "graph/support/names.h"

#include <stdlib.h>
#include <string.h>

#include "graph/support/support.h"

void tc_names_free(tc_names *s) {
  for (size_t i = 0; i < s->n; ++i) free(s->at[i]);
  free(s->at);
  tc_table_free(&s->table);
  *s = (tc_names){0};
}

static bool same(const void *owner, uint32_t id, const void *key) {
  return !strcmp(((const tc_names *)owner)->at[id - 1], key);
}

uint32_t tc_names_number(tc_names *s, const char *text, bool *fresh) {
  const size_t bytes = strlen(text) + 1;
  const uint64_t hash = tc_hash(text, bytes - 1, 0);
  const uint32_t known = tc_table_find(&s->table, hash, same, s, text);
  if (fresh) *fresh = !known;
  if (known || s->n >= UINT32_MAX - 1) return known;
  char *copy = tc_grow((void **)&s->at, &s->cap, s->n, sizeof *s->at) ? malloc(bytes) : NULL;
  if (!copy || !tc_table_add(&s->table, hash, (uint32_t)s->n + 1)) return free(copy), 0;
  s->at[s->n++] = memcpy(copy, text, bytes);
  return (uint32_t)s->n;
}
