/* Products of few terms with one matrix are sums of products element by element; others are products. */
#include <stdio.h>

#include "tests/lower/check.h"

static bool has_product(const char *text) {
  tc_graph *g = graph_of(text);
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert_not_null(p);
  bool any = false;
  for (uint32_t i = 0; i < p->nkernel; i++) any = any || p->kernel[i].kind == TC_KERNEL_MATMUL;
  tc_program_free(p);
  tc_graph_free(g);
  return any;
}

/* Is the product of these types one, and right? */
static bool is_product(const char *a, const char *b) {
  static const int64_t size[] = {0, 1, 5, 19};
  char text[300];
  snprintf(text, sizeof text, "graph g\n%%1 = param %s \"a\"\n%%2 = param %s \"b\"\n%%3 = matmul %%1 %%2\n%%4 = relu %%3\nret %%4\n", a, b);
  check_sizes(text, size, sizeof size / sizeof *size);
  return has_product(text);
}

Test(few_terms, of_rows_with_a_matrix) {
  cr_expect_not(is_product("f32[M,3]", "f32[3,3]"));
  cr_expect_not(is_product("f64[B,M,4]", "f64[4,32]"));
  cr_expect_not(is_product("f32[B,2,M,1]", "f32[1,1,1,7]"));
  cr_expect_not(is_product("f16[M,2]", "f16[2,8]"));
}

Test(few_terms, of_a_matrix_with_columns) {
  cr_expect_not(is_product("f32[3,3]", "f32[3,N]"));
  cr_expect_not(is_product("f32[16,4]", "f32[B,4,N]"));
  cr_expect_not(is_product("f32[1,5,2]", "f32[B,2,N]"));
}

Test(few_terms, of_two_matrices_for_each_batch) {
  cr_expect(is_product("f32[B,M,4]", "f32[B,4,N]"));
  cr_expect(is_product("f32[2,1,M,3]", "f32[4,3,5]"));
}

Test(few_terms, of_many_or_unknown_sizes) {
  cr_expect(is_product("f32[M,5]", "f32[5,3]"));
  cr_expect(is_product("f32[M,K]", "f32[K,3]"));
  cr_expect(is_product("f32[M,3]", "f32[3,33]"));
  cr_expect(is_product("f32[M,3]", "f32[3,N]"));
  cr_expect(is_product("i32[M,3]", "i32[3,3]"));
}

/* It is computed once for each element, in front of the product. */
Test(few_terms, of_costly_elements) {
  static const char product[] = "graph g\n%1 = param f32[M,3] \"a\"\n%2 = param f32[3,3] \"b\"\n%3 = exp %1\n%4 = matmul %3 %2\nret %4\n";
  static const char sum[] = "graph g\n%1 = param f32[M,3] \"a\"\n%2 = param f32[3,3] \"b\"\n%3 = relu %1\n%4 = matmul %3 %2\n%5 = exp %4\nret %5\n";
  cr_expect(has_product(product));
  cr_expect_not(has_product(sum));
}

/* One operation multiplies two of them. */
Test(few_terms, of_pairs) {
  cr_expect(is_product("bf16[M,4]", "bf16[4,8]"));
  cr_expect_not(is_product("bf16[M,3]", "bf16[3,8]"));
  cr_expect_not(is_product("bf16[M,4]", "bf16[4,4]"));
}

/* Operands and the result have an axis less. */
Test(few_terms, of_a_row_and_a_column) {
  cr_expect_not(is_product("f32[3]", "f32[3,4]"));
  cr_expect_not(is_product("f32[B,4,3]", "f32[3]"));
}
