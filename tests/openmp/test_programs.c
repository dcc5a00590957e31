/* Programs written by hand as loop IR, run by the kernels of every level, against the graphs that compute the same. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>

#include "backends/openmp/unit.h"
#include "graph/text.h"
#include "tests/common/allowance.h"
#include "tests/common/loop_texts.h"
#include "tests/openmp/tensors.h"
#include "tests/openmp/unit.h"

static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self;
  if (s >= TC_MISSED) fprintf(stderr, "%u: %s\n", loc.line, text);
}
static tc_diag diag = {report, NULL};

static const tc_program *stated; /* what is compiled in place of the graph at hand */

static bool plan_stated(tc_program *p) {
  loop_text_take(p, stated);
  return tc_backend_openmp.plan(p);
}

enum { INPUTS = 5, OUTPUTS = 2 };

/* want: of values that are rounded, and that are not: where an operand is computed a level may do either. */
static void check_level(omp_unit *u, const interp_run want[2], uint32_t n, const loop_text *t, int set) {
  const struct tc_tensor *in[INPUTS];
  struct tc_tensor *out[OUTPUTS];
  for (uint32_t i = 0; i < n; i++) in[i] = omp_tensor(want[0].input[i], false);
  cr_assert(u->entry[0](in, NULL, out), "%s", t->what);
  for (uint32_t i = 0; i < want->noutput; i++) {
    interp_array *got = omp_array(out[i]);
    const interp_array *rounded = want[0].output[i], *exact = want[1].output[i];
    const allowance near = allowance_of(got->dtype);
    const int64_t k = allowance_mismatch(rounded, rounded, got, near);
    cr_expect(k < 0 || allowance_mismatch(exact, exact, got, near) < 0,
              "%s, sizes %d, level %d, result %u, element %lld: %g, not %g", t->what, set, (int)tcrt_isa, i, (long long)k,
              interp_get(got, k), interp_get(rounded, k));
    interp_free(got);
  }
  omp_tensors_free();
}

static void check_set(omp_unit *u, const loop_text *t, int set) {
  tc_graph *g = tc_graph_parse(t->graph, &diag);
  const uint32_t n = tc_graph_input_count(g);
  interp_array *input[INPUTS];
  cr_assert(n <= INPUTS && tc_graph_output_count(g) <= OUTPUTS);
  for (uint32_t i = 0; i < n; i++) input[i] = loop_text_input(g, i, set);
  interp_run want[2];
  for (int r = 0; r < 2; r++) {
    want[r] = (interp_run){.g = g, .input = (const interp_array *const *)input, .round = r == 0};
    cr_assert(interp_graph(&want[r]), "%s", want[r].message);
  }
  for (int level = 0; level < TC_ISA_COUNT; level++) {
    if (!(omp_levels_here() >> level & 1)) continue;
    tcrt_isa = level;
    check_level(u, want, n, t, set);
  }
  for (int r = 0; r < 2; r++) interp_run_free(&want[r]);
  for (uint32_t i = 0; i < n; i++) interp_free(input[i]);
  tc_graph_free(g);
}

Test(programs, run_as_they_are_written, .timeout = 300) {
  for (int i = 0; i < loop_text_count; i++) {
    tc_program *p = tc_program_read(loop_texts[i].loops, &diag);
    cr_assert_not_null(p, "%s", loop_texts[i].what);
    tc_graph *g = p->graph;
    tc_backend b = tc_backend_openmp;
    omp_unit u;
    stated = p;
    b.plan = plan_stated;
    cr_assert(omp_unit_build_by(&u, &g, 1, ~0u, &b), "%s", loop_texts[i].what);
    cr_assert_eq(u.result[0].kernels, (int)p->nkernel, "%s", loop_texts[i].what);
    for (int set = 0; set < LOOP_TEXT_SETS; set++) check_set(&u, &loop_texts[i], set);
    omp_unit_free(&u);
    tc_program_free(p);
  }
}
