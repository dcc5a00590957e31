/* planted.c - see tune.h. */
#include <stdlib.h>
#include <string.h>

#include "tools/tune/tune.h"

static bool find(const char *what, const char *text) {
  const char *at = getenv("TC_TUNE_TEST");
  const size_t n = strlen(what);
  while (at && *at) {
    const size_t len = strcspn(at, ",");
    if (len > n && !strncmp(at, what, n) && at[n] == ':' &&
        (!text || memmem(text, strlen(text), at + n + 1, len - n - 1)))
      return true;
    at += len + (at[len] == ',');
  }
  return false;
}

bool tune_plants(const char *what) { return find(what, NULL); }
bool tune_planted(const char *what, const tune_candidate *c) { return find(what, c->text); }
