/* Building graphs: interning, canonical attributes, constants, derived graphs, roots, size. */
#include "check.h"

#include <math.h>
#include <time.h>

static const tc_loc nowhere = {0};

static tc_type shape(tc_dtype dtype, int rank, ...) {
  tc_type t = {.dtype = (uint8_t)dtype, .rank = (uint8_t)rank};
  va_list ap;
  va_start(ap, rank);
  for (int i = 0; i < rank; i++) t.dim[i] = tc_dim_const(va_arg(ap, int));
  va_end(ap);
  return t;
}

Test(graph, equal_nodes_are_one) {
  messages m;
  tc_graph *g = tc_graph_new("g", listen(&m));
  tc_type t = shape(TC_F32, 2, 3, 4);
  tc_ref x = tc_graph_input(g, "x", &t, nowhere), y = tc_graph_input(g, "y", &t, nowhere);
  cr_expect_neq(x.id, y.id, "equal inputs stay two");
  tc_ref a = tc_build2(g, OP_ADD, x, y, nowhere);
  cr_expect_eq(tc_build2(g, OP_ADD, x, y, (tc_loc){.line = 9}).id, a.id,
               "the place does not count");
  cr_expect_neq(tc_build2(g, OP_ADD, y, x, nowhere).id, a.id);
  cr_expect_neq(tc_build2(g, OP_SUB, x, y, nowhere).id, a.id);
  int axes[2][2] = {{0, 1}, {-1, -2}};
  tc_ref s = tc_build_reduce(g, OP_SUM, a, 2, axes[0], false, nowhere);
  cr_expect_eq(tc_build_reduce(g, OP_SUM, a, 2, axes[1], false, nowhere).id, s.id,
               "canonical axes");
  cr_expect_neq(tc_build_reduce(g, OP_SUM, a, 2, axes[0], true, nowhere).id, s.id);
  tc_ref one[] = {x};
  tc_ref e = tc_build(g, OP_EINSUM, 1, one, 0, NULL, "ij->ji", nowhere);
  cr_expect_eq(tc_build(g, OP_EINSUM, 1, one, 0, NULL, "ij->ji", nowhere).id, e.id);
  cr_expect_neq(tc_build(g, OP_EINSUM, 1, one, 0, NULL, "ij->j", nowhere).id, e.id);
  cr_expect_str_eq(tc_graph_string(g, tc_graph_node(g, e)->attr[0]), "ij->ji");
  cr_expect_eq(m.n, 0);
  tc_graph_free(g);
}

/* Where it ends may be in front of the first element, or count from the end: neither is assumed. */
Test(graph, canonical_slices_assume_nothing) {
  messages m;
  tc_graph *g = parse("sym M 1..inf\n%1 = param f32[M] \"x\"\n%2 = slice %1 axis=0 start=0 stop=-2 step=-1\n", &m);
  tc_buf b = {0};
  tc_graph_print(g, &b);
  cr_expect(strstr(b.text, "start=0 stop=-2 step=-1 : f32[max(-M+2, 0)]"), "%s", b.text);
  tc_buf_free(&b);
  tc_graph_free(g);
}

Test(graph, attributes_are_canonical) {
  messages m;
  tc_graph *g = parse("%1 = param f32[3,4,5] \"x\"\n"
                      "%2 = sum %1 axes=[-1,0] keep=0\n"
                      "%3 = reshape %1 dims=[-1,6]\n"
                      "%4 = slice %1 axis=-1 start=-2 stop=100 step=1\n"
                      "%5 = slice %1 axis=2 start=4 stop=-100 step=-2\n"
                      "%6 = select %1 axis=-3 index=-1\n"
                      "%7 = unsqueeze %1 axis=-1\n"
                      "%8 = expand %1 dims=[2,-1,-1,5]\n"
                      "%9 = slice %1 axis=1 start=3 stop=1 step=1\n",
                      &m);
  static const char *const expected[] = {
      "%2 = sum %1 axes=[0,2] keep=0 :",
      "%3 = reshape %1 dims=[10,6] :",
      "%4 = slice %1 axis=2 start=3 stop=5 step=1 :",
      "%5 = slice %1 axis=2 start=4 stop=-1152921504606846976 step=-2 :",
      "%6 = select %1 axis=0 index=2 :",
      "%7 = unsqueeze %1 axis=3 :",
      "%8 = expand %1 dims=[2,3,4,5] :",
      "%9 = slice %1 axis=1 start=0 stop=0 step=1 :"};
  tc_buf b = {0};
  tc_graph_print(g, &b);
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    cr_expect(strstr(b.text, expected[i]), "%s\nis not in\n%s", expected[i], b.text);
  const tc_node *n = tc_graph_node(g, (tc_ref){4});
  const tc_dim *list;
  cr_expect(tc_dim_is(tc_attr_int(n, "start"), 3));
  cr_expect(tc_dim_bad(tc_attr_int(n, "nothing")));
  cr_expect_eq(tc_attr_list(tc_graph_node(g, (tc_ref){2}), "axes", &list), 2);
  cr_expect(tc_dim_is(list[1], 2));
  cr_expect(tc_dim_is(tc_attr_int(tc_graph_node(g, (tc_ref){2}), "keep"), 0));
  tc_buf_free(&b);
  tc_graph_free(g);
}

static void expect_const(tc_graph *g, tc_ref r, double f, int64_t i) {
  double gf;
  int64_t gi;
  cr_assert(tc_node_const(tc_graph_node(g, r), &gf, &gi));
  cr_expect(gf == f || (isnan(gf) && isnan(f)), "%g is not %g", gf, f);
  cr_expect_eq(gi, i, "%lld is not %lld", (long long)gi, (long long)i);
}

Test(graph, constants_keep_every_bit) {
  messages m;
  tc_graph *g = tc_graph_new("g", listen(&m));
  expect_const(g, tc_graph_const_f(g, TC_F64, false, 0.1, nowhere), 0.1, 0);
  expect_const(g, tc_graph_const_f(g, TC_F32, false, 0.1, nowhere), (double)0.1f, 0);
  expect_const(g, tc_graph_const_f(g, TC_F64, true, -1e300, nowhere), -1e300, INT64_MIN);
  expect_const(g, tc_graph_const_f(g, TC_F64, true, NAN, nowhere), NAN, 0);
  expect_const(g, tc_graph_const_f(g, TC_I8, false, 300.7, nowhere), 127, 127);
  expect_const(g, tc_graph_const_f(g, TC_BOOL, false, 0.5, nowhere), 1, 1);
  expect_const(g, tc_graph_const_i(g, TC_I64, false, INT64_MIN, nowhere), -0x1p63, INT64_MIN);
  expect_const(g, tc_graph_const_i(g, TC_U8, false, -1, nowhere), 255, 255);
  expect_const(g, tc_graph_const_i(g, TC_F16, false, 2049, nowhere), 2048, 2048);
  tc_ref zero = tc_graph_const_f(g, TC_F32, false, 0.0, nowhere);
  cr_expect_neq(tc_graph_const_f(g, TC_F32, false, -0.0, nowhere).id, zero.id);
  cr_expect_neq(tc_graph_const_f(g, TC_F32, true, 0.0, nowhere).id, zero.id);
  cr_expect_eq(tc_graph_const_i(g, TC_F32, false, 0, nowhere).id, zero.id);
  tc_ref d = tc_graph_dim_value(g, tc_dim_const(7), true, nowhere);
  cr_expect_eq(d.id, tc_graph_const_i(g, TC_I64, true, 7, nowhere).id);
  cr_expect(!tc_node_const(NULL, NULL, NULL));
  tc_graph_free(g);
}

Test(graph, misuse_is_reported_once) {
  messages m;
  tc_graph *g = tc_graph_new("g", listen(&m));
  tc_type t = shape(TC_F32, 2, 3, 4), u = shape(TC_F32, 1, 5);
  tc_ref x = tc_graph_input(g, "x", &t, nowhere), y = tc_graph_input(g, "y", &u, nowhere);
  tc_ref bad = tc_build2(g, OP_ADD, x, y, nowhere);
  cr_expect_eq(bad.id, 0);
  cr_expect_str_eq(m.last, "add: [3,4] and [5] do not broadcast: 4 != 5 at axis 1");
  cr_expect_eq(tc_build1(g, OP_EXP, bad, nowhere).id, 0);
  cr_expect_eq(m.n, 1, "what follows from a failed node is silent");
  cr_expect_eq(tc_build1(g, OP_EXP, (tc_ref){99}, nowhere).id, 0);
  cr_expect_eq(m.n, 2);
  cr_expect_eq(tc_build(g, OP_COUNT, 0, NULL, 0, NULL, NULL, nowhere).id, 0);
  cr_expect_eq(tc_build(g, OP_INPUT, 0, NULL, 1, (tc_dim[]){tc_dim_const(0)}, NULL, nowhere).id,
               x.id, "an input's key finds the input");
  tc_build1(g, OP_EXP, x, nowhere);
  cr_expect_eq(tc_graph_input(g, "late", &t, nowhere).id, 0);
  cr_expect_str_eq(m.last, "param declared behind other nodes");
  cr_expect(!tc_graph_output(g, bad));
  cr_expect(!tc_graph_write(g, 1, x));
  cr_expect_str_eq(m.last, "cannot write f32[3,4] into f32[5] \"y\"");
  cr_expect(tc_graph_write(g, 0, x));
  cr_expect(tc_graph_input_at(g, 0)->written && !tc_graph_input_at(g, 1)->written);
  tc_graph_free(g);
}

Test(graph, shorthands) {
  messages m;
  tc_graph *g = tc_graph_new("g", listen(&m));
  tc_type t = shape(TC_F32, 2, 3, 4);
  tc_buf b = {0};
  tc_ref x = tc_graph_input(g, "x", &t, nowhere);
  cr_expect_eq(tc_build_cast(g, x, TC_F32, nowhere).id, x.id);
  tc_dim dims[] = {tc_dim_const(2), tc_dim_const(-1), tc_dim_const(4)};
  int axes[] = {1, 0};
  tc_build_cast(g, x, TC_I8, nowhere);
  cr_expect_str_eq(last_type(g, &b), "i8[3,4]");
  tc_build_reshape(g, x, 2, dims, nowhere);
  cr_expect_str_eq(last_type(g, &b), "f32[2,6]");
  tc_build_expand(g, x, 3, dims, nowhere);
  cr_expect_str_eq(last_type(g, &b), "f32[2,3,4]");
  tc_build_permute(g, x, 2, axes, nowhere);
  cr_expect_str_eq(last_type(g, &b), "f32[4,3]");
  tc_build3(g, OP_FMA, x, x, x, nowhere);
  cr_expect_str_eq(last_type(g, &b), "f32[3,4]");
  cr_expect_eq(tc_build_reshape(g, x, 9, dims, nowhere).id, 0);
  cr_expect_str_eq(m.last, "reshape: dims has more than 8 entries");
  tc_buf_free(&b);
  tc_graph_free(g);
}

Test(graph, symbols_bind_to_the_first_input_that_has_them) {
  messages m;
  tc_graph *g = parse("%1 = param f32[2*N,B]\n%2 = param f32[N,B]\n", &m);
  uint32_t n, b;
  tc_dims *c = tc_graph_dims(g);
  cr_assert(tc_dim_find_sym(c, "N", &n) && tc_dim_find_sym(c, "B", &b));
  cr_expect(tc_dims_sym(c, n)->input == 1 && tc_dims_sym(c, n)->axis == 0);
  cr_expect(tc_dims_sym(c, b)->input == 0 && tc_dims_sym(c, b)->axis == 1);
  tc_graph_free(g);
}

Test(graph, derived_graphs_share_sizes_and_outlive_their_source) {
  messages m;
  tc_graph *g =
      parse("%1 = param f32[B,4] \"x\"\n%2 = scalar f64 \"s\"\n%3 = param f32[N,4] \"y\"\n"
            "%4 = add %1 %3\n%5 = einsum %4 spec=\"ij->ji\"\n",
            &m);
  tc_graph *d = tc_graph_derive(g);
  cr_assert_eq(tc_graph_count(d), 3);
  cr_expect_eq(tc_graph_dims(d), tc_graph_dims(g));
  tc_graph_free(g);
  cr_expect_str_eq(tc_graph_input_at(d, 1)->name, "y");
  cr_expect_str_eq(tc_graph_scalar_at(d, 0)->name, "s");
  cr_expect_str_eq(tc_graph_name(d), "graph");
  tc_ref sum = tc_build2(d, OP_ADD, (tc_ref){1}, (tc_ref){3}, nowhere);
  tc_buf b = {0};
  cr_expect(sum.id);
  cr_expect_str_eq(last_type(d, &b), "f32[B,4]");
  const tc_dim_pair *pairs;
  cr_expect_eq(tc_dims_assumed(tc_graph_dims(d), &pairs), 1,
               "what was assumed is not assumed again");
  tc_buf_free(&b);
  tc_graph_free(d);
}

/* A chain of n additions, each built twice; gives the seconds. */
static double build_chain(uint32_t n) {
  messages m;
  tc_graph *g = tc_graph_new("chain", listen(&m));
  tc_type t = {
      TC_F32, 2, false, {tc_dim_sym(tc_graph_dims(g), "B", 0, INT64_MAX, 1), tc_dim_const(4)}};
  tc_ref x = tc_graph_input(g, "x", &t, nowhere), last = x;
  clock_t from = clock();
  for (uint32_t i = 0; i < n; i++) {
    tc_ref next = tc_build2(g, OP_ADD, last, x, nowhere);
    cr_assert_eq(tc_build2(g, OP_ADD, last, x, nowhere).id, next.id);
    last = next;
  }
  double seconds = (double)(clock() - from) / CLOCKS_PER_SEC;
  cr_assert_eq(tc_graph_count(g), n + 1);
  tc_graph_free(g);
  return seconds;
}

/* Interning is O(1): eight times the nodes cost about eight times as much, not 64 times. */
Test(graph, a_hundred_thousand_nodes) {
  double small = build_chain(12500), large = build_chain(100000);
  cr_expect_lt(large, 32 * small + 0.1, "%g s for 12,500 nodes, %g s for 100,000", small, large);
  cr_expect_lt(large, 5.0, "%g s", large);
}

static void keep_severity(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)loc, (void)text;
  *(tc_severity *)self = s;
}

/* Adds every param to the first; how that was reported, TC_NOTE if it was not. */
static tc_severity sum_of_params(const char *params, bool in_a_pass) {
  tc_severity worst = TC_NOTE;
  tc_diag diag = {keep_severity, &worst};
  tc_graph *g = tc_graph_parse(params, &diag);
  cr_assert(g);
  if (in_a_pass) {
    tc_graph *derived = tc_graph_derive(g);
    tc_graph_free(g);
    g = derived;
  }
  for (uint32_t i = 2; i <= tc_graph_input_count(g) && worst == TC_NOTE; i++)
    tc_build2(g, OP_ADD, (tc_ref){1}, (tc_ref){i}, nowhere);
  tc_graph_free(g);
  return worst;
}

Test(graph, only_provable_misuse_is_an_error) {
  cr_expect_eq(sum_of_params("%1 = param f32[3]\n%2 = param f32[4]\n", false), TC_ERROR);
  cr_expect_eq(sum_of_params("%1 = param f32[3]\n%2 = param f32[4]\n", true), TC_MISSED,
               "the user did not write what a pass builds");
  cr_expect_eq(sum_of_params("%1 = param f32[B]\n%2 = param f32[3]\n%3 = param f32[4]\n", false),
               TC_MISSED, "B may be 1: then both additions are right");
  cr_expect_eq(
      sum_of_params("sym B 2..inf\n%1 = param f32[B]\n%2 = param f32[3]\n%3 = param f32[4]\n",
                    false),
      TC_ERROR, "whatever B is, one of the additions fails");
  cr_expect_eq(sum_of_params("%1 = param f32[B]\n%2 = param f32[N]\n%3 = param f32[B]\n", false),
               TC_NOTE);
}

Test(graph, limits_of_inference_are_not_errors) {
  tc_severity s = TC_NOTE;
  tc_diag diag = {keep_severity, &s};
  tc_graph *g = tc_graph_parse("%1 = param f32[B]\n", &diag);
  tc_dim B = tc_graph_type(g, (tc_ref){1})->dim[0], zero = tc_dim_const(0);
  tc_ref x[] = {{1}};
  tc_build(g, OP_SLICE, 1, x, 4, (tc_dim[]){zero, zero, B, B}, NULL, nowhere);
  cr_expect_eq(s, TC_MISSED, "a step that is not constant");
  s = TC_NOTE;
  tc_build(g, OP_SLICE, 1, x, 4, (tc_dim[]){zero, zero, B, zero}, NULL, nowhere);
  cr_expect_eq(s, TC_ERROR, "a step of 0");
  s = TC_NOTE;
  tc_build(g, OP_CUMSUM, 1, x, 1, &B, NULL, nowhere);
  cr_expect_eq(s, TC_MISSED, "an axis that is not constant");
  tc_graph_free(g);
}

Test(graph, several_results_are_read_one_by_one) {
  messages m;
  tc_graph *g =
      parse("%1 = param f32[B,4] \"x\"\n%2 = var_mean %1 axes=[1] correction=0 keep=1\n", &m);
  const tc_ref x = {1}, all = {2};
  const tc_node *n = tc_graph_node(g, all);
  cr_assert_eq(n->nresult, 2);
  cr_expect_eq(tc_graph_type(g, all)[1].rank, 2);
  const tc_ref mean = tc_build_result(g, all, 1, (tc_loc){0});
  cr_expect(tc_type_same(tc_graph_type(g, mean), &tc_graph_type(g, all)[1]));
  cr_expect_eq(tc_build_result(g, all, 1, (tc_loc){0}).id, mean.id);
  cr_expect_eq(tc_build_result(g, all, 2, (tc_loc){0}).id, 0);
  cr_expect_eq(tc_build_result(g, x, 0, (tc_loc){0}).id, 0);
  cr_expect_eq(tc_build1(g, OP_EXP, all, (tc_loc){0}).id, 0);
  const tc_ref tuple = tc_build_tuple(g, 2, (tc_ref[]){mean, x}, (tc_loc){0});
  cr_expect_eq(tc_build_result(g, tuple, 1, (tc_loc){0}).id, x.id);
  cr_expect_eq(tc_build_result(g, tuple, 2, (tc_loc){0}).id, 0);
  tc_graph_free(g);
}

Test(graph, effects_have_an_order) {
  messages m;
  tc_graph *g = parse("%1 = param f32[4] \"x\"\n%2 = scalar i64 \"f\"\n", &m);
  const tc_ref f[] = {{2}, {1}};
  const tc_ref first = tc_build_effect(g, 2, f, ", const struct tc_tensor *", (tc_loc){0});
  const tc_ref second = tc_build_effect(g, 2, f, ", const struct tc_tensor *", (tc_loc){0});
  cr_assert(first.id && second.id);
  cr_expect_neq(first.id, second.id);
  cr_expect_eq(tc_graph_node(g, second)->in[1].id, first.id);
  cr_expect_eq(tc_graph_effect(g).id, second.id);
  cr_expect(!tc_graph_output(g, second));
  cr_expect(!tc_graph_set_effect(g, f[1]));
  cr_expect_eq(tc_build1(g, OP_NOT, first, (tc_loc){0}).id, 0);
  tc_graph *swapped = tc_graph_derive(g);
  cr_expect(!tc_graph_same_effects(g, swapped));
  tc_build_effect(swapped, 2, f, ", const struct tc_tensor *", (tc_loc){0});
  cr_expect(!tc_graph_same_effects(g, swapped));
  tc_build_effect(swapped, 2, f, ", const struct tc_tensor *", (tc_loc){0});
  cr_expect(tc_graph_same_effects(g, swapped));
  tc_graph_free(swapped);
  tc_graph_free(g);
}
