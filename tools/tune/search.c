/* search.c - coordinate descent from the planned schedule: all neighbours are measured, then those
 * of the fastest, until none gains or the time is over.  In the end the fastest is measured once
 * more, against what chance has chosen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/schedule/neighbours.h"
#include "backends/tuning/tuning.h"
#include "tools/tune/tune.h"

enum { STEPS = 8, ROUNDS = 21, FINAL_ROUNDS = 61 };

typedef struct search {
  tune_problem *x;
  tune_result *out;
  size_t at; /* of out->tried: whose neighbours are made */
  char *folder;
  bool failed;
} search;

static char *text_of(const tune_problem *x, const tc_schedule *s) {
  const tc_schedule *planned = x->k->schedule;
  tc_program one = *x->p;
  tc_buf text = {0};
  x->k->schedule = s;
  one.nkernel = 1;
  one.kernel = x->k;
  tc_schedule_print(x->b->schedule, &one, TC_TUNING_NAME, &text);
  x->k->schedule = planned;
  return text.text;
}

/* Texts of equal kernels have one name. */
static bool is_new(const tune_result *r, const tune_candidate *c) {
  for (size_t i = 0; i < r->tried.n; ++i)
    if (r->tried.at[i].symbol && !strcmp(r->tried.at[i].symbol, c->symbol)) return false;
  return true;
}

static bool add(search *s, const tc_schedule *schedule, const char *change) {
  const char *before = s->out->tried.n ? s->out->tried.at[s->at].change : "";
  tune_candidate c = {.schedule = schedule, .text = text_of(s->x, schedule)};
  tc_buf all = {0};
  tc_putf(&all, "%s%s%s", before, *before ? "; " : "", change);
  c.change = all.text;
  const bool ok =
      c.text && c.change && tune_emit(s->x, &c) && tc_push(&s->out->tried, (tune_candidate){0});
  s->failed = !ok;
  if (!ok) return false;
  --s->out->tried.n;
  c.state = is_new(s->out, &c) ? TUNE_OPEN : TUNE_SAME;
  s->out->tried.at[s->out->tried.n++] = c;
  return true;
}

static bool add_neighbour(void *self, const tc_schedule *schedule, const char *change) {
  search *s = self;
  const void *kernel = s->out->tried.at[0].schedule->kernel;
  const bool same = !memcmp(schedule->kernel, kernel, s->x->b->schedule->kernel.size);
  return (!same && !s->out->idle) || add(s, schedule, change);
}

static bool add_neighbours(search *s) {
  const tune_problem *x = s->x;
  uint32_t *variant = calloc(x->k->nnest + 1u, sizeof *variant);
  const tc_schedule *planned = x->k->schedule;
  x->k->schedule = s->out->tried.at[s->at].schedule;
  for (uint32_t n = 0; variant && n < x->k->nnest; ++n)
    variant[n] = tc_schedule_running(x->p, x->k, n, x->sym, x->lanes);
  const bool ok =
      variant && tc_schedule_each_neighbour(x->b->schedule, x->p, x->k, variant, add_neighbour, s);
  x->k->schedule = planned;
  free(variant);
  return ok;
}

/* list[0] and list[1] are the planned schedule. */
static bool measure(search *s, tune_candidate **list, size_t n, int rounds) {
  tc_buf path = {0};
  double noise = 0;
  static int number;
  tc_putf(&path, "%s/%d.so", s->folder, number++);
  s->x->rounds = tune_plants("fast") ? 5 : rounds;
  bool ok = !path.failed && tune_build(s->x, list, n, path.text);
  if (!ok) fprintf(stderr, "tc-tune: %s does not compile the kernel\n", s->x->compiler);
  else if (!(ok = tune_measure(s->x, list, n, path.text, &noise)))
    fprintf(stderr, "tc-tune: the kernel does not run\n");
  s->out->noise = noise;
  tc_buf_free(&path);
  return ok;
}

/* Those from `first` on, as many as are measured together. */
static bool measure_from(search *s, size_t first) {
  for (size_t next = first; next < s->out->tried.n;) {
    tune_candidate *list[TUNE_MOST] = {&s->out->tried.at[0], &s->out->tried.at[0]};
    size_t n = 2;
    while (next < s->out->tried.n && n < TUNE_MOST) {
      tune_candidate *c = &s->out->tried.at[next++];
      if (c->state == TUNE_OPEN) list[n++] = c;
    }
    if (n > 2 && !measure(s, list, n, ROUNDS)) return false;
    if (tc_tuning_now() > s->x->end) break;
  }
  return true;
}

static size_t fastest(const tune_result *r) {
  size_t best = 0;
  for (size_t i = 1; i < r->tried.n; ++i) {
    const tune_candidate *c = &r->tried.at[i];
    if (c->state != TUNE_MEASURED || !tune_is_faster(&c->times, r->noise)) continue;
    if (!best || c->times.ratio < r->tried.at[best].times.ratio) best = i;
  }
  return best;
}

static bool confirm(search *s) {
  tune_result *r = s->out;
  if (!r->best) return true;
  tune_candidate *list[] = {&r->tried.at[0], &r->tried.at[0], &r->tried.at[r->best]};
  list[2]->state = TUNE_OPEN;
  s->x->end = tc_tuning_now() + 2;
  if (!measure(s, list, 3, FINAL_ROUNDS)) return false;
  if (list[2]->state != TUNE_MEASURED || !tune_is_faster(&list[2]->times, r->noise)) r->best = 0;
  return true;
}

static bool climb(search *s) {
  size_t first = 1;
  for (int step = 0; step < STEPS; ++step) {
    if (!add_neighbours(s) || !measure_from(s, first)) return false;
    const size_t best = fastest(s->out);
    if (best < first || tc_tuning_now() > s->x->end) break;
    s->at = best;
    first = s->out->tried.n;
  }
  tune_candidate *planned[] = {&s->out->tried.at[0], &s->out->tried.at[0]};
  if (!planned[0]->times.us && !measure(s, planned, 2, ROUNDS)) return false;
  s->out->best = fastest(s->out);
  return confirm(s);
}

static void remove_folder(const char *folder) {
  tc_buf command = {0};
  tc_putf(&command, "rm -rf '%s'", folder);
  if (command.text && system(command.text)) fprintf(stderr, "tc-tune: %s stays\n", folder);
  tc_buf_free(&command);
}

bool tune_search(tune_problem *x, tune_result *out) {
  char folder[] = "/tmp/tc-tune-XXXXXX";
  search s = {.x = x, .out = out, .folder = folder};
  *out = (tune_result){.idle = tune_machine_is_idle()};
  if (!mkdtemp(folder)) {
    perror("tc-tune: /tmp");
    return false;
  }
  const bool ok = add(&s, x->k->schedule, "") && climb(&s);
  if (!ok && s.failed) fprintf(stderr, "tc-tune: out of memory, or the kernel has no text\n");
  if (getenv("TC_TUNE_SHOW")) fprintf(stderr, "tc-tune: texts are in %s\n", folder);
  else remove_folder(folder);
  return ok;
}

void tune_result_free(tune_result *r) {
  for (size_t i = 0; i < r->tried.n; ++i) {
    free(r->tried.at[i].change);
    free(r->tried.at[i].text);
    free(r->tried.at[i].symbol);
    tc_kernel_text_free(&r->tried.at[i].code);
  }
  free(r->tried.at);
}
