/* Random graphs through lowering and the CUDA printers, run on the CPU by emulate.h, against the
 * interpreter; once with aligned buffers (16-byte accesses, 32-bit indices) and once without.  The
 * allowance is a tolerance of the coarsest dtype plus what a tiny change of the arguments does to
 * the same result. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/common/allowance.h"
#include "tests/common/random_graph.h"
#include "tests/cuda/program.h"

typedef struct item {
  random_graph r; /* for the interpreter */
  tc_graph *copy; /* optimised, for the compiler */
  interp_array **near;
  allowance t;
} item;

static bool loud;
static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)loc;
  if (loud && s == TC_MISSED) fprintf(stderr, "not lowered: %s\n", text);
}
static tc_diag diag = {report, NULL};

static bool make(const random_options *o, item *it) {
  random_graph copy;
  if (!random_graph_make(o, &diag, &it->r)) {
    random_graph_free_input(&it->r, it->r.input);
    tc_graph_free(it->r.g);
    return false;
  }
  cr_assert(random_graph_make(o, &diag, &copy), "the same graph once more");
  random_graph_free_input(&copy, copy.input);
  it->copy = tc_graph_optimize(copy.g);
  cr_assert_not_null(it->copy);
  it->t = allowance_of(random_coarsest_dtype(it->r.g));
  it->near = random_graph_perturbed(&it->r, it->t.change);
  return true;
}

static interp_run interpret(const item *it, interp_array **input) {
  interp_run run = {.g = it->r.g,
                    .input = (const interp_array *const *)input,
                    .scalar = it->r.scalar,
                    .round = it->t.round};
  if (!interp_graph(&run)) run.noutput = run.nwrite = 0;
  return run;
}

static int differs(const item *it, const char *what, uint32_t i, const interp_array *want,
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

static int check(const cuda_unit *u, int i, const item *it, bool shifted) {
  cuda_run got = {.input = (const interp_array *const *)it->r.input,
                  .scalar = it->r.scalar,
                  .shifted = shifted};
  int bad = 0;
  interp_run want = interpret(it, it->r.input), near = interpret(it, it->near);
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

static void run_batch(item *items, int n, tally *t) {
  tc_graph *graph[BATCH];
  cuda_unit u;
  for (int i = 0; i < n; i++) graph[i] = items[i].copy;
  loud = true;
  const bool ok = cuda_unit_build(&u, graph, n);
  loud = false;
  cr_assert(ok, "texts do not build");
  for (int i = 0; i < n; i++) {
    t->graphs++;
    for (int shifted = 0; u.program[i] && shifted < 2; shifted++) {
      t->runs++;
      t->failures += check(&u, i, &items[i], shifted);
    }
  }
  t->kernels += u.kernels;
  cuda_unit_free(&u);
  for (int i = 0; i < n; i++) {
    random_graph_free_input(&items[i].r, items[i].near);
    random_graph_free_input(&items[i].r, items[i].r.input);
    tc_graph_free(items[i].r.g);
    tc_graph_free(items[i].copy);
  }
}

static void run_all(const random_options *o, int n, tally *t) {
  item items[BATCH];
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
