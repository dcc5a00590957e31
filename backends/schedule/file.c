/* file.c - schedules from a file. */
#include "backends/schedule/words.h"

#include <stdio.h>

static bool read_all(const char *path, tc_buf *text) {
  FILE *file = fopen(path, "r");
  char part[4096];
  if (!file) return false;
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) tc_putn(text, part, n);
  const bool ok = !ferror(file) && !text->failed;
  return !fclose(file) && ok;
}

bool tc_schedule_read_file(const tc_schedule_words *w, const char *path, tc_program *p,
                           const char *name, tc_buf *why) {
  tc_buf text = {0};
  bool ok = read_all(path, &text);
  if (!ok) tc_put(why, "it cannot be read");
  ok = ok && tc_schedule_read(w, text.text ? text.text : "", p, name, why);
  tc_buf_free(&text);
  return ok;
}
