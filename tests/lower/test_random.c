/* Property: a lowered program computes what its graph computes, on random graphs over every op, and
 * keeps the rules of the loop IR on the way (bounds, order, independence, workspace). */
#include "tests/common/random_graph.h"
#include "tests/lower/check.h"

#include <stdio.h>
#include <stdlib.h>

static void quiet(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)s, (void)loc, (void)text;
}

static void check(const random_options *o) {
  static tc_diag diag = {quiet, NULL};
  random_graph r;
  cr_assert(random_graph_make(o, &diag, &r), "seed %llu", (unsigned long long)o->seed);
  interp_array **near = random_graph_perturbed(&r, 1e-12);
  r.g = tc_graph_optimize(r.g);
  cr_assert_not_null(r.g);
  check_lowering(r.g, r.input, near, r.scalar);
  random_graph_free_input(&r, near);
  random_graph_free_input(&r, r.input);
  tc_graph_free(r.g);
}

static const uint32_t types =
    1u << TC_F64 | 1u << TC_I64 | 1u << TC_I32 | 1u << TC_U8 | 1u << TC_BOOL;

Test(random, every_op, .timeout = 300) {
  for (int op = 1; op < OP_COUNT; op++)
    for (uint64_t k = 0; k < 24; k++) {
      random_options o = {.seed = (uint64_t)op * 100 + k,
                          .always = (tc_op)op,
                          .symbolic = k & 1,
                          .specials = k % 4 > 1,
                          .dtypes = types};
      check(&o);
    }
}

Test(random, every_op_narrow, .timeout = 300) {
  static const tc_dtype narrow[] = {TC_F32, TC_F16, TC_BF16};
  for (int op = 1; op < OP_COUNT; op++)
    for (int d = 0; d < 3; d++)
      for (uint64_t k = 0; k < 4; k++) {
        uint32_t dtypes = 1u << narrow[d] | 1u << TC_I32 | 1u << TC_BOOL;
        random_options o = {.seed = (uint64_t)op * 1000 + k,
                            .always = (tc_op)op,
                            .symbolic = k & 1,
                            .dtypes = dtypes};
        check(&o);
      }
}

Test(random, graphs, .timeout = 600) {
  const char *count = getenv("TC_TEST_GRAPHS"), *first = getenv("TC_TEST_SEED");
  uint64_t n = count ? strtoull(count, NULL, 10) : 400;
  uint64_t seed = first ? strtoull(first, NULL, 10) : 77000;
  for (uint64_t k = 0; k < n; k++) {
    random_options o = {.seed = seed + k,
                        .nodes = 4 + (int)(k % 40),
                        .symbolic = k & 1,
                        .specials = k % 8 == 7,
                        .dtypes = types};
    check(&o);
  }
  printf("%llu random graphs lowered\n", (unsigned long long)n);
}
