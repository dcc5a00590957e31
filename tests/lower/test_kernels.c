/* How many kernels a graph becomes: what fuses with what. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/lower/check.h"

static uint32_t kernels_of(const char *text) {
  tc_graph *g = graph_of(text);
  interp_array **input = arguments_of(g, 5);
  tc_value scalar[4] = {{.f = 0.5}, {.f = 0.25}, {.f = 0.75}, {.f = 2}};
  uint32_t n = check_lowering(g, input, NULL, scalar);
  free_arguments(g, input);
  tc_graph_free(g);
  return n;
}

/* For a machine with as many threads as a GPU has: reductions are cut, and products leave room for themselves. */
static uint32_t kernels_of_wide(const char *text) {
  const tc_target wide = {.name = "wide",
                          .split = 4,
                          .least_part = 2,
                          .most_parts = 4,
                          .cut_unknown = true,
                          .epilogue_in_place = true,
                          .product_apart = true};
  tc_graph *g = graph_of(text);
  interp_array **input = arguments_of(g, 5);
  tc_value scalar[4] = {{.f = 0.5}, {.f = 0.25}, {.f = 0.75}, {.f = 2}};
  const uint32_t n = check_lowering_for(&wide, g, input, NULL, scalar);
  free_arguments(g, input);
  tc_graph_free(g);
  return n;
}

/* Without a kernel for it: counted. */
Test(indexing, order_without_sorts) {
  cr_expect_leq(kernels_of_wide("graph g\n%1 = param f32[R,C] \"x\"\n%2 = order %1 k=C axis=0 descending=1\nret %2\n"), 2);
  cr_expect_leq(kernels_of_wide("graph g\n%1 = param i8[3,C,2] \"x\"\n%2 = order %1 k=2 axis=1 descending=0\nret %2 %2\n"), 3);
}

/* What becomes whole numbers is an array where each row would round it again, but for a few. */
Test(repeats, conversions_to_integers) {
  const char *rest = "%2 = param f32[C] \"x\"\n%3 = round %2\n%4 = cast %3 dtype=i32\n%5 = mul %1 %4\n"
                     "%6 = sum %5 axes=[1] keep=0\nret %6\n";
  char text[300];
  snprintf(text, sizeof text, "graph g\n%%1 = param i32[R,C] \"w\"\n%s", rest);
  cr_expect_eq(kernels_of(text), 2);
  snprintf(text, sizeof text, "graph g\n%%1 = param i32[4,C] \"w\"\n%s", rest);
  cr_expect_eq(kernels_of(text), 1);
}

#define KERNELS(suite, name, most, text)                                                         \
  Test(suite, name) { cr_expect_leq(kernels_of("graph g\n" text), most); }

KERNELS(repeats, roundings, 1,
        "%1 = param f32[R,C] \"w\"\n%2 = param f32[C] \"x\"\n%3 = round %2\n%4 = mul %1 %3\n"
        "%5 = sum %4 axes=[1] keep=0\nret %5\n")

/* Windows whose rows are reduced, and whose columns are cut where they are read: the axis behind those keeps its number
 * among the reductions, which run along it whole. */
Test(cuts, axes_in_front_of_a_reduced_one) {
  cr_expect_gt(kernels_of("graph g\n%1 = param f32[5,9,35] \"x\"\n%2 = unfold %1 axis=1 size=3 step=1\n"
                          "%3 = unfold %2 axis=2 size=3 step=2\n%4 = permute %3 axes=[0,3,4,1,2]\n"
                          "%5 = reshape %4 dims=[45,119]\n%6 = roll %5 shift=-3 axis=1\n%7 = add %5 %6\n"
                          "%8 = var %7 axes=[0] correction=1 keep=1\n%9 = neg %8\nret %9\n"),
               0);
}

static bool stores_first_result(const tc_program *p, const tc_kernel *k, const tc_stage *st) {
  for (uint32_t a = 0; a < st->naction; a++) {
    const tc_buffer *b = &p->buffer[k->buffer[st->action[a].buffer]];
    if (st->action[a].kind == TC_ACT_STORE && b->kind == TC_BUF_OUTPUT && b->index == 0) return true;
  }
  return false;
}

/* Parallel axes of the nest that stores the first result. */
static int parallel_axes(const tc_program *p) {
  for (const tc_kernel *k = p->kernel; k < p->kernel + p->nkernel; k++)
    for (const tc_nest *n = k->nest; n < k->nest + k->nnest; n++)
      for (uint32_t s = 0; s < n->nstage; s++)
        if (stores_first_result(p, k, &n->stage[s])) return n->nparallel;
  return -1;
}

/* Clipped gradients: their norm is a sum that is cut, and what is made of it stands in front of the loops that read it, which
 * threads share out. */
Test(cuts, readers_of_a_number_that_long_sums_are_made_of) {
  tc_graph *g = graph_of("graph g\n%1 = param f32[100,1000] \"p\"\n%2 = param f32[100,1000] \"g\"\n%3 = param f32[300] \"h\"\n"
                         "%4 = square %2\n%5 = sum %4 axes=[0,1] keep=0\n%6 = square %3\n%7 = sum %6 axes=[0] keep=0\n"
                         "%8 = add %5 %7\n%9 = sqrt %8\n%10 = reciprocal %9\n%11 = mul %2 %10\n%12 = sub %1 %11\n"
                         "%13 = mul %3 %10\nret %12 %13\n");
  interp_array **input = arguments_of(g, 5);
  cr_expect_leq(check_lowering(g, input, NULL, NULL), 3);
  free_arguments(g, input);
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert_not_null(p);
  cr_expect_eq(parallel_axes(p), 1);
  tc_program_free(p);
  tc_graph_free(g);
}

/* Values that its nests round, but where they are stored. */
static int roundings(const tc_kernel *k) {
  uint8_t *needed = calloc(k->nexpr + 1, 1);
  int n = 0;
  for (uint32_t i = 0; i < k->nnest; i++)
    for (uint32_t s = 0; s < k->nest[i].nstage; s++) tc_mark_stage(&k->nest[i].stage[s], needed);
  tc_mark_operands(k, needed);
  for (uint32_t i = 1; i < k->nexpr; i++) n += needed[i] && k->expr[i].kind == TC_EX_ROUND;
  free(needed);
  return n;
}

/* A store rounds what it selects: one of rounded operands is not rounded twice; a sum of them is another number. */
Test(rounding, of_what_is_selected) {
  static const struct {
    const char *op;
    int roundings;
  } cases[] = {{"relu %4", 0}, {"neg %4", 0}, {"abs %4", 0}, {"minimum %4 %5", 0}, {"maximum %4 %5", 0}, {"where %3 %5 %4", 0}, {"add %4 %5", 2}, {"sigmoid %4", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[400];
    snprintf(text, sizeof text, "graph g\n%%1 = param f32[R,C] \"x\"\n%%2 = param f32[R,C] \"y\"\n%%3 = param bool[R,C] \"c\"\n"
             "%%4 = cast %%1 dtype=bf16\n%%5 = cast %%2 dtype=bf16\n%%6 = %s\nret %%6\n", cases[i].op);
    tc_graph *g = graph_of(text);
    interp_array **input = arguments_of(g, 5);
    cr_expect_eq(check_lowering(g, input, NULL, NULL), 1);
    free_arguments(g, input);
    tc_program *p = tc_lower(g, &tc_target_cores);
    cr_assert_not_null(p);
    cr_expect_eq(roundings(&p->kernel[0]), cases[i].roundings, "%s: %d", cases[i].op, roundings(&p->kernel[0]));
    tc_program_free(p);
    tc_graph_free(g);
  }
}

/* ---- rows ------------------------------------------------------------------------------------ */

KERNELS(rows, softmax, 1, "%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
KERNELS(rows, softmax_bf16, 1, "%1 = param bf16[R,C] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
KERNELS(rows, softmax_middle, 1, "%1 = param f32[3,C,7] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
KERNELS(rows, log_softmax, 1, "%1 = param f32[R,C] \"x\"\n%2 = log_softmax %1 axis=1\nret %2\n")
KERNELS(rows, layer_norm, 1,
        "%1 = param f32[R,C] \"x\"\n%2 = param f32[C] \"w\"\n%3 = param f32[C] \"b\"\n"
        "%4 = const weak f64 1e-5\n%5 = layer_norm %1 %2 %3 %4 naxes=1\nret %5\n")
KERNELS(rows, layer_norm_of_two_axes, 1,
        "%1 = param f32[R,4,6] \"x\"\n%2 = param f32[4,6] \"w\"\n%3 = param f32[4,6] \"b\"\n"
        "%4 = const weak f64 1e-5\n%5 = layer_norm %1 %2 %3 %4 naxes=2\nret %5\n")
KERNELS(rows, rms_norm, 1,
        "%1 = param bf16[R,C] \"x\"\n%2 = param bf16[C] \"w\"\n"
        "%4 = const weak f64 1e-5\n%5 = rms_norm %1 %2 %4 naxes=1\nret %5\n")
KERNELS(rows, cross_entropy, 1,
        "%1 = param f32[N,C] \"x\"\n%2 = param i64[N] \"t\"\n"
        "%3 = cross_entropy %1 %2 reduction=1\nret %3\n")
KERNELS(rows, log_softmax_nll, 1,
        "%1 = param f32[N,C] \"x\"\n%2 = param i64[N] \"t\"\n"
        "%3 = log_softmax %1 axis=1\n%4 = nll %3 %2 reduction=1\nret %4\n")
KERNELS(rows, log_probabilities_too, 1,
        "%1 = param f32[N,C] \"x\"\n%2 = param i64[N] \"t\"\n"
        "%3 = log_softmax %1 axis=1\n%4 = nll %3 %2 reduction=0\nret %3 %4\n")
/* The mean is summed up last: what it is of comes from the loops that the gradient needs anyway. */
#define CROSS_ENTROPY                                                                              \
  "%2 = param i64[N] \"t\"\n%3 = param f32[C] \"w\"\n%4 = cross_entropy %1 %2 reduction=1\n"       \
  "%5 = log_softmax %1 axis=1\n%6 = exp %5\n%7 = sub %6 %3\nret %4 %7\n"
KERNELS(rows, cross_entropy_with_gradient, 1, "%1 = param f32[N,C] \"x\"\n" CROSS_ENTROPY)
KERNELS(rows, cross_entropy_with_gradient_bf16, 1, "%1 = param bf16[N,C] \"x\"\n" CROSS_ENTROPY)
KERNELS(rows, numbers_of_rows_beside_elements, 1, /* a group of elements has room for what its rows give */
        "%1 = param f32[R,C] \"x\"\n%2 = param f32[R,C] \"y\"\n%3 = mul %1 %2\n"
        "%4 = max %1 axes=[1] keep=0\n%5 = exp %4\n%6 = mean %5 axes=[] keep=0\nret %6 %3\n")
KERNELS(rows, element_beside_sum_of_all, 1, /* that read the same array */
        "%1 = param f32[R,C] \"x\"\n%2 = slice %1 axis=0 start=0 stop=1 step=1\n"
        "%3 = slice %2 axis=1 start=0 stop=1 step=1\n%4 = exp %3\n%5 = sum %1 axes=[] keep=0\nret %4 %5\n")
KERNELS(rows, residual_norm, 1,
        "%1 = param f32[R,C] \"x\"\n%2 = param f32[R,C] \"y\"\n%3 = add %1 %2\n"
        "%4 = softmax %3 axis=1\nret %3 %4\n")
KERNELS(rows, mean_and_variance, 1,
        "%1 = param f32[R,C] \"x\"\n%2 = mean %1 axes=[1] keep=0\n"
        "%3 = var %1 axes=[1] correction=1 keep=0\nret %2 %3\n")
KERNELS(rows, argmax_and_max, 1,
        "%1 = param f32[R,C] \"x\"\n%2 = argmax %1 axes=[1] keep=0\n"
        "%3 = max %1 axes=[1] keep=0\nret %2 %3\n")
KERNELS(rows, sum_of_squares_with_output, 1,
        "%1 = param f32[R,C] \"x\"\n%2 = square %1\n%3 = sum %2 axes=[1] keep=0\nret %2 %3\n")

/* ---- columns and everything ------------------------------------------------------------------ */

KERNELS(sums, columns, 1, "%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[0] keep=0\nret %2\n")
KERNELS(sums, tall_columns, 1,
        "%1 = param f32[70000,3] \"x\"\n%2 = sum %1 axes=[0] keep=0\n"
        "%3 = max %1 axes=[0] keep=0\nret %2 %3\n")
KERNELS(sums, everything, 1,
        "%1 = param f32[300,301] \"x\"\n%2 = sum %1 axes=[] keep=0\n"
        "%3 = argmax %1 axes=[] keep=0\n%4 = prod %1 axes=[] keep=0\nret %2 %3 %4\n")
KERNELS(sums, mean_of_squares, 1,
        "%1 = param f32[300,N] \"x\"\n%2 = square %1\n%3 = mean %2 axes=[] keep=0\nret %3\n")
KERNELS(sums, normalised_by_the_sum, 1,
        "%1 = param f32[70000] \"x\"\n%2 = sum %1 axes=[0] keep=1\n%3 = div %1 %2\nret %3\n")
KERNELS(sums, channels, 1,
        "%1 = param f32[4,3,100,90] \"x\"\n%2 = mean %1 axes=[0,2,3] keep=0\nret %2\n")
KERNELS(sums, empty, 1, "%1 = param f32[0,3] \"x\"\n%2 = sum %1 axes=[0] keep=0\nret %2\n")

/* ---- elementwise ----------------------------------------------------------------------------- */

KERNELS(pointwise, chain_of_twelve, 1,
        "%1 = param f32[R,C] \"x\"\n%2 = param f32[C] \"b\"\n%3 = param f32[R,1] \"s\"\n"
        "%4 = mul %1 %3\n%5 = add %4 %2\n%6 = sigmoid %5\n%7 = mul %6 %5\n%8 = tanh %7\n"
        "%9 = sub %8 %1\n%10 = abs %9\n%11 = sqrt %10\n%12 = add %11 %2\n%13 = neg %12\n"
        "%14 = exp %13\n%15 = maximum %14 %3\nret %15\n")
KERNELS(pointwise, reshape_of_permuted, 1,
        "%1 = param f32[B,T,H,8] \"x\"\n%2 = permute %1 axes=[0,2,1,3]\n"
        "%3 = reshape %2 dims=[B*H,T*8]\nret %3\n")
KERNELS(pointwise, reshape_of_joined, 1,
        "%1 = param f32[N,3] \"x\"\n%2 = param f32[M,3] \"y\"\n"
        "%3 = concat %1 %2 axis=0\n%4 = reshape %3 dims=[3,N+M]\nret %4 %4\n")
KERNELS(pointwise, long_and_flat, 1,
        "%1 = param f32[20000] \"x\"\n%2 = exp %1\n%3 = add %2 %1\nret %3\n")
KERNELS(pointwise, black_scholes, 1,
        "%1 = param f32[N] \"s\"\n%2 = param f32[N] \"k\"\n%3 = param f32[N] \"t\"\n"
        "%4 = const weak f64 0.2\n%5 = const weak f64 0.03\n%6 = const weak f64 0.5\n"
        "%7 = const weak f64 2\n%8 = const weak f64 0.7071\n%9 = abs %1\n%10 = add %9 %6\n"
        "%11 = abs %2\n%12 = add %11 %6\n%13 = abs %3\n%14 = add %13 %7\n%15 = div %10 %12\n"
        "%16 = log %15\n%17 = mul %14 %5\n%18 = add %16 %17\n%19 = sqrt %14\n%20 = mul %19 %4\n"
        "%21 = div %18 %20\n%22 = sub %21 %20\n%23 = mul %21 %8\n%24 = erf %23\n%25 = mul %22 %8\n"
        "%26 = erf %25\n%27 = neg %17\n%28 = exp %27\n%29 = mul %12 %28\n%30 = mul %10 %24\n"
        "%31 = mul %29 %26\n%32 = sub %30 %31\n%33 = neg %24\n%34 = neg %26\n%35 = mul %29 %34\n"
        "%36 = mul %10 %33\n%37 = sub %35 %36\nret %32 %37\n")
KERNELS(pointwise, transposed_operand, 1,
        "%1 = param f32[R,C] \"x\"\n%2 = param f32[C,R] \"y\"\n%3 = permute %2 axes=[1,0]\n"
        "%4 = add %1 %3\nret %4\n")
KERNELS(pointwise, two_results, 1,
        "%1 = param f32[R,C] \"x\"\n%2 = exp %1\n%3 = mul %1 %1\nret %2 %3\n")
KERNELS(pointwise, stencil, 1,
        "%1 = param f32[8,20] \"x\"\n%2 = slice %1 axis=1 start=0 stop=18 step=1\n"
        "%3 = slice %1 axis=1 start=1 stop=19 step=1\n%4 = slice %1 axis=1 start=2 stop=20 step=1\n"
        "%5 = add %2 %3\n%6 = add %5 %4\nret %6\n")
KERNELS(pointwise, concat, 1,
        "%1 = param f32[R,3] \"x\"\n%2 = param f32[R,5] \"y\"\n%3 = exp %1\n"
        "%4 = concat %3 %2 axis=1\nret %4\n")
KERNELS(pointwise, pad, 1,
        "%1 = param f32[R,3] \"x\"\n%2 = const weak f64 7\n%3 = exp %1\n"
        "%4 = pad %3 %2 before=[1,2] after=[0,3]\nret %4\n")

KERNELS(softmax, of_few_classes, 1,
        "%1 = param f32[R,14] \"x\"\n%2 = softmax %1 axis=1\nret %2\n")
KERNELS(softmax, of_few_classes_in_two_axes, 1,
        "%1 = param f32[R,3,4] \"x\"\n%2 = logsumexp %1 axes=[1,2] keep=1\n%3 = sub %1 %2\n%4 = exp %3\n%5 = mul %4 %4\n%6 = sum %5 axes=[1,2] keep=1\n%7 = div %4 %6\nret %7\n")

/* ---- matmuls --------------------------------------------------------------------------------- */

KERNELS(matmul, mlp, 3,
        "%1 = param f32[B,12] \"x\"\n%2 = param f32[12,8] \"w1\"\n%3 = param f32[8] \"b1\"\n"
        "%4 = param f32[8,10] \"w2\"\n%5 = param f32[10] \"b2\"\n%6 = matmul %1 %2\n"
        "%7 = add %6 %3\n%8 = relu %7\n%9 = matmul %8 %4\n%10 = add %9 %5\n"
        "%11 = softmax %10 axis=1\nret %11\n")
KERNELS(matmul, bias_gelu_residual, 1,
        "%1 = param f32[M,6] \"x\"\n%2 = param f32[6,8] \"w\"\n%3 = param f32[8] \"b\"\n"
        "%4 = param f32[M,8] \"r\"\n%5 = matmul %1 %2\n%6 = add %5 %3\n%7 = gelu %6\n"
        "%8 = add %7 %4\nret %8\n")
KERNELS(matmul, linear_bf16, 1,
        "%1 = param bf16[B,T,6] \"x\"\n%2 = param bf16[8,6] \"w\"\n%3 = param bf16[8] \"b\"\n"
        "%4 = linear %1 %2 %3\n%5 = gelu %4\nret %5\n")
KERNELS(matmul, linear_of_three_axes, 1,
        "%1 = param f32[B,4,6] \"x\"\n%2 = param f32[8,6] \"w\"\n%3 = param f32[8] \"b\"\n"
        "%4 = param f32[B,4,8] \"r\"\n%5 = linear %1 %2 %3\n%6 = add %5 %4\nret %6\n")
KERNELS(matmul, batched_with_broadcast, 1,
        "%1 = param f32[2,1,M,3] \"x\"\n%2 = param f32[4,3,5] \"y\"\n%3 = matmul %1 %2\nret %3\n")
KERNELS(matmul, transposed_both, 1,
        "%1 = param f32[6,M] \"x\"\n%2 = param f32[5,6] \"y\"\n%3 = permute %1 axes=[1,0]\n"
        "%4 = permute %2 axes=[1,0]\n%5 = matmul %3 %4\nret %5\n")
KERNELS(matmul, batches_of_one_b, 1,
        "%1 = param f32[B,7,M] \"x\"\n%2 = param f32[7,5] \"y\"\n%3 = param f32[B,M,5] \"r\"\n%4 = param f32[B,1,1] \"s\"\n"
        "%5 = permute %1 axes=[0,2,1]\n%6 = matmul %5 %2\n%7 = mul %6 %4\n%8 = add %7 %3\nret %8\n")
KERNELS(matmul, batches_of_one_b_transposed, 1,
        "%1 = param f32[2,B,7,3] \"x\"\n%2 = param f32[2,1,7,5] \"y\"\n%3 = permute %1 axes=[0,1,3,2]\n%4 = matmul %3 %2\n"
        "%5 = permute %4 axes=[0,1,3,2]\nret %5\n")
KERNELS(matmul, batches_of_one_a, 1,
        "%1 = param f32[7,6] \"x\"\n%2 = param f32[2,B,6,5] \"y\"\n%3 = param f32[2,B,7,5] \"r\"\n%4 = param f32[B,1,1] \"s\"\n"
        "%5 = matmul %1 %2\n%6 = mul %5 %4\n%7 = add %6 %3\nret %7\n")
KERNELS(matmul, batches_of_one_a_in_groups, 1,
        "%1 = param f32[3,7,6] \"x\"\n%2 = param f32[B,3,6,5] \"y\"\n%3 = matmul %1 %2\nret %3\n")
KERNELS(matmul, vector, 1,
        "%1 = param f32[M,9] \"x\"\n%2 = param f32[9] \"y\"\n%3 = matmul %1 %2\n"
        "%4 = exp %3\nret %4\n")
KERNELS(matmul, one_row, 1,
        "%1 = param f32[1,9] \"x\"\n%2 = param f32[9,N] \"y\"\n%3 = matmul %1 %2\nret %3\n")
KERNELS(matmul, of_constants, 1,
        "%1 = const f32 3\n%2 = full %1 dims=[5,6] dtype=f32 : f32[5,6]\n%3 = full %1 dims=[6,7] dtype=f32 : f32[6,7]\n"
        "%4 = matmul %2 %3\nret %4\n")
KERNELS(matmul, of_constants_transposed, 1,
        "%1 = param f32[3,N,4] \"x\"\n%2 = const f32 3\n%3 = full %2 dims=[3,N,4] dtype=f32 : f32[3,N,4]\n"
        "%4 = full %2 dims=[3,4,N] dtype=f32 : f32[3,4,N]\n%5 = matmul %3 %4\n%6 = exp %5\n%7 = permute %6 axes=[0,2,1]\nret %7\n")
KERNELS(matmul, attention, 3,
        "%1 = param f32[B,2,4,8] \"q\"\n%2 = param f32[B,2,4,8] \"k\"\n"
        "%3 = param f32[B,2,4,8] \"v\"\n%4 = const weak f64 0.35\n"
        "%5 = permute %2 axes=[0,1,3,2]\n%6 = matmul %1 %5\n%7 = mul %6 %4\n"
        "%8 = softmax %7 axis=3\n%9 = matmul %8 %3\nret %9\n")
KERNELS(matmul, activation_before_the_next, 2,
        "%1 = param f32[M,6] \"x\"\n%2 = param f32[6,8] \"v\"\n%3 = param f32[8,4] \"w\"\n"
        "%4 = matmul %1 %2\n%5 = relu %4\n%6 = matmul %5 %3\nret %6\n")
KERNELS(matmul, residual_stream, 2,
        "%1 = param f32[M,8] \"x\"\n%2 = param f32[8,8] \"w\"\n%3 = matmul %1 %2\n"
        "%4 = add %3 %1\n%5 = softmax %4 axis=1\n%6 = add %5 %4\nret %6\n")

/* ---- views that divide an axis ---------------------------------------------------------------- */

/* Windows of short rows, each multiplied once: no array has them. */
KERNELS(views, windows_of_one_channel, 1,
        "%1 = param f32[N,3,6,9] \"x\"\n%2 = param f32[3,1,9] \"w\"\n%3 = unfold %1 axis=2 size=3 step=1\n"
        "%4 = unfold %3 axis=3 size=3 step=1\n%5 = permute %4 axes=[0,1,4,5,2,3]\n%6 = reshape %5 dims=[N,3,9,28]\n"
        "%7 = matmul %2 %6\nret %7\n")

/* Rows of an array of reduced windows that is between two kernels, or 0. */
static int64_t rows_between(const char *reduction, const char *first, const char *second) {
  char text[400];
  snprintf(text, sizeof text,
           "graph g\n%%1 = param f32[70,9,400] \"x\"\n%%2 = unfold %%1 %s\n%%3 = %s %%2 axes=[3] keep=0\n%%4 = unfold %%3 %s\n"
           "%%5 = %s %%4 axes=[3] keep=0\nret %%5\n",
           first, reduction, second, reduction);
  tc_graph *g = graph_of(text);
  tc_program *p = tc_lower(g, &tc_target_cores);
  int64_t rows = 0;
  cr_assert_not_null(p);
  for (uint32_t i = 0; i < p->nbuffer; i++)
    if (p->buffer[i].kind != TC_BUF_INPUT && p->buffer[i].kind != TC_BUF_OUTPUT && p->buffer[i].node.id)
      rows = tc_dim_value(tc_graph_type(p->graph, p->buffer[i].node)->dim[1]);
  tc_program_free(p);
  tc_graph_free(g);
  return rows;
}

/* Of 9 rows 4 are left, of which elements two apart are loaded: maxima are the same in any order, sums are not. */
Test(views, rows_of_windows_are_reduced_before_what_is_in_a_row) {
  static const char *const row = "axis=2 size=3 step=2", *const rows = "axis=1 size=3 step=2";
  cr_expect_eq(rows_between("max", row, rows), 4);
  cr_expect_eq(rows_between("min", row, rows), 4);
  cr_expect_eq(rows_between("max", rows, row), 4);
  cr_expect_eq(rows_between("sum", row, rows), 9);
  cr_expect_eq(rows_between("max", row, "axis=1 size=3 step=1"), 9);
  cr_expect_eq(rows_between("max", "axis=2 size=3 step=1", "axis=1 size=3 step=1"), 9);
}

/* What a convolution's gradients are made of: a product of windows of the padded dy, and one over all examples. */
KERNELS(views, sums_by_position_of_a_product, 2,
        "%1 = param f32[N,4,6] \"dy\"\n%2 = param f32[15,4] \"w\"\n%3 = const f32 0.0\n%4 = matmul %2 %1\n"
        "%5 = reshape %4 dims=[N,5,3,6]\n%6 = permute %5 axes=[0,1,3,2]\n"
        "%7 = slice %6 axis=3 start=0 stop=1 step=1\n%8 = reshape %7 dims=[N,5,6]\n"
        "%9 = pad %8 %3 before=[0,0,0] after=[0,0,2]\n"
        "%10 = slice %6 axis=3 start=1 stop=2 step=1\n%11 = reshape %10 dims=[N,5,6]\n"
        "%12 = pad %11 %3 before=[0,0,1] after=[0,0,1]\n%13 = add %9 %12\n"
        "%14 = slice %6 axis=3 start=2 stop=3 step=1\n%15 = reshape %14 dims=[N,5,6]\n"
        "%16 = pad %15 %3 before=[0,0,2] after=[0,0,0]\n%17 = add %13 %16\n"
        "%18 = slice %17 axis=2 start=1 stop=7 step=1\nret %18\n")
KERNELS(views, sums_over_examples_of_windows, 1,
        "%1 = param f32[N,16,30] \"dy\"\n%2 = param f32[N,100,34] \"x\"\n%3 = unfold %2 axis=2 size=5 step=1\n"
        "%4 = permute %3 axes=[0,2,1,3]\n%5 = reshape %4 dims=[N,30,500]\n%6 = matmul %1 %5\n"
        "%7 = sum %6 axes=[0] keep=0\nret %7\n")

#define REPEATED(heads, rows)                                                                      \
  "%1 = param f32[B,3*" heads "," rows ",8] \"q\"\n%2 = param f32[B,3,T,8] \"k\"\n"                \
  "%3 = reshape %2 dims=[B,3,1,T,8]\n%4 = expand %3 dims=[B,3," heads ",T,8]\n"                    \
  "%5 = reshape %4 dims=[B,3*" heads ",T,8]\n"
KERNELS(views, repeated_heads, 1,
        REPEATED("4", "M") "%6 = permute %5 axes=[0,1,3,2]\n%7 = matmul %1 %6\nret %7\n")
KERNELS(views, repeated_heads_of_unknown_count, 1,
        "%1 = param f32[B,H*G,M,8] \"q\"\n%2 = param f32[B,H,T,8] \"k\"\n%3 = param f32[H,G,1,1] \"s\"\n"
        "%4 = reshape %2 dims=[B,H,1,T,8]\n%5 = expand %4 dims=[B,H,G,T,8]\n"
        "%6 = reshape %5 dims=[B,H*G,T,8]\n%7 = permute %6 axes=[0,1,3,2]\n%8 = matmul %1 %7\n"
        "%9 = reshape %3 dims=[H*G,1,1]\n%10 = mul %8 %9\nret %10\n")
KERNELS(views, repeated_heads_of_one_row, 1,
        REPEATED("4", "1") "%6 = permute %5 axes=[0,1,3,2]\n%7 = matmul %1 %6\nret %7\n")
KERNELS(views, repeated_values, 3, /* scores and their softmax, and a product with the same heads */
        REPEATED("4", "M") "%6 = permute %5 axes=[0,1,3,2]\n%7 = matmul %1 %6\n"
                           "%8 = softmax %7 axis=3\n%9 = matmul %8 %5\nret %9\n")
KERNELS(views, repeated_added, 1, REPEATED("4", "T") "%6 = add %1 %5\nret %6\n")
KERNELS(views, repeated_summed, 1,
        REPEATED("4", "T") "%6 = mul %1 %5\n%7 = sum %6 axes=[3] keep=0\nret %7\n")
KERNELS(views, repeated_and_all_merged, 1,
        "%1 = param f32[3,T,8] \"x\"\n%2 = param f32[12*T,8] \"y\"\n%3 = reshape %1 dims=[3,1,T,8]\n"
        "%4 = expand %3 dims=[3,4,T,8]\n%5 = reshape %4 dims=[12*T,8]\n%6 = sub %5 %2\nret %6\n")
KERNELS(views, merged_after_permuting, 1,
        "%1 = param f32[B,T,H,8] \"q\"\n%2 = param f32[B,T,H,8] \"k\"\n"
        "%3 = permute %1 axes=[0,2,1,3]\n%4 = reshape %3 dims=[B*H,T,8]\n"
        "%5 = permute %2 axes=[0,2,3,1]\n%6 = reshape %5 dims=[B*H,8,T]\n%7 = matmul %4 %6\nret %7\n")
KERNELS(views, merged_part, 1, /* a slice has other strides than its size says */
        "%1 = param f32[B,5,T,8] \"x\"\n%2 = param f32[B*3,T,8] \"y\"\n"
        "%3 = slice %1 axis=1 start=1 stop=4 step=1\n%4 = reshape %3 dims=[B*3,T,8]\n"
        "%5 = mul %4 %2\n%6 = add %5 %4\nret %6\n")
KERNELS(views, repeated_rows_of_a_product, 2, /* rows of a product are not cut into a few */
        "%1 = param f32[R,6] \"x\"\n%2 = param f32[6,9] \"w\"\n%3 = reshape %1 dims=[R,1,6]\n"
        "%4 = expand %3 dims=[R,3,6]\n%5 = reshape %4 dims=[R*3,6]\n%6 = matmul %5 %2\nret %6\n")

/* ---- indexing and writes --------------------------------------------------------------------- */

KERNELS(indexing, embedding_scaled, 1,
        "%1 = param f32[3,D] \"w\"\n%2 = param i64[B,T] \"i\"\n%3 = embedding %1 %2\n"
        "%4 = const weak f64 3\n%5 = mul %3 %4\nret %5\n")
KERNELS(indexing, one_hot, 1, "%1 = param i64[B] \"i\"\n%2 = one_hot %1 classes=4\nret %2\n")
KERNELS(indexing, one_hot_of_rows_in_a_product, 1, /* rows of a product are not cut */
        "%1 = param i64[B,T] \"i\"\n%2 = param f32[6,N] \"w\"\n%3 = one_hot %1 classes=6\n"
        "%4 = cast %3 dtype=f32\n%5 = reshape %4 dims=[B*T,6]\n%6 = matmul %5 %2\nret %6\n")
KERNELS(indexing, embedding_of_rows_in_a_product, 1,
        "%1 = param i64[B,T] \"i\"\n%2 = param f32[7,12] \"w\"\n%3 = param f32[12,N] \"u\"\n"
        "%4 = embedding %2 %1\n%5 = reshape %4 dims=[B*T,12]\n%6 = matmul %5 %3\nret %6\n")
KERNELS(indexing, one_hot_of_one_index, 1,
        "%1 = param i64[] \"i\"\n%2 = param f32[2,3] \"w\"\n%3 = one_hot %1 classes=6\n"
        "%4 = reshape %3 dims=[2,3]\n%5 = add %4 %2\nret %5\n")
KERNELS(indexing, causal_mask, 1,
        "%1 = param f32[T,T] \"x\"\n%2 = tril %1 k=0\n%3 = exp %2\nret %3\n")
KERNELS(indexing, cumulative, 1,
        "%1 = param f32[R,C] \"x\"\n%2 = exp %1\n%3 = cumsum %2 axis=1\nret %3\n")
KERNELS(indexing, cumulative_columns, 1,
        "%1 = param f32[R,C] \"x\"\n%3 = cumprod %1 axis=0\nret %3\n")
KERNELS(indexing, running_extrema, 2,
        "%1 = param f32[R,C] \"x\"\n%2 = running_max %1 axis=1\n%3 = running_argmax %1 axis=1\nret %2 %3\n")
KERNELS(indexing, running_extrema_of_columns, 2,
        "%1 = param i32[R,C] \"x\"\n%2 = running_min %1 axis=0\n%3 = running_argmin %1 axis=0\nret %2 %3\n")
KERNELS(indexing, order, 1, "%1 = param f32[R,C] \"x\"\n%2 = order %1 k=C axis=1 descending=0\nret %2\n")
KERNELS(indexing, order_of_columns, 3,
        "%1 = param f16[R,C] \"x\"\n%2 = exp %1\n%3 = order %2 k=2 axis=0 descending=1\nret %3 %3\n")
KERNELS(indexing, sorted, 2,
        "%1 = param i32[R,C,5] \"x\"\n%2 = sort %1 axis=1 descending=1\n%3 = result %2 index=0\n%4 = neg %3\nret %4\n")
KERNELS(indexing, scatter, 1,
        "%1 = param f32[3,C] \"x\"\n%2 = param i64[2,C] \"i\"\n%3 = param f32[2,C] \"s\"\n"
        "%4 = scatter_add %1 %2 %3 axis=0\nret %4\n")

KERNELS(matmul, small_in_its_reader, 1, /* many small products are reductions */
        "%1 = param f32[N,3,3] \"r\"\n%2 = param f32[N,3,2] \"p\"\n%3 = param f32[2] \"t\"\n"
        "%4 = matmul %1 %2\n%5 = add %4 %3\n%6 = sin %5\nret %6\n")
KERNELS(writes, in_place, 1,
        "%1 = param f32[N] \"x\"\n%2 = param f32[N] \"g\"\n%3 = const weak f64 0.1\n"
        "%4 = mul %2 %3\n%5 = sub %1 %4\nwrite %5 -> %1\nret %5\n")
#define PRODUCT "%1 = param f32[M,M] \"x\"\n%2 = param f32[M,9] \"a\"\n%3 = param f32[9,M] \"b\"\n"
KERNELS(writes, product_is_added, 1, /* x -= a b / 2 */
        PRODUCT "%4 = matmul %2 %3\n%5 = const weak f64 0.5\n%6 = mul %4 %5\n%7 = sub %1 %6\n"
                "write %7 -> %1\n")
KERNELS(writes, product_is_added_to_columns, 2,
        PRODUCT "%4 = matmul %2 %3\n%5 = permute %1 axes=[1,0]\n%6 = add %4 %5\nwrite %6 -> %1\n")
KERNELS(writes, product_of_what_is_written, 2,
        PRODUCT "%4 = matmul %1 %1\n%5 = add %4 %1\nwrite %5 -> %1\n")
KERNELS(writes, shifted, 2,
        "%1 = param f32[8] \"x\"\n%2 = flip %1 axes=[0]\n%3 = add %1 %2\nwrite %3 -> %1\n")
KERNELS(writes, less_sum_of_columns, 1, /* a reduction behind which the element is read that it overwrites */
        "%1 = param f32[C] \"b\"\n%2 = param f32[R,C] \"d\"\n%3 = sum %2 axes=[0] keep=0\n"
        "%4 = sub %1 %3\nwrite %4 -> %1\n")
KERNELS(writes, softmax, 1, /* whose passes read the row in turn */
        "%1 = param f32[R,C] \"x\"\n%2 = softmax %1 axis=1\nwrite %2 -> %1\n")
KERNELS(writes, less_mean_of_next_row, 2, /* of another row than the one that is overwritten */
        "%1 = param f32[R,C] \"x\"\n%2 = roll %1 shift=1 axis=0\n%3 = mean %2 axes=[1] keep=1\n"
        "%4 = sub %1 %3\nwrite %4 -> %1\n")
KERNELS(writes, sum_of_all_columns, 3, /* each result needs what others overwrite */
        "%1 = param f32[6] \"x\"\n%2 = sum %1 axes=[] keep=0\n%3 = sub %1 %2\nwrite %3 -> %1\n")
KERNELS(writes, read_later, 2, /* who reads what was runs in front */
        "%1 = param f32[6,6] \"x\"\n%2 = exp %1\nwrite %2 -> %1\n%3 = permute %1 axes=[1,0]\n"
        "%4 = cumsum %3 axis=1\nret %4\n")
KERNELS(writes, read_later_with_the_new, 3, /* reads both */
        "%1 = param f32[6,6] \"x\"\n%2 = exp %1\nwrite %2 -> %1\n%3 = permute %1 axes=[1,0]\n"
        "%4 = permute %2 axes=[1,0]\n%5 = sub %3 %4\n%6 = cumsum %5 axis=1\nret %6\n")
KERNELS(writes, returned_as_it_was, 2,
        "%1 = param f32[6] \"x\"\n%2 = exp %1\nwrite %2 -> %1\nret %1 %1\n")
#define ROWS "%1 = param f32[R,8] \"x\"\n%2 = param f32[R,3] \"y\"\n"
KERNELS(writes, part, 1, /* what stays as it is is not stored */
        ROWS "%3 = slice %1 axis=1 start=2 stop=5 step=1\n%4 = add %3 %2\n"
             "%5 = slice %1 axis=1 start=0 stop=2 step=1\n%6 = slice %1 axis=1 start=5 stop=8 step=1\n"
             "%7 = concat %5 %4 %6 axis=1\nwrite %7 -> %1\n")
KERNELS(writes, part_of_part, 1,
        "%1 = param f32[6,8] \"x\"\n%2 = param f32[2,3] \"y\"\n"
        "%3 = slice %1 axis=0 start=0 stop=2 step=1\n%4 = slice %1 axis=0 start=2 stop=6 step=1\n"
        "%5 = slice %3 axis=1 start=0 stop=3 step=1\n%6 = slice %3 axis=1 start=3 stop=8 step=1\n"
        "%7 = mul %5 %2\n%8 = concat %7 %6 axis=1\n%9 = concat %8 %4 axis=0\nwrite %9 -> %1\n")
KERNELS(writes, put, 1,
        ROWS "%3 = slice %1 axis=1 start=2 stop=5 step=1\n%4 = add %3 %2\n"
             "%5 = put %1 %4 first=[0,2] step=[1,1]\nwrite %5 -> %1\n")
KERNELS(writes, put_steps, 1,
        ROWS "%3 = put %1 %2 first=[0,1] step=[1,3]\n%4 = put %3 %2 first=[0,0] step=[1,2]\n"
             "write %4 -> %1\n")
KERNELS(writes, put_from_beside, 2, /* made before it is put, and only the part is moved */
        ROWS "%3 = slice %1 axis=1 start=0 stop=3 step=1\n%4 = add %3 %2\n"
             "%5 = put %1 %4 first=[0,1] step=[1,1]\nwrite %5 -> %1\n")
KERNELS(writes, put_what_was, 2, /* the second part is of what the first part changes */
        ROWS "%3 = slice %1 axis=1 start=0 stop=3 step=1\n%4 = exp %3\n"
             "%5 = put %1 %2 first=[0,0] step=[1,1]\n%6 = put %5 %4 first=[0,5] step=[1,1]\n"
             "write %6 -> %1\n")
KERNELS(writes, put_and_read_in_turn, 4, /* one array all along */
        ROWS "%3 = put %1 %2 first=[0,1] step=[1,1]\n%4 = sum %3 axes=[1] keep=1\n"
             "%5 = put %3 %4 first=[0,7] step=[1,1]\n%6 = sum %5 axes=[0] keep=1\n"
             "write %5 -> %1\nret %6\n")
#define WIDE(name, most, text)                                                                     \
  Test(writes, name) { cr_expect_leq(kernels_of_wide("graph g\n" text), most); }
WIDE(product_less_a_gradient, 1,
     "%1 = param f32[M,N] \"w\"\n%2 = param f32[M,K] \"x\"\n%3 = param f32[K,N] \"y\"\n"
     "%4 = matmul %2 %3\n%5 = sub %1 %4\nwrite %5 -> %1\n")
WIDE(two_states_of_a_product, 1,
     "%1 = param f32[M,N] \"w\"\n%2 = param f32[M,K] \"x\"\n%3 = param f32[K,N] \"y\"\n"
     "%4 = param f32[M,N] \"m\"\n%5 = matmul %2 %3\n%6 = add %4 %5\n%7 = sub %1 %6\n"
     "write %6 -> %4\nwrite %7 -> %1\n")
WIDE(sum_of_columns_that_is_cut, 1,
     "%1 = param f32[N] \"b\"\n%2 = param f32[R,N] \"x\"\n%3 = sum %2 axes=[0] keep=0\n"
     "%4 = sub %1 %3\nwrite %4 -> %1\n")
WIDE(sum_of_all_that_is_cut, 1,
     "%1 = param f32[] \"b\"\n%2 = param f32[R,N] \"x\"\n%3 = sum %2 axes=[] keep=0\n"
     "%4 = mul %1 %3\nwrite %4 -> %1\n")
WIDE(rows_that_read_what_others_write, 2, /* not in place */
     "%1 = param f32[N,N] \"w\"\n%2 = sum %1 axes=[0] keep=1\n%3 = sub %1 %2\nwrite %3 -> %1\n")
KERNELS(writes, part_from_beside, 2, /* read where another piece is written: not in place */
        "%1 = param f32[8] \"x\"\n%2 = slice %1 axis=0 start=0 stop=4 step=1\n"
        "%3 = slice %1 axis=0 start=4 stop=8 step=1\n%4 = concat %3 %2 axis=0\nwrite %4 -> %1\n")
