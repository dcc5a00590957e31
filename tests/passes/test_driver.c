/* cse, dce, and the pipeline as a whole. */
#define _POSIX_C_SOURCE 200809L /* setenv, dup2 */
#include "tests/passes/pass_test.h"

#include "graph/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XY "graph g\n%1 = param f32[B,4] \"x\"\n%2 = param f32[B,4] \"y\"\n"

T_PASS(cse, operand_order, "a + b is b + a", tc_pass_cse,
       XY "%3 = add %1 %2\n%4 = add %2 %1\n%5 = mul %3 %4\nret %5\n",
       XY "%3 = add %1 %2\n%4 = mul %3 %3\nret %4\n")
T_PASS(cse, comparison, "a > b is b < a", tc_pass_cse,
       XY "%3 = gt %1 %2\n%4 = lt %2 %1\n%5 = logical_and %3 %4\nret %5\n",
       XY "%3 = lt %2 %1\n%4 = logical_and %3 %3\nret %4\n")
T_PASS(cse, not_commutative, "a - b is not b - a", tc_pass_cse, XY "%3 = sub %2 %1\nret %3\n",
       XY "%3 = sub %2 %1\nret %3\n")
T_PASS(dce, unused, "drops the unused exp, keeps the arguments", tc_pass_dce,
       XY "%3 = exp %1\n%4 = add %1 %1\nret %4\n", XY "%3 = add %1 %1\nret %3\n")
T_PASS(dce, written, "a write is a root", tc_pass_dce, XY "%3 = exp %1\nwrite %3 -> %2\n",
       XY "%3 = exp %1\nwrite %3 -> %2\n")

/* Equal calls stay as many as they are, in their order, whatever else goes. */
#define CALLS "graph g\n%1 = param f32[B,4] \"x\"\n%2 = scalar i64 \"f\"\n"
T_PASS(dce, effects, "an effect is a root, and so are those before it", tc_pass_dce,
       CALLS "%3 = exp %1\n%4 = effect %2 _ types=\"\"\n%5 = neg %1\n"
             "%6 = effect %2 %4 %5 types=\", const struct tc_tensor *\"\neffects %6\n",
       CALLS "%3 = effect %2 _ types=\"\"\n%4 = neg %1\n"
             "%5 = effect %2 %3 %4 types=\", const struct tc_tensor *\"\neffects %5\n")
T_PASS(cse, effects, "equal effects are two", tc_pass_cse,
       CALLS "%3 = effect %2 _ types=\"\"\n%4 = effect %2 %3 types=\"\"\neffects %4\n",
       CALLS "%3 = effect %2 _ types=\"\"\n%4 = effect %2 %3 types=\"\"\neffects %4\n")

/* A result is that of an op of its own, and nothing is left of the others. */
Test(driver, several_results) {
  tc_graph *g = optimized(
      graph_of(XY "%3 = max_with_index %1 axes=[1] keep=0\n%4 = result %3 index=1\nret %4\n"));
  cr_expect_eq(tc_graph_count(g), 3);
  cr_expect_eq(tc_graph_node(g, (tc_ref){3})->op, OP_ARGMAX);
  tc_graph_free(g);
}

/* A pass that finds nothing to do gives its argument back. */
Test(driver, unchanged) {
  tc_graph *g = optimized(graph_of(XY "%3 = softmax %1 axis=1\n%4 = mul %3 %2\nret %4\n"));
  for (int i = 0; i < tc_graph_pipeline_length; i++)
    cr_expect_eq(tc_graph_pipeline[i].run(g), g, "%s changes an optimised graph",
                 tc_graph_pipeline[i].name);
  tc_graph_free(g);
}

Test(driver, keeps_locations) {
  tc_graph *g = optimized(graph_of(XY "%3 = gelu %1\nret %3\n"));
  for (uint32_t id = 3; id <= tc_graph_count(g); id++)
    cr_expect_eq(tc_graph_node(g, (tc_ref){id})->loc.line, 4);
  tc_graph_free(g);
}

/* ---- size: every pass is one walk ------------------------------------------------------------ */

static tc_ref link_of(tc_graph *g, tc_ref x, tc_ref y, int i) {
  static const tc_loc loc = {0, 1, 1, 0};
  tc_dim flat[1] = {tc_dim_const(12)}, square[2] = {tc_dim_const(3), tc_dim_const(4)};
  switch (i % 6) {
  case 0:
    return tc_build_reshape(g, x, 1, flat, loc);
  case 1:
    return tc_build1(g, OP_SIN, x, loc);
  case 2:
    return tc_build_reshape(g, x, 2, square, loc);
  case 3:
    return tc_build2(g, OP_ADD, x, y, loc);
  case 4:
    return tc_build1(g, OP_GELU, x, loc);
  default:
    return tc_build_permute(g, tc_build_permute(g, x, 2, (int[]){1, 0}, loc), 2, (int[]){1, 0},
                            loc);
  }
}

Test(driver, chain_of_100000) {
  static const tc_loc loc = {0, 1, 1, 0};
  tc_graph *g = tc_graph_new("chain", NULL);
  tc_type t = {.dtype = TC_F32, .rank = 2, .dim = {tc_dim_const(3), tc_dim_const(4)}};
  tc_ref x = tc_graph_input(g, "x", &t, loc), y = tc_graph_input(g, "y", &t, loc);
  for (int i = 0; tc_graph_count(g) < 100000; i++) x = link_of(g, x, y, i);
  tc_type last = *tc_graph_type(g, x);
  tc_graph_output(g, x);
  g = optimized(g);
  cr_assert(tc_type_same(tc_graph_type(g, tc_graph_output_at(g, 0)), &last));
  tc_graph_free(g);
}

/* Every value is used twice: what is moved or duplicated along paths would explode. */
Test(driver, diamonds) {
  static const tc_loc loc = {0, 1, 1, 0};
  tc_graph *g = tc_graph_new("diamonds", NULL);
  tc_type t = {.dtype = TC_F32, .rank = 2, .dim = {tc_dim_const(3), tc_dim_const(4)}};
  tc_ref x = tc_graph_input(g, "x", &t, loc);
  for (int i = 0; i < 10000; i++) {
    tc_ref a = tc_build1(g, OP_SIN, x, loc), b = tc_build_permute(g, x, 2, (int[]){1, 0}, loc);
    b = tc_build_permute(g, tc_build1(g, OP_COS, b, loc), 2, (int[]){1, 0}, loc);
    x = tc_build2(g, OP_MUL, a, b, loc);
  }
  tc_graph_output(g, x);
  g = optimized(g);
  cr_assert_leq(tc_graph_count(g), 60000);
  tc_graph_free(g);
}

/* ---- TC_DUMP --------------------------------------------------------------------------------- */

Test(driver, dump) {
  char text[4096] = "";
  FILE *file = tmpfile();
  int saved = dup(STDERR_FILENO);
  setenv("TC_DUMP", "fold,dce", 1);
  dup2(fileno(file), STDERR_FILENO);
  tc_graph_free(optimized(graph_of(XY "%3 = const f32 2.0\n%4 = const f32 3.0\n%5 = add %3 %4\n"
                                      "%6 = mul %1 %5\nret %6\n")));
  fflush(stderr);
  dup2(saved, STDERR_FILENO);
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  close(saved);
  cr_expect(strstr(text, "; g after fold\n"), "%s", text);
  cr_expect(strstr(text, "const f32 5.0"));
  cr_expect(strstr(text, "after dce (unchanged)"));
  cr_expect_null(strstr(text, "after views"));
}
