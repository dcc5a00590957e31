/* Random graphs through lowering and the CUDA printers, run on the CPU by emulate.h, against the
 * interpreter; once with aligned buffers (16-byte accesses, 32-bit indices) and once without.  And
 * by schedules that are changed at random, where they are not refused. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/unit.h"
#include "backends/schedule/words.h"
#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/common/random_pair.h"
#include "tests/common/schedules.h"
#include "tests/cuda/program.h"

static bool loud;
static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)loc;
  if (loud && s == TC_MISSED) fprintf(stderr, "not lowered: %s\n", text);
}
static tc_diag diag = {report, NULL};

static bool make(const random_options *o, random_pair *p) {
  if (!random_pair_make(o, &diag, p)) return false;
  p->copy = tc_graph_optimize(p->copy);
  cr_assert_not_null(p->copy);
  return true;
}

static int differs(const random_pair *it, const char *what, uint32_t i, const interp_array *want,
                   const interp_array *near, const interp_array *got) {
  const int64_t k = allowance_mismatch(want, near, got, it->t);
  if (k < 0) return 0;
  tc_buf text = {0};
  tc_graph_print(it->r.g, &text);
  fprintf(stderr, "%s %u element %lld: %.9g, not %.9g (nearby %.9g)\n%s\n", what, i, (long long)k,
          interp_get(got, k), interp_get(want, k), interp_get(near, k), text.text);
  tc_buf_free(&text);
  return 1;
}

static int check(const cuda_unit *u, int i, const random_pair *it, cuda_layout layout) {
  cuda_run got = {.input = (const interp_array *const *)it->r.input,
                  .scalar = it->r.scalar,
                  .layout = layout};
  int bad = 0;
  interp_run want = random_pair_interpret(it, it->r.input),
             near = random_pair_interpret(it, it->near);
  if (want.noutput + want.nwrite == 0) return 0;
  if (!cuda_program(u, i, &got)) bad = 1;
  if (!bad && got.bad_index) bad = 1, fprintf(stderr, "an index is out of range\n");
  for (uint32_t o = 0; !bad && o < want.noutput && o < near.noutput; o++)
    bad = differs(it, "result", o, want.output[o], near.output[o], got.output[o]);
  for (uint32_t w = 0; !bad && w < want.nwrite && w < near.nwrite; w++) {
    uint32_t input;
    tc_graph_write_at(it->r.g, w, &input);
    if (got.after[input])
      bad = differs(it, "write", w, want.write[w], near.write[w], got.after[input]);
  }
  interp_run_free(&want);
  interp_run_free(&near);
  cuda_run_free(&got);
  return bad;
}

enum { BATCH = 24 };

typedef struct tally {
  int graphs, kernels, runs, failures;
} tally;

static bool (*plan)(tc_program *p); /* NULL: the backend's */

static void run_batch(random_pair *items, int n, tally *t) {
  tc_graph *graph[BATCH];
  cuda_unit u;
  for (int i = 0; i < n; i++) graph[i] = items[i].copy;
  loud = true;
  const bool ok = cuda_unit_build_by(&u, graph, n, plan ? plan : tc_backend_cuda.plan);
  loud = false;
  cr_assert(ok, "texts do not build");
  for (int i = 0; i < n; i++) {
    t->graphs++;
    for (cuda_layout layout = 0; u.program[i] && layout < CUDA_LAYOUTS; layout++) {
      t->runs++;
      t->failures += check(&u, i, &items[i], layout);
    }
  }
  t->kernels += u.kernels;
  cuda_unit_free(&u);
  for (int i = 0; i < n; i++) {
    random_pair_free(&items[i]);
    tc_graph_free(items[i].copy);
  }
}

static void run_all(const random_options *o, int n, tally *t) {
  random_pair items[BATCH];
  int have = 0;
  for (int i = 0; i < n; i++) {
    if (make(&o[i], &items[have])) have++;
    if (have == BATCH || (have && i == n - 1)) {
      run_batch(items, have, t);
      have = 0;
    }
  }
  printf("%d graphs, %d kernels, %d runs, %d failures\n", t->graphs, t->kernels, t->runs,
         t->failures);
}

Test(emulated, every_op, .timeout = 3000) {
  int n = 0;
  random_options *o = random_every_op(1, &n);
  tally t = {0};
  run_all(o, n, &t);
  cr_expect_eq(t.failures, 0);
  free(o);
}

Test(emulated, graphs, .timeout = 3000) {
  int n = 24;
  random_options *o = random_many_ops(771000, &n);
  tally t = {0};
  run_all(o, n, &t);
  cr_expect_eq(t.failures, 0);
  free(o);
}

/* ---- changed schedules ----------------------------------------------------------------------- */

static uint32_t state;
static int changed, refused;

static uint32_t draw(uint32_t n) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % n;
}

/* Line `at` of the text. */
static const char *line_at(const char *text, uint32_t at) {
  for (; at; --at) text = strchr(text, '\n') + 1;
  return text;
}

static uint32_t count_lines(const char *text) {
  uint32_t n = 0;
  for (; *text; ++text) n += *text == '\n';
  return n;
}

/* The text with a decision less, or with another number. */
static void change(const char *text, tc_buf *out) {
  static const int numbers[] = {1, 2, 3, 4, 8, 16, 32, 64, 96, 128, 256, 1000};
  const char *line = line_at(text, draw(count_lines(text))), *end = strchr(line, '\n');
  const char *number = end;
  while (number > line && number[-1] >= '0' && number[-1] <= '9') --number;
  tc_putn(out, text, (size_t)(line - text));
  if (number < end && number[-1] == ' ' && draw(4))
    tc_putf(out, "%.*s%d\n", (int)(number - line), line, numbers[draw(12)]);
  tc_put(out, end + 1);
}

static bool plan_changed(tc_program *p) {
  bool ok = tc_backend_cuda.plan(p);
  for (int i = 0; ok && i < 6; i++) {
    tc_buf text = {0}, why = {0};
    char *now = schedules_text(&tc_backend_cuda, p);
    change(now, &text);
    if (tc_schedule_read(tc_backend_cuda.schedule, text.text, p, "g", &why)) changed++;
    else { /* as it was */ refused++;
      ok = tc_backend_cuda.plan(p) && tc_schedule_read(tc_backend_cuda.schedule, now, p, "g", &why);
    }
    free(now);
    tc_buf_free(&text);
    tc_buf_free(&why);
  }
  return ok;
}

Test(emulated, changed_schedules, .timeout = 3000) {
  const char *seed = getenv("TC_TEST_SEED");
  int n = 48;
  random_options *o = random_many_ops(774000, &n);
  tally t = {0};
  state = seed ? (uint32_t)atoi(seed) : 1;
  plan = plan_changed;
  run_all(o, n, &t);
  printf("%d changes, %d refused\n", changed, refused);
  cr_expect_eq(t.failures, 0);
  cr_expect_gt(changed, 50);
  cr_expect_gt(refused, 10);
  free(o);
}
