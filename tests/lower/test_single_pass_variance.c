/* Which sums of squared distances come from an earlier pass, and that what stands for them is right. */
#include "tests/lower/check.h"

/* Stages that may be known, or that do something alike then; the values are checked on the way. */
static int stages(const char *text, int64_t symbol, bool alike) {
  tc_graph *g = graph_of(text);
  interp_array **input = arguments_of(g, symbol);
  check_lowering(g, input, NULL, NULL);
  free_arguments(g, input);
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert_not_null(p);
  int n = 0;
  for (uint32_t k = 0; k < p->nkernel; k++)
    for (uint32_t i = 0; i < p->kernel[k].nnest; i++)
      for (uint32_t s = 0; s < p->kernel[k].nest[i].nstage; s++)
        n += alike ? p->kernel[k].nest[i].stage[s].if_skipped != NULL
                   : p->kernel[k].nest[i].stage[s].skip_if.id != 0;
  tc_program_free(p);
  tc_graph_free(g);
  return n;
}

#define KNOWN(name, want, text)                                                                    \
  Test(moments, name) { cr_expect_eq(stages("graph g\n" text, 30, false), want); }

#define NORM(type, shape, row)                                                                     \
  "%1 = param " type shape " \"x\"\n%2 = param " type row " \"w\"\n%3 = param " type row           \
  " \"b\"\n%4 = const weak f64 1e-5\n%5 = layer_norm %1 %2 %3 %4 naxes=1\nret %5\n"

KNOWN(layer_norm, 1, NORM("f32", "[R,C]", "[C]"))
KNOWN(layer_norm_bf16, 1, NORM("bf16", "[R,C]", "[C]"))
KNOWN(layer_norm_f64, 1, NORM("f64", "[R,C]", "[C]"))
KNOWN(of_long_rows, 1, NORM("f32", "[R,400]", "[400]"))
KNOWN(not_of_short_rows, 0, NORM("f32", "[R,256]", "[256]"))
KNOWN(variance_of_rows, 1,
      "%1 = param f32[R,C] \"x\"\n%2 = var %1 axes=[1] correction=1 keep=0\nret %2\n")
KNOWN(variance_of_two_axes, 1,
      "%1 = param f32[R,C,D] \"x\"\n%2 = var %1 axes=[1,2] correction=0 keep=0\nret %2\n")
KNOWN(not_of_columns, 0,
      "%1 = param f32[R,C] \"x\"\n%2 = var %1 axes=[0] correction=0 keep=0\nret %2\n")
KNOWN(of_a_sum, 1,
      "%1 = param f32[R,C] \"x\"\n%2 = param f32[R,C] \"y\"\n%3 = add %1 %2\n"
      "%4 = var %3 axes=[1] correction=0 keep=1\n%5 = mul %3 %4\nret %5\n")
KNOWN(from_any_number_of_the_row, 1,
      "%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[1] keep=1\n%3 = exp %2\n%4 = sub %3 %1\n"
      "%5 = square %4\n%6 = sum %5 axes=[1] keep=0\nret %6\n")
KNOWN(not_from_a_row, 0,
      "%1 = param f32[R,C] \"x\"\n%2 = param f32[C] \"m\"\n%3 = sum %1 axes=[1] keep=1\n"
      "%4 = mul %2 %3\n%5 = sub %1 %4\n%6 = square %5\n%7 = sum %6 axes=[1] keep=0\nret %7\n")
KNOWN(not_without_the_sum, 0,
      "%1 = param f32[R,C] \"x\"\n%2 = max %1 axes=[1] keep=1\n%3 = sub %1 %2\n%4 = square %3\n"
      "%5 = sum %4 axes=[1] keep=0\nret %5\n")

#define ALIKE(name, want, text)                                                                    \
  Test(alike, name) { cr_expect_eq(stages("graph g\n" text, 30, true), want); }

ALIKE(layer_norm_bf16, 1, NORM("bf16", "[R,C]", "[C]"))
ALIKE(layer_norm_f16, 1, NORM("f16", "[R,C]", "[C]"))
ALIKE(not_in_f32, 0, NORM("f32", "[R,C]", "[C]"))
ALIKE(
    not_by_any_scale, 0,
    "%1 = param bf16[R,C] \"x\"\n%2 = cast %1 dtype=f32\n%3 = var %2 axes=[1] correction=0 keep=1\n"
    "%4 = mean %2 axes=[1] keep=1\n%5 = sub %2 %4\n%6 = exp %3\n%7 = mul %5 %6\n"
    "%8 = cast %7 dtype=bf16\nret %8\n")
