/* Graphs that are large, deep or wide: lowering stays linear and recursion bounded. */
#include "tests/lower/check.h"

#include <time.h>

static const tc_loc nowhere = {0};

static tc_graph *one_input(tc_ref *x) {
  tc_graph *g = tc_graph_new("large", NULL);
  const char *error;
  size_t at;
  tc_type t;
  cr_assert(tc_type_parse(tc_graph_dims(g), "f64[6,4]", &t, &error, &at));
  *x = tc_graph_input(g, "x", &t, nowhere);
  return g;
}

static void check(tc_graph *g) {
  interp_array **input = arguments_of(g, 4);
  check_lowering(g, input, NULL, NULL);
  free_arguments(g, input);
  tc_graph_free(g);
}

Test(large, chain, .timeout = 120) {
  tc_ref x;
  tc_graph *g = one_input(&x);
  tc_ref y = x, c = tc_graph_const_f(g, TC_F64, false, 0.999, nowhere);
  for (int i = 0; i < 50000; i++) y = tc_build2(g, i % 2 ? OP_ADD : OP_MUL, y, i % 2 ? x : c, nowhere);
  tc_graph_output(g, y);
  check(g);
}

/* Every node is read by the next two: no tree of it fits in memory. */
Test(large, ladder, .timeout = 120) {
  tc_ref x;
  tc_graph *g = one_input(&x);
  tc_ref a = x, b = tc_build1(g, OP_SIN, x, nowhere);
  for (int i = 0; i < 20000; i++) {
    tc_ref c = tc_build2(g, i % 2 ? OP_MINIMUM : OP_MAXIMUM, a, b, nowhere);
    if (i % 3 == 0) c = tc_build1(g, OP_NEG, c, nowhere);
    a = b;
    b = c;
  }
  tc_graph_output(g, b);
  check(g);
}

Test(large, layers, .timeout = 120) {
  tc_ref x;
  tc_graph *g = one_input(&x);
  int last[1] = {1};
  tc_ref y = x;
  for (int i = 0; i < 5000; i++) {
    tc_ref m = tc_build_reduce(g, OP_AMAX, y, 1, last, true, nowhere);
    tc_ref e = tc_build1(g, OP_EXP, tc_build2(g, OP_SUB, y, m, nowhere), nowhere);
    tc_ref s = tc_build_reduce(g, OP_SUM, e, 1, last, true, nowhere);
    y = tc_build2(g, OP_DIV, e, s, nowhere);
  }
  tc_graph_output(g, y);
  check(g);
}

Test(large, many_results, .timeout = 120) {
  tc_ref x;
  tc_graph *g = one_input(&x);
  for (int i = 0; i < 2000; i++) {
    tc_ref c = tc_graph_const_f(g, TC_F64, false, i, nowhere);
    tc_graph_output(g, tc_build2(g, OP_ADD, x, c, nowhere));
  }
  check(g);
}
