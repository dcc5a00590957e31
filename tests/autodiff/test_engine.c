/* What the engine promises beside right rules: cut-offs, errors that name the path, conventions at points
 * without a derivative, and linear time. */
#include <criterion/criterion.h>

#include "autodiff/autodiff.h"
#include "graph/text.h"
#include "tests/common/interp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const tc_loc nowhere = {0, 0, 0, 0};

typedef struct messages {
  char text[1024];
  uint32_t line; /* of the last one */
  int n;
} messages;

static void keep(void *self, tc_severity s, tc_loc loc, const char *text) {
  messages *m = self;
  m->n++;
  m->line = loc.line;
  snprintf(m->text, sizeof m->text, "%s%s", s == TC_ERROR ? "error: " : "", text);
}

static tc_graph *parse(const char *text, tc_diag *diag) {
  tc_graph *g = tc_graph_parse(text, diag);
  cr_assert_not_null(g, "does not parse: %s", text);
  return g;
}

/* Gradients of the last node with respect to the first `n`, cotangent 1 everywhere it is. */
static bool gradients(tc_graph *g, uint32_t n, const tc_ref *stop, uint32_t nstop, tc_ref *grad,
                      bool *reached) {
  const tc_ref y = {tc_graph_count(g)}, wrt[] = {{1}, {2}, {3}};
  const tc_ref total = tc_build_reduce(g, OP_SUM, y, 0, NULL, false, nowhere);
  const tc_autodiff a = {
      .noutput = 1, .output = &total, .nwrt = n, .wrt = wrt, .nstop = nstop, .stop = stop};
  return tc_autodiff_vjp(g, &a, grad, reached);
}

/* ---- conventions ----------------------------------------------------------------------------------- */

enum { MOST = 8 };

static interp_array *vector(int n, const double *v) {
  interp_array *a = interp_new(TC_F64, 1, (int64_t[]){n});
  for (int i = 0; i < n; i++) a->f[i] = v[i];
  return a;
}

/* The graph of x (and y) with these values has gradient `want` with respect to each. */
static void expect_gradient(const char *text, int nin, int n, const double (*in)[MOST],
                            const double (*want)[MOST]) {
  tc_graph *g = parse(text, NULL);
  tc_ref grad[3];
  interp_array *x[3];
  cr_assert(gradients(g, (uint32_t)nin, NULL, 0, grad, NULL), "%s", text);
  for (int i = 0; i < nin; i++) tc_graph_output(g, grad[i]), x[i] = vector(n, in[i]);
  interp_run run = {.g = g, .input = (const interp_array *const *)x};
  cr_assert(interp_graph(&run), "%s: %s", text, run.message);
  for (int i = 0; i < nin; i++)
    for (int k = 0; k < n; k++) {
      const double got = run.output[i]->f[k];
      cr_expect(got == want[i][k] || (isnan(got) && isnan(want[i][k])) ||
                    fabs(got - want[i][k]) < 1e-12,
                "%s: gradient %d of element %d is %.17g, not %.17g", text, i, k, got, want[i][k]);
    }
  interp_run_free(&run);
  for (int i = 0; i < nin; i++) interp_free(x[i]);
  tc_graph_free(g);
}

#define UNARY(line) "%1 = param f64[4] \"x\"\n" line
#define BINARY(line) "%1 = param f64[4] \"x\"\n%2 = param f64[4] \"y\"\n" line

static void expect1(const char *text, const double *x, const double *want) {
  double in[1][MOST], out[1][MOST];
  memcpy(in, x, 4 * sizeof *x), memcpy(out, want, 4 * sizeof *x);
  expect_gradient(text, 1, 4, in, out);
}

#define V(...) ((const double[4]){__VA_ARGS__})

/* As PyTorch has them. */
Test(conventions, one_operand) {
  expect1(UNARY("%2 = abs %1"), V(0, -0.0, 1, -1), V(0, 0, 1, -1));
  expect1(UNARY("%2 = relu %1"), V(0, 1, -1, NAN), V(0, 1, 0, 1));
  expect1(UNARY("%2 = relu6 %1"), V(0, 6, 3, 7), V(0, 0, 1, 0));
  expect1(UNARY("%2 = sqrt %1"), V(0, 4, 1, INFINITY), V(INFINITY, 0.25, 0.5, 0));
  expect1(UNARY("%2 = hardswish %1"), V(-3, 3, -4, 4), V(-0.5, 1.5, 0, 1));
  expect1(UNARY("%2 = hardsigmoid %1"), V(-3, 3, 0, 4), V(0, 0, 1. / 6, 0));
  expect1(UNARY("%2 = sinc %1"), V(0, 1, -1, 1e-9), V(0, -1, 1, -1e-9 * 9.8696044010893586 / 3));
  expect1(UNARY("%2 = sigmoid %1"), V(800, -800, 0, -INFINITY), V(0, 0, 0.25, 0));
  expect1(UNARY("%2 = softplus %1"), V(800, -800, 0, -INFINITY), V(1, 0, 0.5, 0));
  expect1(UNARY("%2 = const weak f64 2.0\n%3 = pow %1 %2"), V(0, -1, 3, 0), V(0, -2, 6, 0));
  expect1(UNARY("%2 = const weak f64 0.0\n%3 = pow %1 %2"), V(0, -1, 3, 0), V(0, 0, 0, 0));
  expect1(UNARY("%2 = const weak f64 1.0\n%3 = pow %1 %2"), V(0, -1, 3, 0), V(1, 1, 1, 1));
}

Test(conventions, reductions) {
  expect1(UNARY("%2 = max %1 axes=[] keep=0"), V(1, 3, 3, 2), V(0, 0.5, 0.5, 0));
  expect1(UNARY("%2 = min %1 axes=[0] keep=1"), V(1, 1, 1, 2), V(1. / 3, 1. / 3, 1. / 3, 0));
  expect1(UNARY("%2 = max_with_index %1 axes=[0] keep=0\n%3 = result %2 index=0"), V(1, 3, 3, 2),
          V(0, 1, 0, 0));
  expect1(UNARY("%2 = std %1 axes=[0] correction=1 keep=0"), V(2, 2, 2, 2), V(0, 0, 0, 0));
  expect1(UNARY("%2 = const weak f64 2.0\n%3 = norm %1 %2 axes=[] keep=0"), V(0, 0, 0, 0),
          V(0, 0, 0, 0));
  expect1(UNARY("%2 = const weak f64 1.0\n%3 = norm %1 %2 axes=[] keep=0"), V(0, 1, -2, 0),
          V(0, 1, -1, 0));
  expect1(UNARY("%2 = const weak f64 0.5\n%3 = norm %1 %2 axes=[] keep=0"), V(0, 4, 0, 0),
          V(0, 1, 0, 0));
  expect1(UNARY("%2 = const weak f64 INFINITY\n%3 = norm %1 %2 axes=[] keep=0"), V(-2, 1, 2, 0),
          V(-0.5, 0, 0.5, 0));
  expect1(UNARY("%2 = prod %1 axes=[] keep=0"), V(2, 0, 3, 5), V(0, 30, 0, 0));
  expect1(UNARY("%2 = prod %1 axes=[] keep=0"), V(2, 0, 0, 5), V(0, 0, 0, 0));
  expect1(UNARY("%2 = cumprod %1 axis=0"), V(2, 0, 3, 5), V(1, 2 + 6 + 30, 0, 0));
  expect1(UNARY("%2 = logsumexp %1 axes=[0] keep=0"), V(-INFINITY, -INFINITY, -INFINITY, -INFINITY),
          V(0, 0, 0, 0));
  expect1(UNARY("%2 = logsumexp %1 axes=[0] keep=0"), V(1e300, -INFINITY, 0, -1e300),
          V(1, 0, 0, 0));
  expect1(UNARY("%2 = logsumexp %1 axes=[0] keep=0"), V(1e15, 1e15 - 1, 1e15 - 2, 1e15 - 3), /* rounded to 1/8 */
          V(0.6439142598879724, 0.23688281808991013, 0.08714431874203257, 0.03205860328008499));
}

static void expect2(const char *text, const double *x, const double *y, const double *dx,
                    const double *dy) {
  double in[2][MOST], out[2][MOST];
  memcpy(in[0], x, 4 * sizeof *x), memcpy(in[1], y, 4 * sizeof *x);
  memcpy(out[0], dx, 4 * sizeof *x), memcpy(out[1], dy, 4 * sizeof *x);
  expect_gradient(text, 2, 4, in, out);
}

Test(conventions, two_operands) {
  expect2(BINARY("%3 = maximum %1 %2"), V(1, 2, 0, -1), V(1, 1, 3, -1), V(0.5, 1, 0, 0.5),
          V(0.5, 0, 1, 0.5));
  expect2(BINARY("%3 = minimum %1 %2"), V(1, 2, 0, -1), V(1, 1, 3, -1), V(0.5, 0, 1, 0.5),
          V(0.5, 1, 0, 0.5));
  expect2(BINARY("%3 = pow %1 %2"), V(0, 0, 2, 1), V(2, 0, 3, 0), V(0, 0, 12, 0),
          V(0, 0, 8 * log(2), 0));
  expect2(BINARY("%3 = atan2 %1 %2"), V(0, 1, 0, 1e200), V(0, 0, 2, 1e200), V(0, 0, 0.5, 5e-201),
          V(0, -1, 0, -5e-201));
  expect2(BINARY("%3 = logaddexp %1 %2"), V(INFINITY, -INFINITY, 0, 900),
          V(INFINITY, -INFINITY, 0, 0), V(0.5, 0.5, 0.5, 1), V(0.5, 0.5, 0.5, 0));
  expect2(BINARY("%3 = clamp %1 %2 %2"), V(0, 1, 2, 5), V(1, 1, 1, 9), V(0, 1, 0, 0),
          V(0, 0, 1, 0));
  expect2(BINARY("%3 = copysign %1 %2"), V(0, 1, -2, 3), V(-1, -1, -1, 1), V(0, -1, 1, 1),
          V(0, 0, 0, 0));
}

/* The last write remains, and its source alone has a gradient. */
Test(conventions, scatter_to_one_place) {
  expect1("%1 = param f64[4] \"x\"\n%2 = const i64 2\n%3 = full %2 dims=[4] dtype=i64\n%4 = const "
          "weak f64 0\n"
          "%5 = full %4 dims=[5] dtype=f64\n%6 = scatter %5 %3 %1 axis=0\n",
          V(1, 2, 3, 4), V(0, 0, 0, 1));
}

/* Where one branch is not finite, or the formula is another one. */
static void expect_second(const char *text, double x, double want) {
  tc_graph *g = parse(text, NULL);
  tc_ref grad = {tc_graph_count(g)};
  const tc_ref argument = {1};
  for (int k = 0; k < 2; k++) {
    const tc_autodiff a = {.noutput = 1, .output = &grad, .nwrt = 1, .wrt = &argument};
    cr_assert(tc_autodiff_vjp(g, &a, &grad, NULL), "%s", text);
  }
  interp_array *in = vector(1, &x);
  interp_run run = {.g = g, .input = (const interp_array *const *)&in};
  tc_graph_output(g, grad);
  cr_assert(interp_graph(&run), "%s", run.message);
  cr_expect(fabs(run.output[0]->f[0] - want) < 1e-12, "%s at %g: %.17g", text, x,
            run.output[0]->f[0]);
  interp_run_free(&run);
  interp_free(in);
  tc_graph_free(g);
}

Test(conventions, second_derivatives) {
#define X "%1 = param f64[1] \"x\"\n%2 = const weak f64 1.0\n"
  expect_second(X "%3 = elu %1 %2\n", 800, 0);
  expect_second(X "%3 = sinc %1\n", 0, -9.8696044010893586 / 3);
  expect_second(X "%3 = const weak f64 2.0\n%4 = pow %1 %3\n", 0, 2);
  expect_second(X "%3 = logaddexp %1 %2\n", 1, 0.25);
  expect_second(X "%3 = softplus %1\n", 800, 0);
  expect_second(X "%3 = gelu %1\n", 0, 0.79788456080286536);
  expect_second(X "%3 = sigmoid %1\n", -800, 0);
  expect_second(X "%3 = relu %1\n", 3, 0);
  expect_second(X "%3 = cumprod %1 axis=0\n", 0, 0);
  expect_second(X "%3 = prod %1 axes=[] keep=0\n", 0, 0);
  expect_second(X "%3 = const weak f64 3.0\n%4 = norm %1 %3 axes=[] keep=0\n", 0, 0);
}

/* ---- cut-offs -------------------------------------------------------------------------------------- */

static double first_of(tc_graph *g, tc_ref r, double x, double y) {
  interp_array *in[] = {vector(1, &x), vector(1, &y)};
  interp_run run = {.g = g, .input = (const interp_array *const *)in};
  tc_graph_output(g, r);
  cr_assert(interp_graph(&run), "%s", run.message);
  const double v = run.output[run.noutput - 1]->f[0];
  interp_run_free(&run);
  interp_free(in[0]), interp_free(in[1]);
  return v;
}

#define PAIR "%1 = param f64[1] \"x\"\n%2 = param f64[1] \"y\"\n"

Test(engine, what_is_not_reached_has_gradient_zero) {
  tc_graph *g = parse(PAIR "%3 = exp %1\n", NULL);
  tc_ref grad[2];
  bool reached[2];
  cr_assert(gradients(g, 2, NULL, 0, grad, reached));
  cr_expect(reached[0] && !reached[1]);
  cr_expect_eq(first_of(g, grad[1], 1, 1), 0);
  tc_graph_free(g);
}

static int count_ops(const tc_graph *g, tc_op op) {
  int n = 0;
  for (uint32_t id = 1; id <= tc_graph_count(g); id++) n += tc_graph_node(g, (tc_ref){id})->op == op;
  return n;
}

/* The gradient of x, whose parts are squared and put together again, is 2 x; `text` makes %10 of x. */
static tc_graph *parts_squared(const char *text, tc_ref *grad) {
  static const double x[] = {1, 2, 3, 4, 5, 6, 7, 8}, want[] = {2, 4, 6, 8, 10, 12, 14, 16};
  tc_graph *g = parse(text, NULL);
  bool reached;
  cr_assert(gradients(g, 1, NULL, 0, grad, &reached));
  tc_graph_output(g, *grad);
  interp_array *in[] = {vector(8, x)};
  interp_run run = {.g = g, .input = (const interp_array *const *)in};
  cr_assert(interp_graph(&run), "%s", run.message);
  for (int i = 0; i < 8; i++) cr_expect_eq(run.output[0]->f[i], want[i], "%d of %s", i, text);
  interp_run_free(&run);
  interp_free(in[0]);
  return g;
}

#define PART(id, first, last) id " = slice %1 axis=0 start=" first " stop=" last " step=1\n"

/* Parts that lie side by side are joined, in whatever order they come; others are added among zeros. */
Test(engine, parts_are_joined) {
  tc_ref grad;
  tc_graph *g = parts_squared("%1 = param f64[8] \"x\"\n" PART("%2", "0", "3") PART("%3", "3", "4")
                                  PART("%4", "4", "8") "%5 = concat %4 %2 %3 axis=0\n%6 = square %5\n",
                              &grad);
  cr_expect_eq(tc_graph_node(g, grad)->op, OP_CONCAT);
  tc_graph_free(g);
  g = parts_squared("%1 = param f64[8] \"x\"\n" PART("%2", "4", "8") PART("%3", "0", "2")
                        PART("%4", "2", "4") "%5 = concat %4 %2 %3 axis=0\n%6 = square %5\n",
                    &grad);
  cr_expect(count_ops(g, OP_ADD) <= 1); /* what is between comes last, or not */
  tc_graph_free(g);
}

/* Parts that overlap, or have something between them */
Test(engine, other_parts_are_added) {
  expect1("%1 = param f64[4] \"x\"\n" PART("%2", "0", "3") PART("%3", "1", "4")
              "%4 = concat %2 %3 axis=0\n%5 = square %4\n",
          V(1, 2, 3, 4), V(2, 8, 12, 8));
  expect1("%1 = param f64[4] \"x\"\n" PART("%2", "0", "1") PART("%3", "2", "4")
              "%4 = concat %2 %3 axis=0\n%5 = square %4\n",
          V(1, 2, 3, 4), V(2, 0, 6, 8));
}

/* y = x exp(x) with exp(x) a constant */
Test(engine, stop_makes_constants) {
  tc_graph *g = parse(PAIR "%3 = exp %1\n%4 = mul %1 %3\n", NULL);
  tc_ref grad[2];
  bool reached[2];
  cr_assert(gradients(g, 1, &(tc_ref){3}, 1, grad, reached));
  cr_expect(reached[0]);
  cr_expect_float_eq(first_of(g, grad[0], 2, 0), exp(2), 1e-12);
  tc_graph_free(g);
}

/* The same by an op: equal values stay two nodes, of which one is a constant. */
Test(engine, detach_makes_constants) {
  tc_graph *g = parse(PAIR "%3 = detach %1\n%4 = mul %1 %3\n", NULL);
  tc_ref grad[2];
  bool reached[2];
  cr_assert(gradients(g, 1, NULL, 0, grad, reached));
  cr_expect(reached[0]);
  cr_expect_float_eq(first_of(g, grad[0], 3, 0), 3, 1e-12);
  tc_graph_free(g);
  g = parse(PAIR "%3 = detach %1\n%4 = mul %2 %3\n", NULL);
  cr_assert(gradients(g, 2, NULL, 0, grad, reached));
  cr_expect(!reached[0] && reached[1]);
  tc_graph_free(g);
}

/* d/dx of y argmax(x) + x^2 has no more to do with the position, and its derivative none with y. */
Test(engine, integers_may_be_constants) {
  messages m = {0};
  tc_diag diag = {keep, &m};
  tc_graph *g =
      parse(PAIR "%3 = argmax %1 axes=[0] keep=1\n%4 = mul %2 %3\n%5 = square %1\n%6 = add %4 %5\n",
            &diag);
  const tc_ref wrt[] = {{1}, {2}};
  tc_ref grad[2], second[2];
  bool reached[2];
  cr_assert(gradients(g, 2, NULL, 0, grad, reached));
  tc_autodiff a = {.noutput = 1, .output = &grad[1], .nwrt = 1, .wrt = wrt};
  cr_expect(!tc_autodiff_vjp(g, &a, second, reached));
  a.through_integers = true;
  cr_assert(tc_autodiff_vjp(g, &a, second, reached));
  cr_expect(!reached[0]);
  cr_expect_eq(first_of(g, second[0], 1, 1), 0);
  tc_graph_free(g);
}

/* With respect to h = exp(x) inside of it, and to x through h. */
Test(engine, inner_values_do_not_cut) {
  tc_graph *g = parse(PAIR "%3 = exp %1\n%4 = square %3\n", NULL);
  const tc_ref y = {4}, wrt[] = {{1}, {3}, {4}};
  tc_ref grad[3];
  const tc_autodiff a = {.noutput = 1, .output = &y, .nwrt = 3, .wrt = wrt};
  cr_assert(tc_autodiff_vjp(g, &a, grad, NULL));
  cr_expect_float_eq(first_of(g, grad[0], 0.5, 0), 2 * exp(1), 1e-12);
  cr_expect_float_eq(first_of(g, grad[1], 0.5, 0), 2 * exp(0.5), 1e-12);
  cr_expect_eq(first_of(g, grad[2], 0.5, 0), 1);
  tc_graph_free(g);
}

/* A mask of x counts as constant; so does a position that only picks. */
Test(engine, conditions_and_picks_are_constant) {
  messages m = {0};
  tc_diag diag = {keep, &m};
  tc_graph *g = parse(PAIR "%3 = gt %1 %2\n%4 = cast %3 dtype=f64\n%5 = mul %1 %4\n", &diag);
  tc_ref grad[2];
  bool reached[2];
  cr_assert(gradients(g, 2, NULL, 0, grad, reached));
  cr_expect(reached[0] && !reached[1]);
  cr_expect_eq(first_of(g, grad[0], 2, 1), 1);
  tc_graph_free(g);
  g = parse(PAIR "%3 = argmax %1 axes=[0] keep=1\n%4 = gather %1 %3 axis=0\n", &diag);
  cr_expect(gradients(g, 1, NULL, 0, grad, reached));
  tc_graph_free(g);
  cr_expect_eq(m.n, 0, "%s", m.text);
}

/* Third derivative of x^4 is 24 x. */
Test(engine, third_order) {
  tc_graph *g = parse(PAIR "%3 = square %1\n%4 = square %3\n", NULL);
  tc_ref y = {4}, x = {1};
  for (int k = 0; k < 3; k++) {
    const tc_autodiff a = {.noutput = 1, .output = &y, .nwrt = 1, .wrt = &x};
    cr_assert(tc_autodiff_vjp(g, &a, &y, NULL));
  }
  cr_expect_float_eq(first_of(g, y, 1.5, 0), 36, 1e-9);
  tc_graph_free(g);
}

/* Forward mode leaves nothing of its dummy cotangents behind. */
Test(engine, forward_mode_reads_no_dummy) {
  tc_graph *g = parse(PAIR "%3 = mul %1 %2\n%4 = softmax %3 axis=0\n%5 = exp %4\n", NULL);
  const tc_ref y = {5}, x[] = {{1}, {2}}, t[] = {{2}, {1}};
  const tc_autodiff a = {.noutput = 1, .output = &y, .nwrt = 2, .wrt = x};
  const uint32_t before = tc_graph_count(g);
  tc_ref out, dummy = {0};
  cr_assert(tc_autodiff_jvp(g, &a, t, &out));
  for (uint32_t id = tc_graph_count(g); id > before; id--)
    if (tc_graph_node(g, (tc_ref){id})->op == OP_FULL) dummy.id = id;
  cr_assert(dummy.id, "made first");
  bool *live = calloc(tc_graph_count(g) + 1u, 1);
  live[out.id] = true;
  for (uint32_t id = tc_graph_count(g); id > 0; id--)
    for (int i = 0; live[id] && i < tc_graph_node(g, (tc_ref){id})->nin; i++)
      live[tc_graph_node(g, (tc_ref){id})->in[i].id] = true;
  cr_expect(!live[dummy.id]);
  free(live);
  tc_graph_free(g);
}

/* ---- errors ---------------------------------------------------------------------------------------- */

static void expect_error(const char *text, uint32_t n, uint32_t line, const char *want) {
  messages m = {0};
  tc_diag diag = {keep, &m};
  tc_graph *g = parse(text, &diag);
  tc_ref grad[2];
  cr_expect(!gradients(g, n, NULL, 0, grad, NULL), "%s: no error", text);
  cr_expect_str_eq(m.text, want);
  cr_expect_eq(m.n, 1, "%d messages", m.n);
  cr_expect_eq(m.line, line, "reported at line %u", m.line);
  tc_graph_free(g);
}

Test(errors, through_positions_and_integers) {
  expect_error(PAIR "%3 = mul %1 %2\n%4 = argmax %3 axes=[0] keep=1\n%5 = cast %4 dtype=f64\n", 1,
               4,
               "error: argmax has no gradient (its result is a position); \"x\" reaches what is "
               "differentiated by "
               "mul, argmax, cast, sum");
  expect_error(PAIR "%3 = cast %1 dtype=i32\n%4 = cast %3 dtype=f64\n%5 = mul %4 %2\n", 2, 3,
               "error: cast has no gradient (its result is no floating number); \"x\" reaches what "
               "is differentiated "
               "by cast, cast, mul, sum");
  expect_error(
      PAIR
      "%3 = max_with_index %1 axes=[0] keep=0\n%4 = result %3 index=1\n%5 = cast %4 dtype=f64\n",
      1, 3,
      "error: max_with_index has no gradient (its result is no floating number); \"x\" reaches "
      "what is "
      "differentiated by max_with_index, cast, sum");
  expect_error("%1 = param f64[] \"p\"\n%2 = param f64[4] \"y\"\n%3 = norm %2 %1 axes=[] keep=0\n",
               1, 3,
               "error: norm has no gradient (the op has no derivative with respect to that "
               "operand); \"p\" reaches what "
               "is differentiated by norm, sum");
}

/* Even where another path has a gradient: without the call's part it would be wrong. */
Test(errors, through_a_function_of_the_program) {
  expect_error(PAIR "%3 = const i64 4096\n%4 = mul %1 %1\n%5 = call %3 %4 dims=[1] dtype=f64 "
                    "types=\",const tc_tensor "
                    "*\"\n%6 = add %5 %1\n",
               1, 5,
               "error: call has no gradient (nothing is known of the function); \"x\" reaches what "
               "is differentiated by "
               "mul, call, add, sum");
}

Test(errors, a_long_path_is_shortened) {
  tc_buf text = {0}, want = {0};
  tc_put(&text,
         "%1 = param f64[1] \"x\"\n%2 = argmax %1 axes=[0] keep=1\n%3 = cast %2 dtype=f64\n");
  for (int i = 4; i < 40; i++) tc_putf(&text, "%%%d = exp %%%d\n", i, i - 1);
  expect_error(text.text, 1, 2,
               "error: argmax has no gradient (its result is a position); \"x\" reaches what is "
               "differentiated by "
               "argmax, cast, exp, exp, exp, exp, 27 more, exp, exp, exp, exp, exp, sum");
  tc_buf_free(&text);
  tc_buf_free(&want);
}

static void expect_refusal(const char *text, tc_ref y, tc_ref dy, tc_ref x, const char *want) {
  messages m = {0};
  tc_diag diag = {keep, &m};
  tc_graph *g = parse(text, &diag);
  tc_ref grad;
  const tc_autodiff a = {
      .noutput = 1, .output = &y, .cotangent = &dy, .nwrt = 1, .wrt = &x, .loc = {.line = 77}};
  cr_expect(!tc_autodiff_vjp(g, &a, &grad, NULL));
  cr_expect_str_eq(m.text, want);
  cr_expect_eq(m.line, 77);
  tc_graph_free(g);
}

Test(errors, of_the_request) {
  static const char text[] =
      "%1 = param f64[4] \"x\"\n%2 = param i64[4] \"n\"\n%3 = exp %1\n%4 = add %2 %2\n";
  const tc_ref none = {0}, x = {1}, n = {2}, y = {3}, m = {4};
  expect_refusal(
      text, y, none, x,
      "error: the gradient of f64[4] needs a cotangent; only that of a single number does not");
  expect_refusal(
      text, y, x, n,
      "error: gradients are of floating values, and what it is taken with respect to is i64");
  expect_refusal(text, m, x, x,
                 "error: gradients are of floating values, and what is differentiated is i64");
  expect_refusal("%1 = param f64[4] \"x\"\n%2 = param f64[3] \"u\"\n%3 = exp %1\n", y, n, x,
                 "error: the cotangent is [3], and the value [4]");
}

/* ---- time ------------------------------------------------------------------------------------------ */

/* A net of n nodes: chains that read each other. */
static double seconds_for(int n) {
  tc_graph *g = parse("%1 = param f32[B,4] \"x\"\n%2 = param f32[4] \"w\"\n%3 = mul %1 %2\n", NULL);
  static const tc_op ops[] = {OP_TANH, OP_MUL, OP_SIGMOID, OP_ADD, OP_GELU, OP_SUB};
  tc_ref a = {3}, b = {1}, grad[2];
  for (int i = 0; i < n; i++) {
    const tc_op op = ops[i % 6];
    const tc_ref next = i % 2 ? tc_build2(g, op, a, b, nowhere) : tc_build1(g, op, a, nowhere);
    b = a, a = next;
  }
  cr_assert(a.id);
  const clock_t start = clock();
  cr_assert(gradients(g, 2, NULL, 0, grad, NULL));
  const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  cr_expect_lt(tc_graph_count(g), 14 * (uint32_t)n, "%u nodes", tc_graph_count(g));
  tc_graph_free(g);
  return seconds;
}

Test(engine, takes_linear_time) {
  const double small = seconds_for(10000), large = seconds_for(100000);
  fprintf(stderr, "10,000 nodes in %.3f s, 100,000 in %.3f s\n", small, large);
  cr_expect_lt(small, 0.5);
  cr_expect_lt(large, 20 * small + 0.2);
}
