/* Programs written by hand as loop IR, their kernels run on the CPU by emulate.h, against the graphs that compute the
 * same. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>

#include "backends/cuda/unit.h"
#include "graph/text.h"
#include "tests/common/allowance.h"
#include "tests/common/loop_texts.h"
#include "tests/cuda/program.h"

static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self;
  if (s >= TC_MISSED) fprintf(stderr, "%u: %s\n", loc.line, text);
}
static tc_diag diag = {report, NULL};

static const tc_program *stated; /* what is compiled in place of the graph at hand */

static bool plan_stated(tc_program *p) {
  loop_text_take(p, stated);
  return tc_backend_cuda.plan(p);
}

enum { INPUTS = 5 };

static void check_set(const cuda_unit *u, const loop_text *t, int set, bool shifted) {
  tc_graph *g = tc_graph_parse(t->graph, &diag);
  const uint32_t n = tc_graph_input_count(g);
  interp_array *input[INPUTS];
  cr_assert_leq(n, INPUTS);
  for (uint32_t i = 0; i < n; i++) input[i] = loop_text_input(g, i, set);
  interp_run want = {.g = g, .input = (const interp_array *const *)input, .round = true};
  cuda_run got = {.input = (const interp_array *const *)input, .layout = shifted ? CUDA_SHIFTED : CUDA_ALIGNED};
  cr_assert(interp_graph(&want), "%s", want.message);
  cr_assert(cuda_program(u, 0, &got), "%s", t->what);
  for (uint32_t i = 0; i < want.noutput; i++) {
    const interp_array *const y = got.output[i], *const w = want.output[i];
    const allowance near = allowance_of(y->dtype);
    const int64_t k = allowance_mismatch(w, w, y, near);
    cr_expect(k < 0, "%s, sizes %d%s, result %u, element %lld: %g, not %g", t->what, set, shifted ? ", shifted" : "", i,
              (long long)k, interp_get(y, k), interp_get(w, k));
  }
  cuda_run_free(&got);
  interp_run_free(&want);
  for (uint32_t i = 0; i < n; i++) interp_free(input[i]);
  tc_graph_free(g);
}

Test(programs, run_as_they_are_written, .timeout = 600) {
  for (int i = 0; i < loop_text_count; i++) {
    tc_program *p = tc_program_read(loop_texts[i].loops, &diag);
    cr_assert_not_null(p, "%s", loop_texts[i].what);
    tc_graph *g = p->graph;
    cuda_unit u;
    stated = p;
    cr_assert(cuda_unit_build_by(&u, &g, 1, plan_stated), "%s", loop_texts[i].what);
    for (int set = 0; set < LOOP_TEXT_SETS; set++)
      for (int shifted = 0; shifted < 2; shifted++) check_set(&u, &loop_texts[i], set, shifted);
    cuda_unit_free(&u);
    tc_program_free(p);
    tc_graph_free(g);
  }
}
