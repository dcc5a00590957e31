/* Random graphs through the whole compiler: generated C, built by clang for every ISA level that
 * this machine runs, against the interpreter. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/openmp/unit.h"
#include "graph/text.h"
#include "tests/common/layouts.h"
#include "tests/common/random_pair.h"
#include "tests/openmp/tensors.h"
#include "tests/openmp/unit.h"

typedef struct item {
  random_pair pair;
  char *text;
} item;

static bool loud;
static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)loc;
  if (loud && s == TC_MISSED) fprintf(stderr, "not compiled: %s\n", text);
}
static tc_diag diag = {report, NULL};

static bool make(const random_options *o, item *it) {
  if (!random_pair_make(o, &diag, &it->pair)) return false;
  tc_buf text = {0};
  tc_graph_print(it->pair.r.g, &text);
  it->text = text.text;
  return true;
}

/* Number of failures of one function at one level. */
static int check(const item *it, tcrt_entry *entry, const char *level, bool strided) {
  const random_pair *p = &it->pair;
  int bad = 0;
  const struct tc_tensor *in[64] = {0};
  struct tc_tensor *out[64] = {0};
  omp_tensors_free();
  for (uint32_t i = 0; i < p->r.ninput; i++)
    in[i] = omp_tensor(p->r.input[i], strided && i % 2 == 0);
  interp_run want = random_pair_interpret(p, p->r.input), near = random_pair_interpret(p, p->near);
  const int hit = entry(in, p->r.scalar, out);
  if (!hit && want.noutput) bad = 1, fprintf(stderr, "%s: no hit\n%s\n", level, it->text);
  for (uint32_t i = 0; hit && i < want.noutput && i < near.noutput; i++) {
    interp_array *got = omp_array(out[i]);
    const int64_t k = allowance_mismatch(want.output[i], near.output[i], got, p->t);
    if (k >= 0 && ++bad)
      fprintf(stderr, "%s: result %u element %lld: %.9g, not %.9g (nearby %.9g)\n%s\n", level, i,
              (long long)k, interp_get(got, k), interp_get(want.output[i], k),
              interp_get(near.output[i], k), it->text);
    interp_free(got);
  }
  interp_run_free(&want);
  interp_run_free(&near);
  return bad;
}

static void drop(item *it) {
  random_pair_free(&it->pair);
  free(it->text);
}

typedef struct tally {
  int graphs, compiled, runs, failures;
} tally;

enum { BATCH = 48 };

/* b: NULL: the OpenMP backend */
static void run_batch(const tc_backend *b, item *items, int n, tally *t) {
  tc_graph *graph[BATCH];
  omp_unit u;
  for (int i = 0; i < n; i++) graph[i] = items[i].pair.copy;
  loud = true;
  const bool ok = omp_unit_build_by(&u, graph, n, ~0u, b);
  loud = false;
  cr_assert(ok, "texts do not build");
  static const char *const name[] = {"v2", "v3", "v4", "bf16", "amx"};
  for (int i = 0; i < n; i++) {
    t->graphs++;
    t->compiled += u.result[i].compiled;
    for (int level = 0; u.entry[i] && level < TC_ISA_COUNT; level++) {
      if (!(omp_levels_here() >> level & 1)) continue;
      tcrt_isa = level;
      const int bad = check(&items[i], u.entry[i], name[level], level & 1);
      t->runs++;
      t->failures += bad;
      if (bad && getenv("TC_TEST_VERBOSE")) fprintf(stderr, "entry test_%d\n", i);
    }
    drop(&items[i]);
  }
  omp_unit_free(&u);
}

static void run_all(const tc_backend *b, const random_options *o, int n, tally *t) {
  item items[BATCH];
  int have = 0;
  for (int i = 0; i < n; i++) {
    if (make(&o[i], &items[have])) have++;
    if (have == BATCH || (have && i == n - 1)) {
      run_batch(b, items, have, t);
      have = 0;
    }
  }
}

/* None of them fails; frees the list. */
static tally expect_right(const tc_backend *b, random_options *o, int n) {
  tally t = {0};
  run_all(b, o, n, &t);
  printf("%d graphs, %d compiled, %d runs, %d failures\n", t.graphs, t.compiled, t.runs,
         t.failures);
  cr_expect_eq(t.failures, 0);
  free(o);
  return t;
}

Test(random, every_op, .timeout = 3000) {
  int n = 0;
  random_options *o = random_every_op(2, &n);
  expect_right(NULL, o, n);
}

Test(random, graphs, .timeout = 3000) {
  int n = 48;
  random_options *o = random_many_ops(991000, &n);
  expect_right(NULL, o, n);
}

/* ---- layouts --------------------------------------------------------------------------------- */

static uint32_t layouts; /* of programs so far */

static bool plan(tc_program *p) {
  layouts += count_layouts(p);
  test_layouts_from += 5;
  return tc_backend_openmp.plan(p);
}

/* Arrays between kernels are permuted, padded and in blocks. */
Test(random, layouts, .timeout = 3000) {
  tc_target target = *tc_backend_openmp.target;
  target.layout = test_layouts;
  tc_backend laid_out = tc_backend_openmp;
  laid_out.target = &target;
  laid_out.plan = plan;
  int n = 48;
  random_options *o = random_many_ops(992000, &n);
  for (int i = 0; i < n; i++) o[i].nodes = 40; /* some arrays between kernels */
  const tally t = expect_right(&laid_out, o, n);
  printf("%u layouts\n", layouts);
  cr_expect_geq(layouts, (uint32_t)t.graphs / 2);
}
