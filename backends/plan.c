/* plan.c - see plan.h. */
#include "backends/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/schedule/words.h"

bool tc_dumps(const char *what) {
  const char *list = getenv("TC_DUMP");
  for (const char *at = list; at && *at;) {
    const size_t n = strcspn(at, ",");
    if ((n == strlen(what) && strncmp(at, what, n) == 0) || (n == 3 && strncmp(at, "all", 3) == 0))
      return true;
    at += n + (at[n] == ',');
  }
  return false;
}

static bool read_schedule(const tc_backend *b, tc_program *p, const char *path, const char *symbol,
                          tc_buf *why) {
  tc_buf problem = {0};
  const bool ok = tc_schedule_read_file(b->schedule, path, p, symbol, &problem);
  if (!ok) tc_putf(why, "schedule %s: %s", path, problem.text ? problem.text : "out of memory");
  tc_buf_free(&problem);
  return ok;
}

bool tc_plan_program(const tc_backend *b, tc_program *p, const tc_setting *setting,
                     uint32_t nsetting, const char *symbol, tc_buf *why) {
  const char *path = tc_setting_of(setting, nsetting, "schedule");
  if (b->plan && !b->plan(p)) return false;
  if (b->apply_options) b->apply_options(p, setting, nsetting);
  return !path || !b->schedule || read_schedule(b, p, path, symbol, why);
}

void tc_dump_loops(const tc_backend *b, const tc_program *p, const char *name) {
  if (!tc_dumps("loops")) return;
  tc_buf text = {0};
  tc_program_print(p, &text);
  fprintf(stderr, "; loops of %s for %s\n%s", name, b->name, text.text ? text.text : "");
  tc_buf_free(&text);
}

void tc_dump_schedule(const tc_backend *b, const tc_program *p, const char *name,
                      const char *symbol) {
  if (!tc_dumps("schedule") || !b->schedule) return;
  tc_buf text = {0};
  tc_schedule_print(b->schedule, p, symbol, &text);
  fprintf(stderr, "; schedule of %s for %s\n%s", name, b->name, text.text ? text.text : "");
  tc_buf_free(&text);
}
