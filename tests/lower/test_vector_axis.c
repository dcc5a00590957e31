/* Which axis runs in vector lanes, and that the values are right either way. */
#include "tests/lower/check.h"

/* Name of the lanes' axis of the nest-th nest, as the dump of the loops has it. */
static const char *lanes_of(const char *text, uint32_t nest, bool *inner) {
  tc_graph *g = graph_of(text);
  interp_array **input = arguments_of(g, 5);
  tc_value scalar[4] = {{.f = 0.5}, {.f = 0.25}, {.f = 0.75}, {.f = 2}};
  check_lowering(g, input, NULL, scalar);
  free_arguments(g, input);
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert_not_null(p);
  const tc_nest *n = &p->kernel[0].nest[nest];
  const char *name = n->vector < 0 ? "none" : n->axis[n->vector].name;
  *inner = n->vector >= n->nparallel;
  tc_program_free(p);
  tc_graph_free(g);
  return name;
}

#define LANES_OF(name, nest, along, is_inner, text)                                                \
  Test(lanes, name) {                                                                              \
    bool inner;                                                                                    \
    cr_expect_str_eq(lanes_of("graph g\n" text, nest, &inner), along);                             \
    cr_expect_eq(inner, is_inner);                                                                 \
  }

#define LANES(name, along, is_inner, text) LANES_OF(name, 0, along, is_inner, text)

LANES(long_rows_along_the_row, "j", true,
      "%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n")
LANES(rows_of_64_along_the_row, "j", true,
      "%1 = param f32[R,64] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
LANES(columns_along_the_results, "i", false,
      "%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[0] keep=0\nret %2\n")
LANES(rows_of_3_across_rows, "i", false,
      "%1 = param f32[R,3] \"x\"\n%2 = square %1\n%3 = sum %2 axes=[1] keep=0\n%4 = sqrt %3\n"
      "ret %4\n")
LANES(softmax_of_4_across_rows, "i", false,
      "%1 = param f32[R,4] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
LANES(softmax_of_16_along_the_row, "j", true,
      "%1 = param f32[R,16] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
LANES(sums_of_13_along_the_row, "j", true,
      "%1 = param f32[R,13] \"x\"\n%2 = sum %1 axes=[1] keep=0\nret %2\n")
LANES(argmax_of_10_across_rows, "i", false,
      "%1 = param f32[R,10] \"x\"\n%2 = argmax %1 axes=[1] keep=0\nret %2\n")
LANES(distances_across_pairs, "j", false,
      "%1 = param f64[N,3] \"p\"\n%2 = unsqueeze %1 axis=0\n%3 = unsqueeze %1 axis=1\n"
      "%4 = sub %2 %3\n%5 = square %4\n%6 = sum %5 axes=[2] keep=0\n%7 = sqrt %6\nret %7\n")
LANES(small_products_along_their_columns, "k", false,
      "%1 = param f32[N,4,4] \"a\"\n%2 = param f32[N,4,4] \"b\"\n%3 = matmul %1 %2\nret %3\n")
LANES_OF(scatter_along_what_it_moves, 1, "j", true,
         "%1 = param f32[K,D] \"w\"\n%2 = param i64[N] \"i\"\n%3 = param f32[N,D] \"s\"\n"
         "%4 = unsqueeze %2 axis=1\n%5 = expand %4 dims=[N,D]\n"
         "%6 = scatter_add %1 %5 %3 axis=0\nret %6\n")
LANES_OF(scatter_to_anywhere_one_by_one, 1, "none", false,
         "%1 = param f32[K] \"w\"\n%2 = param i64[N] \"i\"\n%3 = param f32[N] \"s\"\n"
         "%4 = scatter_add %1 %2 %3 axis=0\nret %4\n")

/* Stores of the one nest that the kernel has to have. */
static uint32_t stores_of(const char *text) {
  tc_graph *g = graph_of(text);
  interp_array **input = arguments_of(g, 5);
  check_lowering(g, input, NULL, NULL);
  free_arguments(g, input);
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert_not_null(p);
  cr_assert(p->nkernel == 1 && p->kernel[0].nnest == 1 && p->kernel[0].nest[0].nstage == 1);
  const uint32_t n = p->kernel[0].nest[0].stage[0].naction;
  tc_program_free(p);
  tc_graph_free(g);
  return n;
}

Test(lanes, channels_of_pixels_are_stored_together) {
  cr_expect_eq(stores_of("graph g\n%1 = param f32[H,W,3] \"x\"\n%2 = param f32[3] \"m\"\n"
                         "%3 = sub %1 %2\nret %3\n"),
               3);
  cr_expect_eq(stores_of("graph g\n%1 = param u8[H,W,3] \"x\"\n%2 = select %1 axis=2 index=2\n"
                         "%3 = select %1 axis=2 index=0\n%4 = stack %2 %3 axis=2\nret %4\n"),
               2);
  cr_expect_eq(stores_of("graph g\n%1 = param f32[N,5] \"x\"\n%2 = param f32[5] \"m\"\n"
                         "%3 = sub %1 %2\nret %3\n"),
               1);
}

/* What is read across its rows is read in tiles: a sequential axis of neighbouring columns, then lanes. */
Test(lanes, transposed_copies_in_tiles) {
  tc_graph *g = graph_of("graph g\n%1 = param f32[R,C] \"x\"\n%2 = permute %1 axes=[1,0]\n"
                         "%3 = square %2\nret %3\n");
  interp_array **input = arguments_of(g, 70);
  check_lowering(g, input, NULL, NULL);
  free_arguments(g, input);
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert_not_null(p);
  const tc_nest *n = &p->kernel[0].nest[0];
  cr_expect_eq(n->naxis - n->nparallel, 2);
  cr_expect_eq(n->vector, n->naxis - 1);
  cr_expect(tc_dim_is(n->axis[n->nparallel].extent, 16));
  cr_expect(tc_dim_is(n->axis[n->vector].extent, 64));
  tc_program_free(p);
  tc_graph_free(g);
}
