/* Every rule against central differences, forward against reverse mode, and second derivatives.
 *
 * Tests go over the op table: an op that has a derivative and no case fails. */
#include <criterion/criterion.h>

#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/common/case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)s, (void)loc;
  fprintf(stderr, "reported: %s\n", text);
}
static tc_diag loud = {say, NULL};

static void show(const char *line, tc_graph *g) {
  tc_buf text = {0};
  tc_graph_print(g, &text);
  fprintf(stderr, "---- %s\n%s", line, text.text);
  tc_buf_free(&text);
}

/* ---- the table ----------------------------------------------------------------------------------- */

Test(rules, each_op_has_one_row) {
  int rows[OP_COUNT] = {0};
#define TC_VJP(id, ...) rows[OP_##id]++;
#define TC_VJP1(id, ...) rows[OP_##id]++;
#define TC_VJP2(id, ...) rows[OP_##id]++;
#define TC_VJP3(id, ...) rows[OP_##id]++;
#define TC_NO_VJP(id, why) rows[OP_##id] += sizeof(why) > 1;
#include "autodiff/rules.def"
  for (int op = 1; op < OP_COUNT; op++)
    cr_expect_eq(rows[op], 1, "%s has %d rows", tc_op_get((tc_op)op)->text, rows[op]);
}

static bool differentiable(tc_op op) {
  for (int i = 0; i < tc_op_get(op)->max_in; i++)
    if (!tc_autodiff_refusal(op, i)) return true;
  return false;
}

/* RESULT occurs in the cases of ops with several results. */
Test(rules, each_differentiable_op_has_a_case) {
  int cases[OP_COUNT] = {0};
  for (int k = 0; k < case_count; k++) cases[case_op(case_lines[k].text)]++;
  cr_expect_eq(cases[OP_NONE], 0, "a case names no op");
  for (int op = 1; op < OP_COUNT; op++)
    if (differentiable((tc_op)op) && op != OP_RESULT)
      cr_expect(cases[op], "%s has no case", tc_op_get((tc_op)op)->text);
}

/* ---- derivatives as outputs ------------------------------------------------------------------------ */

enum { FIRST = 1, SECOND };

/* Outputs: first the results (or, for SECOND, their gradients), then the gradients of <outputs, weights>:
 * weights are dy of results, v of gradients. */
typedef struct derivative {
  uint32_t ny, nx;
  const tc_ref *weight;
  tc_ref y[MAX_WRT], x[2 * MAX_WRT], grad[2 * MAX_WRT];
} derivative;

static bool differentiate(grad_case *c, int order, derivative *d) {
  tc_autodiff a = case_request(c);
  *d = (derivative){.ny = c->ny, .nx = c->nwrt, .weight = c->dy};
  memcpy(d->y, c->y, sizeof c->y);
  memcpy(d->x, c->wrt, sizeof c->wrt);
  if (order == SECOND) {
    if (!tc_autodiff_vjp(c->g, &a, d->y, NULL)) return false;
    d->ny = c->nwrt;
    d->weight = c->v;
    a = (tc_autodiff){
        .noutput = d->ny, .output = d->y, .cotangent = c->v, .nwrt = d->nx, .wrt = d->x};
  }
  if (!tc_autodiff_vjp(c->g, &a, d->grad, NULL)) return false;
  for (uint32_t i = 0; i < d->ny; i++) tc_graph_output(c->g, d->y[i]);
  for (uint32_t i = 0; i < d->ny; i++) tc_graph_output(c->g, d->weight[i]);
  for (uint32_t i = 0; i < d->nx; i++) tc_graph_output(c->g, d->grad[i]);
  return true;
}

static double dot(const interp_array *a, const interp_array *b) {
  double sum = 0;
  cr_assert_eq(a->count, b->count, "shapes differ: %lld and %lld elements", (long long)a->count,
               (long long)b->count);
  for (int64_t k = 0; k < a->count; k++) sum += interp_get(a, k) * interp_get(b, k);
  return sum;
}

/* <outputs, weights> at the arguments as they are. */
static double value(const grad_case *c, const derivative *d, const char *line) {
  interp_run run = case_run(c, c->g, false);
  double sum = 0;
  cr_assert(run.noutput, "%s: %s", line, run.message);
  for (uint32_t i = 0; i < d->ny; i++) sum += dot(run.output[i], run.output[d->ny + i]);
  interp_run_free(&run);
  return sum;
}

static double value_at(const grad_case *c, const derivative *d, const char *line, double *x,
                       double at) {
  const double before = *x;
  *x = at;
  const double sum = value(c, d, line);
  *x = before;
  return sum;
}

static bool close_to(double a, double b, double rtol, double atol) {
  return fabs(a - b) <= atol + rtol * fabs(b);
}

/* The central difference, eps 1e-6; and the one of fourth order, h 1e-4, which has ten digits: where they agree
 * (no kink is near), the gradient must have six of them. */
static bool is_slope(const grad_case *c, const derivative *d, const char *line, double *x,
                     double got, double *want) {
  const double eps = 1e-6, h = 1e-4, at = *x;
  double f[4];
  for (int i = 0; i < 4; i++) f[i] = value_at(c, d, line, x, at + h * (i < 2 ? i - 2 : i - 1));
  const double fine = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h);
  const double up = value_at(c, d, line, x, at + eps), down = value_at(c, d, line, x, at - eps);
  *want = (up - down) / (2 * eps);
  if (!close_to(got, *want, 1e-3, 1e-5)) return false;
  if (!close_to(fine, *want, 1e-5, 1e-6)) return true;
  *want = fine;
  return close_to(got, fine, 1e-6, 1e-8 * (1 + fabs(up)));
}

static int compare(grad_case *c, const derivative *d, const char *line, const interp_run *run) {
  int wrong = 0;
  for (uint32_t i = 0; i < d->nx; i++) {
    interp_array *x = c->x[i], *grad = run->output[2 * d->ny + i];
    for (int64_t k = 0; k < grad->count; k++) {
      const double got = interp_get(grad, k);
      double want, *argument = x ? &x->f[k] : &c->scalar[0].f;
      if (is_slope(c, d, line, argument, got, &want)) continue;
      if (wrong++ < 4)
        fprintf(stderr, "%s: operand %u, element %lld: %.9g, and the difference quotient is %.9g\n",
                line, i, (long long)k, got, want);
    }
  }
  return wrong;
}

/* Type of a gradient: that of what it was taken with respect to. */
static void check_types(const grad_case *c, const derivative *d, const char *line) {
  for (uint32_t i = 0; i < d->nx; i++) {
    const tc_type *t = tc_graph_type(c->g, d->x[i]), *grad = tc_graph_type(c->g, d->grad[i]);
    bool same = t->rank == grad->rank && t->dtype == grad->dtype;
    for (int k = 0; same && k < t->rank; k++)
      same = tc_dim_known_eq(tc_graph_dims(c->g), t->dim[k], grad->dim[k]);
    cr_expect(same, "%s: gradient %u has another type", line, i);
  }
}

/* What the passes make of the graph computes the same. */
static void check_optimized(grad_case *c, const char *line, const interp_run *run) {
  char message[256] = "";
  cr_expect(tc_graph_verify(c->g, message, sizeof message), "%s: %s", line, message);
  c->g = tc_graph_optimize(c->g);
  cr_assert_not_null(c->g, "%s: not optimised", line);
  interp_run after = case_run(c, c->g, false);
  cr_assert_eq(after.noutput, run->noutput, "%s: %s", line, after.message);
  for (uint32_t i = 0; i < run->noutput; i++)
    cr_expect_eq(interp_distance(run->output[i], after.output[i], 1e-9, 1e-9), 0,
                 "%s: output %u differs behind the passes", line, i);
  interp_run_free(&after);
}

/* One case; 0: could not be made with symbols. */
static int check_case(const char *line, const case_options *o, int order) {
  grad_case c;
  derivative d;
  if (!case_make(line, o, &c)) {
    cr_expect(o->symbolic, "%s: no graph", line);
    return 0;
  }
  cr_assert(differentiate(&c, order, &d), "%s: not differentiated", line);
  check_types(&c, &d, line);
  interp_run run = case_run(&c, c.g, false);
  cr_assert(run.noutput, "%s: %s", line, run.message);
  if (compare(&c, &d, line, &run)) {
    if (getenv("TC_TEST_CASE")) show(line, c.g);
    cr_expect(false, "%s: wrong", line);
  } else check_optimized(&c, line, &run);
  interp_run_free(&run);
  case_free(&c);
  return 1;
}

typedef int check_fn(const char *line, const case_options *o, int order);

/* Each case, with constant and symbolic sizes. */
static int for_each_case(check_fn *check, tc_dtype dtype, int order) {
  int n = 0;
  const char *only = getenv("TC_TEST_CASE");
  for (int k = 0; k < case_count; k++) {
    const char *line = case_lines[k].text;
    if (case_lines[k].order < order || (only && strncmp(only, line, strlen(only)))) continue;
    for (int shape = 0; shape < (case_has_shapes(line) ? case_shapes : 1); shape++)
      for (int symbolic = 0; symbolic < 2; symbolic++) {
        case_options o = {.dtype = dtype, .symbolic = symbolic, .shape = shape};
        if (!symbolic) o.diag = &loud;
        n += check(line, &o, order);
      }
  }
  return n;
}

Test(rules, first_order) {
  const int n = for_each_case(check_case, TC_F64, FIRST);
  fprintf(stderr, "first order: %d cases\n", n);
}

Test(rules, second_order) {
  const int n = for_each_case(check_case, TC_F64, SECOND);
  fprintf(stderr, "second order: %d cases\n", n);
}

/* ---- forward mode ---------------------------------------------------------------------------------- */

/* <J v, dy> = <v, J^T dy> */
static int check_forward(const char *line, const case_options *o, int order) {
  grad_case c;
  tc_ref grad[MAX_WRT], out[2];
  if (!case_make(line, o, &c)) return 0;
  tc_autodiff a = case_request(&c);
  cr_assert(tc_autodiff_vjp(c.g, &a, grad, NULL), "%s: no vjp", line);
  cr_assert(tc_autodiff_jvp(c.g, &a, c.v, out), "%s: no jvp", line);
  for (uint32_t k = 0; k < c.ny; k++) tc_graph_output(c.g, out[k]), tc_graph_output(c.g, c.dy[k]);
  for (uint32_t i = 0; i < c.nwrt; i++) tc_graph_output(c.g, grad[i]), tc_graph_output(c.g, c.v[i]);
  interp_run run = case_run(&c, c.g, false);
  cr_assert(run.noutput, "%s: %s", line, run.message);
  double forward = 0, reverse = 0;
  for (uint32_t k = 0; k < c.ny; k++) forward += dot(run.output[2 * k], run.output[2 * k + 1]);
  for (uint32_t i = c.ny; i < c.ny + c.nwrt; i++)
    reverse += dot(run.output[2 * i], run.output[2 * i + 1]);
  const double rtol = o->dtype == TC_F64 && order == FIRST ? 1e-9 : 1e-5;
  const bool equal = close_to(forward, reverse, rtol, rtol);
  if (!equal) show(line, c.g);
  cr_expect(equal, "%s: <Jv,u> = %.12g, <v,J'u> = %.12g", line, forward, reverse);
  interp_run_free(&run);
  case_free(&c);
  return 1;
}

Test(rules, forward_is_the_transpose_of_reverse) {
  const int n = for_each_case(check_forward, TC_F64, FIRST);
  fprintf(stderr, "forward: %d cases\n", n);
}

/* ---- other dtypes ---------------------------------------------------------------------------------- */

static double largest(const interp_array *a) {
  double m = 0;
  for (int64_t k = 0; k < a->count; k++) m = fmax(m, fabs(interp_get(a, k)));
  return m;
}

static double tolerance_of(tc_dtype d) { return d == TC_BF16 ? 6e-2 : d == TC_F16 ? 8e-3 : 1e-5; }

/* Every result rounded to its dtype, against the same graph computed exactly. */
static int check_rounded(const char *line, const case_options *o, int order) {
  grad_case c;
  derivative d;
  if (!case_make(line, o, &c)) return 0;
  cr_assert(differentiate(&c, order, &d), "%s: not differentiated", line);
  check_types(&c, &d, line);
  interp_run exact = case_run(&c, c.g, false), rounded = case_run(&c, c.g, true);
  cr_assert(exact.noutput && rounded.noutput, "%s: %s", line, exact.message);
  for (uint32_t i = 0; i < d.nx; i++) {
    const interp_array *a = exact.output[2 * d.ny + i], *b = rounded.output[2 * d.ny + i];
    const double most = tolerance_of(o->dtype) * (largest(a) + 1);
    for (int64_t k = 0; k < a->count; k++)
      cr_expect(close_to(b->f[k], a->f[k], 0, most), "%s as %s: %.9g became %.9g", line,
                tc_dtype_text(o->dtype), a->f[k], b->f[k]);
  }
  interp_run_free(&exact);
  interp_run_free(&rounded);
  case_free(&c);
  return 1;
}

Test(rules, f32) { for_each_case(check_rounded, TC_F32, FIRST); }
Test(rules, f16) { for_each_case(check_rounded, TC_F16, FIRST); }
Test(rules, bf16) { for_each_case(check_rounded, TC_BF16, FIRST); }
