/* Buffers that outlive a call: packed weights, and state. */
#include <string.h>

#include "tests/lower/check.h"

/* Two kernels: sums of the columns of w, and y = x * sums. */
#define WEIGHTED                                                                                   \
  "graph g\n%1 = param f64[2,5] \"x\"\n%2 = param f64[3,5] \"w\"\n%3 = cumsum %2 axis=0\n"         \
  "%4 = slice %3 axis=0 start=1 stop=3 step=1\n%5 = mul %1 %4\nret %5\n"

static tc_program *lowered(tc_graph *g) {
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert_not_null(p);
  return p;
}

/* The one array between kernels is kept. */
static tc_buffer *keep(tc_program *p, uint32_t version) {
  tc_buffer *kept = NULL;
  for (uint32_t i = 0; i < p->nbuffer; i++)
    if (p->buffer[i].kind == TC_BUF_ARENA) kept = &p->buffer[i];
  cr_assert_not_null(kept);
  kept->kind = TC_BUF_KEPT;
  kept->version = version;
  kept->offset = p->workspace = tc_dim_const(0);
  return kept;
}

static bool is_valid(const tc_program *p, const char **why) {
  static char message[256];
  message[0] = 0;
  *why = message;
  return tc_program_verify(p, message, sizeof message);
}

/* Element 0 of the result of one call. */
static double call(const tc_program *p, interp_array *const *input, uint64_t version,
                   loop_kept *kept) {
  const uint64_t versions[] = {0, version};
  loop_run run = {
      .p = p, .input = (const interp_array *const *)input, .version = versions, .kept = kept};
  cr_assert(loop_program(&run), "%s", run.message);
  const double y = interp_get(run.output[0], 0);
  loop_run_free(&run);
  return y;
}

/* Made in the first call, found by the next, and made again when the operand was written to. */
Test(kept, while_the_operand_is_unchanged) {
  tc_graph *g = graph_of(WEIGHTED);
  tc_program *p = lowered(g);
  const char *why;
  keep(p, 1);
  cr_expect(is_valid(p, &why), "%s", why);
  interp_array **input = arguments_of(g, 5);
  loop_kept kept = {0};
  interp_set(input[0], 0, 1);
  for (int row = 0; row < 2; row++) interp_set(input[1], row * 5, 2);
  cr_expect_eq(call(p, input, 7, &kept), 4);
  interp_set(input[0], 0, 10);
  interp_set(input[1], 0, 100); /* nobody said so */
  cr_expect_eq(call(p, input, 7, &kept), 40);
  cr_expect_eq(call(p, input, 8, &kept), 1020);
  cr_expect_eq(call(p, input, 8, &kept), 1020);
  loop_kept_free(&kept);
  free_arguments(g, input);
  tc_program_free(p);
  tc_graph_free(g);
}

/* State: each call stores it, and finds what the last one stored. */
Test(kept, state) {
  tc_graph *g = graph_of(WEIGHTED);
  tc_program *p = lowered(g);
  const char *why;
  keep(p, TC_STATE);
  cr_expect(is_valid(p, &why), "%s", why);
  const tc_kernel first = p->kernel[0];
  p->kernel[0] = p->kernel[1]; /* y of the sums that the last call left */
  p->kernel[1] = first;
  interp_array **input = arguments_of(g, 5);
  loop_kept kept = {0};
  interp_set(input[0], 0, 1);
  for (int row = 0; row < 2; row++) interp_set(input[1], row * 5, 2);
  cr_expect_eq(call(p, input, 0, &kept), 0);
  interp_set(input[1], 0, 100);
  cr_expect_eq(call(p, input, 0, &kept), 4);
  cr_expect_eq(call(p, input, 0, &kept), 102);
  loop_kept_free(&kept);
  free_arguments(g, input);
  tc_program_free(p);
  tc_graph_free(g);
}

Test(kept, text) {
  tc_graph *g = graph_of(WEIGHTED);
  tc_program *p = lowered(g);
  tc_buffer *kept = keep(p, 1);
  kept->layout.strided = true;
  kept->layout.axis[0].stride = tc_dim_const(4);
  kept->layout.axis[1] = (tc_buf_axis){tc_dim_const(12), 4, tc_dim_const(1)};
  tc_buf text = {0};
  tc_program_print(p, &text);
  cr_expect(
      strstr(text.text, " kept cumsum f64[3,5] layout [4, 12 per 4 by 1] while w is unchanged\n"),
      "%s", text.text);
  text.len = 0;
  kept->version = TC_STATE;
  tc_program_print(p, &text);
  cr_expect(strstr(text.text, " as the last call left it\n"), "%s", text.text);
  tc_buf_free(&text);
  tc_program_free(p);
  tc_graph_free(g);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void expect_wrong(const char *graph, const char *why) {
  tc_graph *g = graph_of(graph);
  tc_program *p = lowered(g);
  const char *message;
  keep(p, 1);
  cr_expect_not(is_valid(p, &message), "%s", why);
  cr_expect(strstr(message, why), "%s, not %s", message, why);
  tc_program_free(p);
  tc_graph_free(g);
}

Test(kept, rules) {
  expect_wrong("graph g\n%1 = param f64[2,5] \"x\"\n%2 = param f64[3,5] \"w\"\n"
               "%3 = slice %2 axis=0 start=1 stop=3 step=1\n%4 = mul %1 %3\n%5 = cumsum %4 axis=0\n"
               "%6 = cumsum %5 axis=1\nret %6\n",
               "depends on buffer"); /* x */
  expect_wrong("graph g\n%1 = param f64[2,5] \"x\"\n%2 = param f64[3,5] \"w\"\n"
               "%3 = scalar f64 \"s\"\n%4 = mul %2 %3\n%5 = cumsum %4 axis=0\n"
               "%6 = slice %5 axis=0 start=1 stop=3 step=1\n%7 = mul %1 %6\nret %7\n",
               "depends on a number");
  expect_wrong("graph g\n%1 = param f64[2,5] \"x\"\n%2 = param f64[3,5] \"w\"\n"
               "%3 = max %2 axes=[1] keep=0\n%4 = sum %2 axes=[1] keep=0\n"
               "%5 = cumsum %4 axis=0\nret %3 %5\n",
               "stores what is kept, and more");
}
