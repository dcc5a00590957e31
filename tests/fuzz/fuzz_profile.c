/* fuzz_profile.c - shape profiles: what is read is written as text that reads back to the same text. */
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/profile.h"

static char *text_of(const char *text, size_t size, size_t *n) {
  tc_profile p = {0};
  uint32_t line;
  const char *why;
  char *out = tc_profile_read(&p, text, size, &line, &why) ? tc_profile_text(&p, n) : NULL;
  tc_profile_free(&p);
  return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t n, again;
  char *first = text_of((const char *)data, size, &n);
  if (!first) return 0;
  char *second = text_of(first, n, &again);
  if (!second || n != again || memcmp(first, second, n) != 0) abort();
  free(first);
  free(second);
  return 0;
}
