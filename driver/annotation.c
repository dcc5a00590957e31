/* annotation.c - see annotation.h. */
#define _GNU_SOURCE /* memmem */
#include "driver/annotation.h"

#include <stdint.h>
#include <string.h>

static const char *find(const char *text, size_t size, const char *word) {
  return memmem(text, size, word, strlen(word));
}

bool tc_mentions_annotation(const char *text, size_t size) {
  return find(text, size, "tc_compile") || find(text, size, "TC_COMPILE");
}

bool tc_is_own_header(const char *path) {
  static const char folder[] = "tcompile";
  const char *slash = path ? strrchr(path, '/') : NULL;
  if (!path) return false;
  if (!strcmp(slash ? slash + 1 : path, "tcompile.h")) return true;
  const size_t size = sizeof folder - 1, before = slash ? (size_t)(slash - path) : 0;
  return before >= size && !memcmp(slash - size, folder, size) &&
         (before == size || slash[-(ptrdiff_t)size - 1] == '/');
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* The last character in front of `at` that is no blank is a number sign. */
static bool behind_number_sign(const char *text, size_t at) {
  while (at > 0 && is_blank(text[at - 1])) at--;
  return at > 0 && text[at - 1] == '#';
}

bool tc_next_inclusion(const char *text, size_t size, size_t *at, tc_inclusion *found) {
  static const char word[] = "include";
  for (const char *next; (next = find(text + *at, size - *at, word));) {
    size_t i = (size_t)(next - text);
    *at = i + sizeof word - 1;
    if (!behind_number_sign(text, i)) continue;
    for (i = *at; i < size && is_blank(text[i]);) i++;
    if (i == size || (text[i] != '"' && text[i] != '<')) continue;
    const char close = text[i] == '"' ? '"' : '>';
    *found = (tc_inclusion){text + i + 1, 0, text[i] == '"'};
    for (i++; i < size && text[i] != close && text[i] != '\n'; i++) found->size++;
    return true;
  }
  return false;
}
