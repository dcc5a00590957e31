/* schedules.c - see schedules.h. */
#include "tests/common/schedules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/schedule/words.h"
#include "graph/passes/pass.h"

static void ignore(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)s, (void)loc, (void)text;
}
static tc_diag quiet = {ignore, NULL}; /* of random graphs: not all are valid */

char *schedules_text(const tc_backend *b, const tc_program *p) {
  tc_buf text = {0};
  tc_schedule_print(b->schedule, p, "g", &text);
  return text.text;
}

char *schedules_kernels(const tc_backend *b, const tc_program *p) {
  tc_buf all = {0};
  tc_put(&all, "");
  for (uint32_t i = 0; i < p->nkernel; i++) {
    tc_kernel_text t = {0};
    if (!b->supports(&p->kernel[i], p)) continue;
    if (!b->emit_kernel(&p->kernel[i], p, &t)) tc_putf(&all, "no text of kernel %u\n", i);
    else tc_putf(&all, "%s%s", t.text.text, t.launcher.text ? t.launcher.text : "");
    tc_kernel_text_free(&t);
  }
  return all.text;
}

static bool is_read_back(const tc_backend *b, tc_program *p, tc_buf *why) {
  char *text = schedules_text(b, p), *kernels = schedules_kernels(b, p);
  bool ok =
      tc_schedule_verify(b->schedule, p, why) && tc_schedule_read(b->schedule, text, p, "g", why);
  char *again = schedules_text(b, p), *same = schedules_kernels(b, p);
  if (ok && strcmp(again, text) != 0) tc_putf(why, "it becomes\n%s", again);
  if (ok && strcmp(same, kernels) != 0) tc_put(why, "other kernels");
  if (why->text) fprintf(stderr, "%s\n%s\n", why->text, text);
  ok = ok && !why->text;
  free(text);
  free(kernels);
  free(again);
  free(same);
  return ok;
}

/* Of one graph: -1: there is none. */
static int check(const tc_backend *b, const random_options *o) {
  random_graph r;
  const bool made = random_graph_make(o, &quiet, &r);
  random_graph_free_input(&r, r.input);
  tc_graph *g = made ? tc_graph_optimize(r.g) : NULL;
  if (!made) tc_graph_free(r.g);
  tc_program *p = g ? tc_lower(g, b->target) : NULL;
  tc_buf why = {0};
  const int ok = !p ? -1 : b->plan(p) && is_read_back(b, p, &why);
  if (!ok) fprintf(stderr, "graph of seed %llu\n", (unsigned long long)o->seed);
  tc_buf_free(&why);
  if (p) tc_program_free(p);
  if (g) tc_graph_free(g);
  return ok;
}

int schedules_check_random(const tc_backend *b, random_options *o, int n, int *wrong) {
  int done = 0;
  *wrong = 0;
  for (int i = 0; i < n; i++) {
    const int ok = check(b, &o[i]);
    done += ok >= 0;
    *wrong += ok == 0;
  }
  free(o);
  return done;
}

bool schedules_plan(const tc_backend *b, tc_program *p, const char *stated, tc_buf *why) {
  return b->plan(p) && (!stated || tc_schedule_read(b->schedule, stated, p, "g", why));
}

bool schedules_are_allowed(const tc_backend *b, tc_graph *g, const char *stated, bool *made, tc_buf *why) {
  g = tc_graph_optimize(g);
  tc_program *p = g ? tc_lower(g, b->target) : NULL;
  *made = p && b->plan(p);
  const bool ok = *made && tc_schedule_read(b->schedule, stated, p, "g", why);
  if (p) tc_program_free(p);
  if (g) tc_graph_free(g);
  return ok;
}

void schedules_fill(interp_array *a, uint32_t input) {
  for (int64_t k = 0; k < a->count; k++) {
    const double x = (double)((k * 7919 + 31 * input) % 1009) / 256 - 2;
    interp_set(a, k, a->dtype == TC_BF16 ? ldexp(nearbyint(ldexp(x, 6)), -6) : x);
  }
}
