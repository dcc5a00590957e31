/* Property: a pass changes what a graph computes by no more than rounding.
 *
 * Random graphs over every op are evaluated before and after each pass by the interpreter.  The
 * allowance is a tolerance plus what a tiny change of the arguments does to the same result: where
 * a graph magnifies rounding errors, so may a rewritten graph. */
#include <criterion/criterion.h>

#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/common/random_graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The generator tries what may not fit, quietly; passes have no reason to complain. */
static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)s, (void)loc;
  if (*(bool *)self) fprintf(stderr, "reported: %s\n", text);
}

static interp_run run_on(tc_graph *g, const random_graph *r, interp_array *const *input,
                         bool round) {
  interp_run run = {
      .g = g, .input = (const interp_array *const *)input, .scalar = r->scalar, .round = round};
  bool ok = interp_graph(&run);
  cr_assert(ok, "interpreter: %s", run.message);
  return run;
}

/* What rounding may do: |a-b| <= atol + rtol |a| + gain * (effect of arguments changed by
 * `change`). */
typedef struct tolerance {
  double rtol, atol, change, gain;
  bool round; /* the interpreter rounds every result to its dtype */
} tolerance;

static tolerance tolerance_of(tc_dtype coarsest) {
  switch (coarsest) {
  case TC_BF16:
    return (tolerance){3.2e-2, 8e-3, 4e-3, 8, true};
  case TC_F16:
    return (tolerance){4e-3, 1e-3, 5e-4, 8, true};
  case TC_F32:
    return (tolerance){2e-6, 2e-6, 6e-8, 100, false};
  default:
    return (tolerance){1e-9, 1e-9, 1e-12, 1e4, false};
  }
}

/* Is y as close to x as the tolerance and the conditioning (x against near) allow? */
static bool close_enough(const interp_array *x, const interp_array *y, const interp_array *near,
                         tolerance t) {
  if (x->dtype != y->dtype || x->count != y->count || x->rank != y->rank) return false;
  for (int64_t k = 0; k < x->count; k++) {
    double a = interp_get(x, k), b = interp_get(y, k), c = interp_get(near, k);
    if (a == b || (isnan(a) && isnan(b))) continue;
    bool unstable = isnan(a) != isnan(c) || isinf(a) != isinf(c) || fabs(a) > 1e200;
    if (unstable) continue;
    if (!(fabs(a - b) <= t.atol + t.rtol * fabs(a) + t.gain * fabs(a - c))) {
      fprintf(stderr, "element %lld: %.17g became %.17g (nearby: %.17g)\n", (long long)k, a, b, c);
      return false;
    }
  }
  return true;
}

static void show(tc_graph *g, const char *title) {
  tc_buf text = {0};
  tc_graph_print(g, &text);
  fprintf(stderr, "---- %s\n%s", title, text.text ? text.text : "");
  tc_buf_free(&text);
}

typedef struct expectation {
  const random_graph *r;
  interp_run want, near;
  tolerance t;
} expectation;

static bool same_results(const expectation *e, tc_graph *g) {
  interp_run got = run_on(g, e->r, e->r->input, e->t.round);
  bool ok = got.noutput == e->want.noutput;
  for (uint32_t i = 0; ok && i < got.noutput; i++)
    ok = close_enough(e->want.output[i], got.output[i], e->near.output[i], e->t);
  interp_run_free(&got);
  return ok;
}

/* Runs the pipeline `rounds` times, comparing after every pass. */
static void check_passes(const expectation *e, int rounds) {
  tc_graph *g = e->r->g;
  char message[256] = "";
  for (int k = 0; k < rounds * tc_graph_pipeline_length; k++) {
    const tc_pass_desc *pass = &tc_graph_pipeline[k % tc_graph_pipeline_length];
    tc_graph *next = pass->run(g);
    if (!next) show(g, "before");
    cr_assert_not_null(next, "pass %s refused", pass->name);
    bool valid = tc_graph_verify(next, message, sizeof message),
         same = valid && same_results(e, next);
    if (!same) show(g, "before"), show(next, pass->name);
    cr_assert(valid, "pass %s: %s", pass->name, message);
    cr_assert(same, "pass %s changed a result", pass->name);
    if (next != g && g != e->r->g) tc_graph_free(g);
    g = next;
  }
  for (uint32_t id = 1; id <= tc_graph_count(g); id++)
    cr_assert_null(tc_op_decomp(tc_graph_node(g, (tc_ref){id})->op));
  if (g != e->r->g) tc_graph_free(g);
}

static void check_graph(const random_options *o, uint32_t *used) {
  random_graph r;
  bool loud = false;
  tc_diag diag = {report, &loud};
  bool made = random_graph_make(o, &diag, &r);
  const tc_op_info *op = tc_op_get(o->always);
  cr_assert(made, "seed %llu: no place for %s", (unsigned long long)o->seed,
            op ? op->text : "anything");
  tolerance t = tolerance_of(random_coarsest_dtype(r.g));
  interp_array **near = random_graph_perturbed(&r, t.change);
  expectation e = {&r, run_on(r.g, &r, r.input, t.round), run_on(r.g, &r, near, t.round), t};
  loud = true;
  check_passes(&e, 2);
  for (int i = 0; used && i < OP_COUNT; i++) used[i] += r.used[i];
  interp_run_free(&e.want);
  interp_run_free(&e.near);
  random_graph_free_input(&r, near);
  random_graph_free_input(&r, r.input);
  tc_graph_free(r.g);
}

static const uint32_t doubles =
    1u << TC_F64 | 1u << TC_I64 | 1u << TC_I32 | 1u << TC_U8 | 1u << TC_BOOL;

/* Of the name, so that cases stay what they are when the table grows. */
static uint64_t seed_of(int op) {
  const char *text = tc_op_get((tc_op)op)->text;
  return tc_hash(text, strlen(text), 0) % 1000000 * 1000;
}

/* Each op of the table alone, in many settings. */
Test(property, every_op) {
  for (int op = 1; op < OP_COUNT; op++)
    for (uint64_t k = 0; k < 24; k++) {
      random_options o = {.seed = seed_of(op) + k,
                          .always = (tc_op)op,
                          .symbolic = k & 1,
                          .specials = k % 4 > 1,
                          .dtypes = doubles};
      check_graph(&o, NULL);
    }
}

/* Narrow types round at other places in a composite: the tolerance is that of the dtype. */
Test(property, every_op_narrow) {
  static const tc_dtype narrow[] = {TC_F32, TC_F16, TC_BF16};
  for (int op = 1; op < OP_COUNT; op++)
    for (int d = 0; d < 3; d++)
      for (uint64_t k = 0; k < 4; k++) {
        uint32_t dtypes = 1u << narrow[d] | 1u << TC_I32 | 1u << TC_BOOL;
        random_options o = {
            .seed = seed_of(op) + k, .always = (tc_op)op, .symbolic = k & 1, .dtypes = dtypes};
        check_graph(&o, NULL);
      }
}

Test(property, random_graphs) {
  uint32_t used[OP_COUNT] = {0};
  const char *count = getenv("TC_TEST_GRAPHS");
  uint64_t n = count ? strtoull(count, NULL, 10) : 400;
  for (uint64_t k = 0; k < n; k++) {
    random_options o = {.seed = 77000 + k,
                        .nodes = 4 + (int)(k % 40),
                        .symbolic = k & 1,
                        .specials = k % 8 == 7,
                        .dtypes = doubles};
    check_graph(&o, used);
  }
  for (int op = 1; n >= 400 && op < OP_CALL; op++) {
    bool argument = op == OP_INPUT || op == OP_SCALAR;
    cr_expect(argument || used[op], "%s never occurred", tc_op_get((tc_op)op)->text);
  }
}
