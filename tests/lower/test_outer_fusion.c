/* Kernels that pad arrays, and those that read their windows, as one: of how many kernels, which arrays are scratch, and that
 * the values are right. */
#include "tests/lower/check.h"

static const int64_t sizes[] = {1, 2, 3, 5, 9};

static uint32_t kernels_of(const char *text) {
  uint32_t most = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    tc_graph *g = graph_of(text);
    interp_array **input = arguments_of(g, sizes[i]);
    const uint32_t n = check_lowering_for(&tc_target_cores, g, input, NULL, NULL);
    most = n > most ? n : most;
    free_arguments(g, input);
    tc_graph_free(g);
  }
  return most;
}

static uint32_t count_of(const char *text, tc_buf_kind kind) {
  tc_graph *g = graph_of(text);
  tc_program *p = tc_lower(g, &tc_target_cores);
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nbuffer; i++) n += p->buffer[i].kind == kind;
  tc_program_free(p);
  tc_graph_free(g);
  return n;
}

/* So many kernels, arrays that are scratch, and arrays in the workspace. */
#define FUSED(name, kernels, scratch, arrays, text)                                                                         \
  Test(outer_fusion, name) {                                                                                                \
    cr_expect_eq(kernels_of("graph g\n" text), kernels);                                                                    \
    cr_expect_eq(count_of("graph g\n" text, TC_BUF_PRIVATE), scratch);                                                      \
    cr_expect_eq(count_of("graph g\n" text, TC_BUF_ARENA), arrays);                                                         \
  }

#define X "%1 = param f32[N,C,H,W] \"x\"\n"
#define PAD(a, b) "%2 = const f32 0.0\n%3 = pad %1 %2 before=[0,0," a "," a "] after=[0,0," b "," b "]\n"

FUSED(maxima_of_windows, 1, 2, 0,
      X PAD("1", "1") "%4 = unfold %3 axis=3 size=3 step=2\n%5 = max %4 axes=[4] keep=0\n"
                      "%6 = unfold %5 axis=2 size=3 step=2\n%7 = max %6 axes=[4] keep=0\nret %7\n")
FUSED(their_places, 1, 2, 0,
      X PAD("1", "0") "%4 = unfold %3 axis=3 size=2 step=1\n%5 = argmax %4 axes=[4] keep=0\n%6 = max %4 axes=[4] keep=0\n"
                      "%7 = cast %5 dtype=f32\n%8 = add %6 %7\n%9 = unfold %8 axis=2 size=2 step=1\n"
                      "%10 = sum %9 axes=[4] keep=0\nret %10\n")
FUSED(a_result_among_them, 1, 1, 0,
      X PAD("1", "1") "%4 = unfold %3 axis=3 size=3 step=1\n%5 = max %4 axes=[4] keep=0\n"
                      "%6 = unfold %5 axis=2 size=2 step=1\n%7 = min %6 axes=[4] keep=0\nret %5 %7\n")
FUSED(of_images_alone, 1, 1, 0, /* windows lie along channels, too */
      "%1 = param f32[N,C,W] \"x\"\n%2 = const f32 0.0\n%3 = pad %1 %2 before=[0,1,1] after=[0,1,1]\n"
      "%4 = unfold %3 axis=2 size=3 step=1\n%5 = unfold %4 axis=1 size=3 step=1\n%6 = sum %5 axes=[3,4] keep=0\nret %6\n")
FUSED(no_leading_axis, 2, 0, 1,
      "%1 = param f32[H,W] \"x\"\n%2 = const f32 0.0\n%3 = pad %1 %2 before=[1,1] after=[1,1]\n"
      "%4 = unfold %3 axis=1 size=3 step=1\n%5 = unfold %4 axis=0 size=3 step=1\n%6 = sum %5 axes=[2,3] keep=0\nret %6\n")
FUSED(weights_of_a_channel, 1, 1, 0, /* a depthwise convolution: the loop's variable says the channel, too */
      X "%2 = param f32[C,1,3,3] \"w\"\n%3 = const f32 0.0\n%4 = pad %1 %3 before=[0,0,1,1] after=[0,0,1,1]\n"
        "%5 = unfold %4 axis=2 size=3 step=1\n%6 = unfold %5 axis=3 size=3 step=1\n"
        "%7 = reshape %2 dims=[1,C,1,1,3,3]\n%8 = mul %6 %7\n%9 = sum %8 axes=[4,5] keep=0\nret %9\n")
FUSED(what_is_made_of_its_results, 1, 1, 0, /* which are a matrix's, as those of other convolutions are */
      X "%2 = param f32[C,1,9] \"w\"\n%3 = param f32[C,1,1] \"b\"\n%4 = const f32 0.0\n"
        "%5 = pad %1 %4 before=[0,0,1,1] after=[0,0,1,1]\n%6 = unfold %5 axis=2 size=3 step=1\n"
        "%7 = unfold %6 axis=3 size=3 step=1\n%8 = permute %7 axes=[0,1,4,5,2,3]\n%9 = reshape %8 dims=[N,C,9,H*W]\n"
        "%10 = matmul %2 %9\n%11 = add %10 %3\n%12 = maximum %11 %4\n%13 = reshape %12 dims=[N,C,H,W]\nret %13\n")

/* ---- planes of f16 and bf16 ------------------------------------------------------------------ */

/* Scratch of that dtype among that of the program; the values are right. */
static uint32_t scratch_of(const char *text, tc_dtype dtype) {
  kernels_of(text);
  tc_graph *g = graph_of(text);
  tc_program *p = tc_lower(g, &tc_target_cores);
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nbuffer; i++) n += p->buffer[i].kind == TC_BUF_PRIVATE && p->buffer[i].dtype == dtype;
  tc_program_free(p);
  tc_graph_free(g);
  return n;
}

/* Sums of windows of 3 x 3 of x, padded by a number. */
#define WINDOWS(dtype, number, before, step)                                                                              \
  "graph g\n%1 = param " dtype "[N,C,H,W] \"x\"\n" before "%3 = const " dtype " " number "\n"                              \
  "%4 = pad %2 %3 before=[0,0,1,1] after=[0,0,1,1]\n%5 = unfold %4 axis=2 size=3 step=1\n"                                \
  "%6 = unfold %5 axis=3 size=3 step=" step "\n%7 = sum %6 axes=[4,5] keep=0\nret %7\n"
#define SAME "%2 = permute %1 axes=[0,1,3,2]\n"

Test(outer_fusion, planes_whose_windows_are_read_are_wide) {
  cr_expect_eq(scratch_of(WINDOWS("bf16", "0.0", SAME, "1"), TC_F32), 1);
  cr_expect_eq(scratch_of(WINDOWS("f16", "0.0", SAME, "1"), TC_F32), 1);
  cr_expect_eq(scratch_of(WINDOWS("bf16", "-inf", SAME, "1"), TC_F32), 1);
}

/* Elements that are no neighbours; and what has to be rounded when it is stored. */
Test(outer_fusion, other_planes_are_as_narrow_as_their_values) {
  cr_expect_eq(scratch_of(WINDOWS("bf16", "0.0", SAME, "2"), TC_F32), 0);
  cr_expect_eq(scratch_of(WINDOWS("bf16", "0.1", SAME, "1"), TC_F32), 0);
  cr_expect_eq(scratch_of(WINDOWS("bf16", "0.0", "%2 = exp %1\n", "1"), TC_F32), 0);
  cr_expect_eq(scratch_of(WINDOWS("bf16", "0.0", "%2 = exp %1\n", "1"), TC_BF16), 1);
}
