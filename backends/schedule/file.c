/* file.c - schedules from a file. */
#include "backends/schedule/words.h"

bool tc_schedule_read_file(const tc_schedule_words *w, const char *path, tc_program *p,
                           const char *name, tc_buf *why) {
  tc_buf text = {0};
  FILE *file = fopen(path, "r");
  bool ok = file && tc_put_rest(&text, file);
  if (file) fclose(file);
  if (!ok) tc_put(why, "it cannot be read");
  ok = ok && tc_schedule_read(w, text.text ? text.text : "", p, name, why);
  tc_buf_free(&text);
  return ok;
}
