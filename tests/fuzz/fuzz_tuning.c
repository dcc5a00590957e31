/* Any bytes as a file of measured schedules: entries that are whole, or what is wrong, with its line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backends/tuning/tuning.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(const tc_tuning_entry *e) {
  if (strlen(e->key) != TC_TUNING_KEY || !*e->kernel || !e->machine || !e->version || !(e->planned > 0)) abort();
  if (e->taken > 0 && (!e->line || !*e->change || !*e->schedule)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  char *text = malloc(n + 1);
  tc_buf why = {0};
  memcpy(text, bytes, n);
  text[n] = 0;
  tc_tuning *t = tc_tuning_parse(text, "f", &why);
  if (!t && (!why.text || strncmp(why.text, "f: line ", 8) != 0)) abort();
  for (uint32_t i = 0; t && i < tc_tuning_count(t); ++i) check(tc_tuning_at(t, i));
  tc_tuning_free(t);
  tc_buf_free(&why);
  free(text);
  return 0;
}
