/* Parts of a function that do not depend on each other. */
#include "tests/lower/check.h"

#include <string.h>

/* x_i = x_i - 0.1 y_i, for i < count, of vectors of so many elements each. */
static tc_graph *updates(int count, const char *const *size) {
  tc_buf text = {0};
  tc_put(&text, "graph g\n");
  for (int i = 0; i < count; i++)
    tc_putf(&text, "%%%d = param f32[%s] \"x%d\"\n%%%d = param f32[%s] \"y%d\"\n", 2 * i + 1, size[i], i,
            2 * i + 2, size[i], i);
  tc_putf(&text, "%%%d = const weak f64 0.1\n", 2 * count + 1);
  for (int i = 0; i < count; i++) {
    const int at = 2 * (count + i) + 2;
    tc_putf(&text, "%%%d = mul %%%d %%%d\n%%%d = sub %%%d %%%d\n", at, 2 * i + 2, 2 * count + 1, at + 1,
            2 * i + 1, at);
    tc_putf(&text, "write %%%d -> %%%d\n", at + 1, 2 * i + 1);
  }
  tc_graph *g = graph_of(text.text);
  tc_buf_free(&text);
  return g;
}

/* Kernels that name many arrays are slow where nothing is saved by it. */
Test(siblings, arrays_of_one_update) {
  enum { MANY = 100 };
  const char *size[MANY];
  for (int i = 0; i < MANY; i++) size[i] = "N";
  tc_graph *g = updates(MANY, size);
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert(p);
  for (uint32_t k = 0; k < p->nkernel; k++) cr_expect_eq(p->kernel[k].nbuffer, 2);
  tc_program_free(p);
  tc_graph_free(g);
}

/* ---- launches -------------------------------------------------------------------------------- */

static uint32_t launches_of(tc_graph *g) {
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert(p);
  const uint32_t n = tc_launch_count(p);
  tc_program_free(p);
  return n;
}

static void check(tc_graph *g, uint32_t launches) {
  interp_array **input = arguments_of(g, 5);
  check_lowering(g, input, NULL, NULL);
  cr_expect_eq(launches_of(g), launches, "%u launches", launches_of(g));
  free_arguments(g, input);
  tc_graph_free(g);
}

static void check_text(const char *text, uint32_t launches) { check(graph_of(text), launches); }

/* Long and short arrays: of the long ones, chunks are the outer points. */
Test(siblings, mixed_sizes) {
  const char *size[] = {"N", "N,M", "3", "M,M", "17", "4,N", "N,4", "M", "5,7", "2"};
  check(updates(10, size), 2);
}
Test(siblings, one_size) {
  const char *size[] = {"6", "6", "6"};
  check(updates(3, size), 1);
}
/* Cut as long ones are, or not at all. */
Test(siblings, constant_sizes) {
  const char *size[] = {"9000", "100,100", "8200", "6", "77"};
  check(updates(5, size), 2);
}
Test(siblings, numbers) { /* in which they differ */
  check_text("graph g\n%1 = param f32[N] \"a\"\n%2 = param f32[M] \"b\"\n%3 = const weak f64 0.25\n"
             "%4 = const weak f64 0.75\n%5 = mul %1 %3\n%6 = mul %2 %4\nwrite %5 -> %1\nwrite %6 -> %2\n", 1);
}
Test(siblings, dtypes) {
  check_text("graph g\n%1 = param f32[N] \"a\"\n%2 = param f64[M] \"b\"\n%3 = const weak f64 0.25\n"
             "%5 = mul %1 %3\n%6 = mul %2 %3\nwrite %5 -> %1\nwrite %6 -> %2\n", 2);
}
Test(siblings, order_of_factors) {
  check_text("graph g\n%1 = param f32[N] \"a\"\n%2 = param f32[N] \"b\"\n%3 = param f32[M] \"c\"\n%4 = param f32[M] \"d\"\n"
             "%5 = exp %1\n%6 = mul %5 %2\n%7 = exp %4\n%8 = mul %3 %7\nwrite %6 -> %1\nwrite %8 -> %4\n", 1);
}
Test(siblings, one_reads_what_another_writes) { 
  check_text("graph g\n%1 = param f32[N,N] \"a\"\n%2 = param f32[N,N] \"b\"\n"
             "%4 = cumsum %1 axis=0\n%6 = cumsum %4 axis=0\nwrite %4 -> %1\nwrite %6 -> %2\n", 2);
}
#define SCAN                                                                                       \
  "graph g\n%1 = param f32[N,N] \"a\"\n%2 = param f32[N,N] \"b\"\n%3 = param f32[N,N] \"c\"\n"      \
  "%4 = param f32[N,N] \"d\"\n%5 = cumsum %2 axis=0\n"
Test(siblings, what_one_reads_is_written_by_another) {
  check_text(SCAN "%6 = cumsum %3 axis=0\n%7 = cumsum %4 axis=0\nwrite %5 -> %1\nwrite %6 -> %2\nwrite %7 -> %3\n", 3);
}
Test(siblings, what_one_wrote_is_read_by_another) {
  check_text(SCAN "%6 = cumsum %5 axis=0\n%7 = cumsum %6 axis=0\nwrite %5 -> %1\nwrite %6 -> %3\nwrite %7 -> %4\n", 3);
}
Test(siblings, scans) { /* that meet nowhere */
  check_text("graph g\n%1 = param f32[N,M] \"a\"\n%2 = param f32[N,M] \"b\"\n%3 = param f32[K,L] \"c\"\n"
             "%4 = param f32[K,L] \"d\"\n%5 = cumsum %2 axis=0\n%7 = cumsum %4 axis=0\n"
             "write %5 -> %1\nwrite %7 -> %3\n", 1);
}
/* Rows that reduce, each of its own length. */
Test(siblings, rows) {
  check_text("graph g\n%1 = param f32[N,M] \"a\"\n%2 = param f32[K,L] \"b\"\n%3 = sum %1 axes=[1] keep=0\n"
             "%4 = sum %2 axes=[1] keep=0\nret %3 %4\n", 1);
}
/* In front of what writes an operand, all indices have been looked at. */
Test(siblings, writes_stay_behind_checks) {
  tc_graph *g = graph_of("graph g\n%1 = param f32[N] \"a\"\n%2 = param f32[M] \"b\"\n%3 = param i64[K] \"i\"\n"
                         "%4 = param f32[L] \"t\"\n%5 = const weak f64 0.25\n%6 = mul %1 %5\n%7 = mul %2 %5\n"
                         "%8 = gather %4 %3 axis=0\nwrite %6 -> %1\nwrite %7 -> %2\nret %8\n");
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert(p);
  bool written = false;
  for (uint32_t k = 0; k < p->nkernel; k++)
    for (uint32_t i = 0; i < p->kernel[k].nbuffer; i++) {
      const tc_buffer *b = &p->buffer[p->kernel[k].buffer[i]];
      written |= b->kind == TC_BUF_INPUT && tc_kernel_writes(&p->kernel[k], i);
      cr_expect(b->kind != TC_BUF_OUTPUT || !written);
    }
  tc_program_free(p);
  tc_graph_free(g);
}
/* The verifier knows what a launch may not hold. */
/* ---- updates by split sums ------------------------------------------------------------------- */

/* w_i = w_i - 0.1 (column sums of x_i)^2, of so many parameters. */
static tc_graph *updates_by_sums(int count) {
  tc_buf text = {0};
  tc_put(&text, "graph g\n");
  for (int i = 0; i < count; i++)
    tc_putf(&text, "%%%d = param f32[200,6] \"x%d\"\n%%%d = param f32[6] \"w%d\"\n", 2 * i + 1, i, 2 * i + 2, i);
  tc_putf(&text, "%%%d = const weak f64 0.1\n", 2 * count + 1);
  for (int i = 0; i < count; i++) tc_putf(&text, "%%%d = sum %%%d axes=[0] keep=0\n", 2 * count + 2 + i, 2 * i + 1);
  for (int i = 0; i < count; i++) {
    const int at = 3 * count + 2 + 3 * i;
    tc_putf(&text, "%%%d = square %%%d\n%%%d = mul %%%d %%%d\n%%%d = sub %%%d %%%d\nwrite %%%d -> %%%d\n", at, 2 * count + 2 + i,
            at + 1, at, 2 * count + 1, at + 2, 2 * i + 2, at + 1, at + 2, 2 * i + 2);
  }
  tc_graph *g = graph_of(text.text);
  tc_buf_free(&text);
  return g;
}

/* Few updates are computed with their sums; many are one launch behind kernels of `most_sums` sums each. */
static void check_updates(int count, uint32_t most_sums, uint32_t launches) {
  tc_target target = tc_target_cores;
  target.siblings = TC_SIBLINGS_POINTWISE;
  target.most_sums = most_sums;
  target.split = 64;
  target.least_of_row = 0;
  tc_graph *g = updates_by_sums(count);
  interp_array **input = arguments_of(g, 5);
  check_lowering_for(&target, g, input, NULL, NULL);
  tc_program *p = tc_lower(g, &target);
  cr_assert(p);
  cr_expect_eq(tc_launch_count(p), launches, "%u launches", tc_launch_count(p));
  if (tc_launch_count(p) != launches) show_lowering(g, p);
  tc_program_free(p);
  free_arguments(g, input);
  tc_graph_free(g);
}
Test(siblings, few_updates_by_sums) { check_updates(2, 8, 2); }
Test(siblings, many_updates_by_sums) { check_updates(12, 8, 3); }
Test(siblings, sums_of_many_updates_are_few_each) { check_updates(12, 4, 4); }

/* ---- products -------------------------------------------------------------------------------- */

static uint32_t own_sizes_of_products(const char *text) {
  tc_target target = tc_target_cores;
  target.share_products = true;
  tc_graph *g = graph_of(text);
  interp_array **input = arguments_of(g, 3);
  check_lowering_for(&target, g, input, NULL, NULL);
  tc_program *p = tc_lower(g, &target);
  cr_assert(p);
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->nkernel; k++) n += p->kernel[k].nsize;
  tc_program_free(p);
  free_arguments(g, input);
  tc_graph_free(g);
  return n;
}

/* a [N,k] by [k,320], twice. */
static uint32_t own_sizes(int k, int l) {
  tc_buf text = {0};
  tc_putf(&text, "graph g\n%%1 = param f32[N,%d] \"a\"\n%%2 = param f32[%d,320] \"b\"\n%%3 = param f32[N,%d] \"c\"\n"
                 "%%4 = param f32[%d,320] \"d\"\n%%5 = matmul %%1 %%2\n%%6 = matmul %%3 %%4\nret %%5 %%6\n", k, k, l, l);
  const uint32_t n = own_sizes_of_products(text.text);
  tc_buf_free(&text);
  return n;
}
Test(siblings, products_that_differ_in_sizes) { cr_expect_geq(own_sizes(512, 768), 2); }
Test(siblings, products_of_one_size) { cr_expect_eq(own_sizes(512, 512), 0); }
Test(siblings, products_of_sizes_of_other_vectors) { cr_expect_eq(own_sizes(512, 770), 0); }
Test(siblings, products_smaller_than_tiles) { cr_expect_eq(own_sizes(32, 64), 0); }

Test(siblings, verified) {
  tc_graph *g = graph_of("graph g\n%1 = param f32[N,N] \"a\"\n%2 = cumsum %1 axis=0\n%3 = cumsum %2 axis=0\n"
                         "%4 = cumsum %3 axis=0\nret %2 %3 %4\n");
  tc_program *p = tc_lower(g, &tc_target_cores);
  char message[256];
  cr_assert(p && p->nkernel == 3 && tc_program_verify(p, message, sizeof message));
  p->kernel[1].sibling = p->kernel[2].sibling = p->kernel[2].joins = true;
  cr_expect_not(tc_program_verify(p, message, sizeof message));
  cr_expect(strstr(message, "in its launch"), "%s", message);
  tc_program_free(p);
  tc_graph_free(g);
}
