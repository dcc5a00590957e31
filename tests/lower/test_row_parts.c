/* Rows that are reduced and then stored: where few long ones may come, there are nests of parts of them, too. */
#include "tests/lower/check.h"

#include <string.h>

/* Of few elements and small chunks, so that both ways run at small sizes. */
static tc_target target_of_parts(void) {
  tc_target t = tc_target_cores;
  t.few_kept_rows = 4;
  t.few_kept_columns = 6;
  t.long_kept_row = 20;
  t.long_kept_column = 10;
  t.split = 8;
  t.least_of_row = 0;
  t.least_part = 4;
  t.most_parts = 3;
  t.cut_unknown = true;
  return t;
}

/* Nests of parts; the values are checked on the way, with few and many rows, short and long, and none where that may be. */
static int parts(const char *text) {
  static const int64_t size[] = {0, 1, 3, 5, 6, 11, 21, 50};
  const tc_target target = target_of_parts();
  const bool some = strstr(text, "softmax") || strstr(text, "max ");
  for (size_t i = some; i < sizeof size / sizeof *size; i++) {
    tc_graph *g = graph_of(text);
    interp_array **input = arguments_of(g, size[i]);
    check_lowering_for(&target, g, input, NULL, NULL);
    free_arguments(g, input);
    tc_graph_free(g);
  }
  tc_graph *g = graph_of(text);
  tc_program *p = tc_lower(g, &target);
  cr_assert_not_null(p);
  int cut = 0, whole = 0;
  for (uint32_t k = 0; k < p->nkernel; k++)
    for (uint32_t i = 0; i < p->kernel[k].nnest; i++) {
      cut += p->kernel[k].nest[i].when == TC_WHERE_CUT;
      whole += p->kernel[k].nest[i].when == TC_WHERE_WHOLE;
    }
  cr_expect_eq(cut != 0, whole != 0);
  tc_program_free(p);
  tc_graph_free(g);
  return cut;
}

#define PARTS(name, want, text) \
  Test(row_parts, name) { cr_expect_eq(parts("graph g\n" text), want); }

/* a pair of nests for each stage, and one for the elements */
PARTS(softmax_of_columns, 5, "%1 = param f32[R,3] \"x\"\n%2 = softmax %1 axis=0\nret %2\n")
PARTS(softmax_of_any_columns, 5, "%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=0\nret %2\n")
PARTS(standardised_columns, 5,
      "%1 = param f64[R,C] \"x\"\n%2 = mean %1 axes=[0] keep=1\n%3 = sub %1 %2\n%4 = var %1 axes=[0] correction=0 keep=1\n"
      "%5 = const weak f64 0.5\n%6 = add %4 %5\n%7 = rsqrt %6\n%8 = mul %3 %7\nret %8\n")
PARTS(few_rows, 5, "%1 = param f32[3,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
PARTS(rows_of_several_axes, 5,
      "%1 = param f64[N,2,H,3] \"x\"\n%2 = mean %1 axes=[0,2,3] keep=1\n%3 = sub %1 %2\n%4 = var %1 axes=[0,2,3] correction=0 keep=1\n"
      "%5 = const weak f64 0.5\n%6 = add %4 %5\n%7 = div %3 %6\nret %7\n")
PARTS(reductions_of_one_stage, 3,
      "%1 = param f64[R,C] \"x\"\n%2 = sum %1 axes=[0] keep=1\n%3 = max %1 axes=[0] keep=1\n%4 = mul %1 %2\n%5 = add %4 %3\nret %5\n")
PARTS(positions, 3,
      "%1 = param f32[R,C] \"x\"\n%2 = argmax %1 axes=[0] keep=1\n%3 = cast %2 dtype=f32\n%4 = add %1 %3\nret %4\n")
/* another nest for what there is of each row */
PARTS(values_of_rows, 6,
      "%1 = param f64[R,C] \"x\"\n%2 = sum %1 axes=[0] keep=1\n%3 = sub %1 %2\n%4 = square %3\n%5 = sum %4 axes=[0] keep=1\n"
      "%6 = mul %3 %5\n%7 = reshape %5 dims=[C]\n%8 = neg %7\nret %6 %8\n")

PARTS(not_of_rows_without_a_bound, 0, "%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
PARTS(not_of_many_rows, 0, "%1 = param f32[4,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
PARTS(not_of_short_columns, 0, "%1 = param f32[10,C] \"x\"\n%2 = softmax %1 axis=0\nret %2\n")
PARTS(not_of_products, 0,
      "%1 = param f32[3,6] \"x\"\n%2 = param f32[6,C] \"y\"\n%3 = matmul %1 %2\n%4 = softmax %3 axis=1\nret %4\n")

/* Few known rows without a reader of their elements: a task is a chunk of one row, which is no shorter where rows are more; of
 * columns it is one of all of them. */
Test(split, chunks_of_rows) {
  static const struct {
    const char *text;
    int64_t chunk;
  } of[] = {{"graph g\n%1 = param f32[27,91593] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n", 4096},
            {"graph g\n%1 = param f32[1,91593] \"x\"\n%2 = max %1 axes=[1] keep=0\nret %2\n", 16384},
            {"graph g\n%1 = param f32[91593,32] \"x\"\n%2 = sum %1 axes=[0] keep=0\nret %2\n", 16384 / 32}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    tc_graph *g = graph_of(of[i].text);
    tc_program *p = tc_lower(g, &tc_target_cores);
    cr_assert_not_null(p);
    const tc_nest *n = p->kernel[0].nest;
    const tc_axis *cut = &n->axis[n->nparallel];
    cr_assert(p->kernel[0].nnest == 2 && cut->of >= 0);
    cr_expect(tc_dim_is(cut->extent, of[i].chunk), "case %zu", i);
    tc_program_free(p);
    tc_graph_free(g);
  }
}
