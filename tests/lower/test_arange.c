/* Ranges of whole numbers are counted in i64, and hold what the graph says whatever their dtype. */
#include <stdio.h>

#include "tests/lower/check.h"

/* How many operations of the kernel for x + arange(n, start, step) are in f64. */
static int operations_in_f64(const char *start, const char *step, const char *dtype) {
  char text[400];
  snprintf(text, sizeof text,
           "graph g\n%%1 = param f32[N] \"x\"\n%%2 = const weak f64 %s\n%%3 = const weak f64 %s\n"
           "%%4 = arange %%2 %%3 n=N dtype=%s\n%%5 = add %%1 %%4\nret %%5\n",
           start, step, dtype);
  tc_graph *g = graph_of(text);
  interp_array **input = arguments_of(g, 300);
  cr_expect_eq(check_lowering(g, input, NULL, NULL), 1);
  free_arguments(g, input);
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert_not_null(p);
  const tc_kernel *k = &p->kernel[0];
  int n = 0;
  for (uint32_t i = 1; i < k->nexpr; ++i)
    n += k->expr[i].kind == TC_EX_OP && k->expr[i].dtype == TC_F64;
  tc_program_free(p);
  tc_graph_free(g);
  return n;
}

Test(arange, whole_numbers) {
  static const char *const dtypes[] = {"i64",  "i32", "i16", "i8",  "u8",
                                       "bool", "f32", "f16", "bf16"};
  static const char *const range[][2] = {{"0.0", "1.0"}, {"5.0", "-3.0"}, {"-1024.0", "1024.0"}};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; ++d)
    for (size_t r = 0; r < sizeof range / sizeof *range; ++r)
      cr_expect_eq(operations_in_f64(range[r][0], range[r][1], dtypes[d]), 0, "%s from %s by %s",
                   dtypes[d], range[r][0], range[r][1]);
}

Test(arange, other_numbers) {
  cr_expect_gt(operations_in_f64("0.0", "0.5", "f32"), 0);
  cr_expect_gt(operations_in_f64("0.5", "1.0", "i64"), 0);
  cr_expect_gt(operations_in_f64("0.0", "2000.0", "i8"), 0);
  cr_expect_gt(operations_in_f64("-0.0", "-1.0", "f32"), 0);
}
