/* A softmax that is written out: its gradients by the pattern are those by each node's rule, and nobody's gradient is lost. */
#include <criterion/criterion.h>

#include "autodiff/autodiff.h"
#include "graph/text.h"
#include "tests/common/interp.h"

#include <math.h>
#include <stdlib.h>

static const tc_loc nowhere = {0, 0, 0, 0};

enum { MOST = 3, R = 3, C = 5 };

/* The last node, weighted, and gradients of that by values wrt[n]: the nodes that compute them, and their values. */
static interp_run differentiated(tc_graph *g, const tc_autodiff_pattern *pattern, int n, const tc_ref *wrt, uint32_t *nodes) {
  const tc_ref last = {tc_graph_count(g)}, product = tc_build2(g, OP_MUL, last, (tc_ref){2}, nowhere);
  const tc_ref total = tc_build_reduce(g, OP_SUM, product, 0, NULL, false, nowhere);
  const tc_autodiff a = {.noutput = 1, .output = &total, .nwrt = (uint32_t)n, .wrt = wrt, .pattern = pattern};
  tc_ref grad[MOST];
  const uint32_t before = tc_graph_count(g);
  cr_assert(tc_autodiff_vjp(g, &a, grad, NULL));
  *nodes = tc_graph_count(g) - before;
  for (int i = 0; i < n; i++) tc_graph_output(g, grad[i]);
  interp_array *in[2];
  for (int k = 0; k < 2; k++) {
    in[k] = interp_new(TC_F64, 2, (int64_t[]){R, C});
    for (int i = 0; i < R * C; i++) in[k]->f[i] = sin(1 + 7 * i + 3 * k);
  }
  interp_run run = {.g = g, .input = (const interp_array *const *)in};
  cr_assert(interp_graph(&run), "%s", run.message);
  for (int k = 0; k < 2; k++) interp_free(in[k]);
  return run;
}

/* fewer: is the pattern there? */
static void check(const char *what, const char *text, int n, const tc_ref *wrt, bool fewer) {
  uint32_t nodes[2];
  interp_run run[2];
  tc_graph *g[2];
  for (int k = 0; k < 2; k++) {
    g[k] = tc_graph_parse(text, NULL);
    cr_assert_not_null(g[k], "%s", what);
    run[k] = differentiated(g[k], k ? &tc_autodiff_softmax : NULL, n, wrt, &nodes[k]);
  }
  cr_expect_eq(nodes[1] < nodes[0], fewer, "%s: %u nodes, and %u by the pattern", what, nodes[0], nodes[1]);
  for (int i = 0; i < n; i++) {
    const double d = interp_distance(run[1].output[i], run[0].output[i], 1e-11, 1e-12);
    cr_expect(!(d > 0), "%s: gradient %d is off by %g", what, i, d);
  }
  for (int k = 0; k < 2; k++) interp_run_free(&run[k]), tc_graph_free(g[k]);
}

#define OPERANDS "%1 = param f64[3,5] \"x\"\n%2 = param f64[3,5] \"w\"\n"
#define SHIFTED OPERANDS "%3 = max %1 axes=[1] keep=1\n%4 = sub %1 %3\n%5 = exp %4\n"
#define OF(...) ((const tc_ref[]){__VA_ARGS__})
#define BY_X 1, OF({1})

Test(written_softmax, forms) {
  check("rows", SHIFTED "%6 = sum %5 axes=[1] keep=1\n%7 = div %5 %6\n", BY_X, true);
  check("a sum without its axis", SHIFTED "%6 = sum %5 axes=[1] keep=0\n%7 = unsqueeze %6 axis=1\n%8 = div %5 %7\n", BY_X, true);
  check("a negative axis", SHIFTED "%6 = sum %5 axes=[-1] keep=1\n%7 = div %5 %6\n", BY_X, true);
  check("columns", OPERANDS "%3 = max %1 axes=[0] keep=1\n%4 = sub %1 %3\n%5 = exp %4\n%6 = sum %5 axes=[0] keep=1\n%7 = div %5 %6\n", BY_X, true);
  check("all elements", OPERANDS "%3 = max %1 axes=[0,1] keep=1\n%4 = sub %1 %3\n%5 = exp %4\n%6 = sum %5 axes=[0,1] keep=1\n%7 = div %5 %6\n",
        BY_X, true);
  check("of a scaled value", OPERANDS "%3 = const weak f64 0.5\n%4 = mul %1 %3\n%5 = max %4 axes=[1] keep=1\n%6 = sub %4 %5\n%7 = exp %6\n"
        "%8 = sum %7 axes=[1] keep=1\n%9 = div %7 %8\n", BY_X, true);
  check("without a maximum", OPERANDS "%3 = exp %1\n%4 = sum %3 axes=[1] keep=1\n%5 = div %3 %4\n", BY_X, true);
  check("exponentials that are read again", SHIFTED "%6 = sum %5 axes=[1] keep=1\n%7 = div %5 %6\n%8 = add %7 %5\n", BY_X, true);
  check("differences that are read again", SHIFTED "%6 = sum %5 axes=[1] keep=1\n%7 = div %5 %6\n%8 = mul %7 %4\n", BY_X, true);
}

Test(written_softmax, others) {
  check("another sum", SHIFTED "%6 = sum %1 axes=[1] keep=1\n%7 = div %5 %6\n", BY_X, false);
  check("a sum along other axes, which broadcasts", OPERANDS "%3 = exp %1\n%4 = sum %3 axes=[0] keep=0\n%5 = reshape %4 dims=[1,5]\n%6 = div %3 %5\n",
        BY_X, true); /* columns */
  check("gradients of exponentials", SHIFTED "%6 = sum %5 axes=[1] keep=1\n%7 = div %5 %6\n", 2, OF({1}, {5}), false);
  check("gradients of the sum", SHIFTED "%6 = sum %5 axes=[1] keep=1\n%7 = div %5 %6\n", 2, OF({1}, {6}), false);
  check("gradients of differences", SHIFTED "%6 = sum %5 axes=[1] keep=1\n%7 = div %5 %6\n", 2, OF({1}, {4}), true);
  check("gradients of the maximum", SHIFTED "%6 = sum %5 axes=[1] keep=1\n%7 = div %5 %6\n", 2, OF({1}, {3}), true);
}
