/* A graph as two calls: together they give its results and the gradients that the engine appends to it; what moves with
 * what; what is refused. */
#include <criterion/criterion.h>

#include "autodiff/training.h"
#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/common/case.h"
#include "tests/common/random_graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mute(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)s, (void)loc, (void)text;
}
static tc_diag silent = {mute, NULL}; /* of random graphs, which are tried */
static void say(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)s, (void)loc;
  fprintf(stderr, "reported: %s\n", text);
}
static tc_diag loud = {say, NULL};

static interp_run evaluate(tc_graph *g, const interp_array *const *input, const tc_value *scalar,
                           const char *title) {
  interp_run run = {.g = g, .input = input, .scalar = scalar};
  cr_assert(interp_graph(&run), "%s: %s", title, run.message);
  return run;
}

static bool close_to(const interp_array *a, const interp_array *b, double eps) {
  if (a->count != b->count || a->dtype != b->dtype) return false;
  for (int64_t k = 0; k < a->count; k++) {
    const double x = interp_get(a, k), y = interp_get(b, k);
    if (isnan(x) ? !isnan(y) : !(x == y || fabs(x - y) <= eps * fmax(1, fabs(x)))) return false;
  }
  return true;
}

/* One behind the other, with the results as their own cotangents.  -> gradients, by operand (NULL: none). */
static void run_parts(const tc_training *t, interp_array *const *input, const tc_value *scalar,
                      const char *title, interp_run *first, interp_run *second) {
  const interp_array **all = calloc(t->nin + 2u * t->nout + t->part.nsaved + 1u, sizeof *all);
  char message[256] = "";
  uint32_t n = t->nin;
  cr_assert(tc_graph_verify(t->forward, message, sizeof message), "%s: %s", title, message);
  cr_assert(tc_graph_verify(t->backward, message, sizeof message), "%s: %s", title, message);
  cr_assert_eq(tc_graph_input_count(t->forward), t->nin);
  *first = evaluate(t->forward, (const interp_array *const *)input, scalar, title);
  for (uint32_t i = 0; i < t->nin; i++) all[i] = input[i];
  for (uint32_t i = 0; i < t->nout; i++)
    if (t->cotangent[i]) all[n++] = first->output[i];
  for (uint32_t i = 0; i < first->noutput; i++) all[n++] = first->output[i];
  cr_assert_eq(tc_graph_input_count(t->backward), n);
  *second = evaluate(t->backward, all, scalar, title);
  free(all);
}

/* Against the gradients that the engine appends to g, which this takes over.  Returns how many there are. */
static uint32_t check(tc_graph *g, interp_array *const *input, const tc_value *scalar,
                      int64_t max_saved, const char *title) {
  tc_buf why = {0};
  tc_training t;
  interp_run first, second, whole;
  const double eps = random_coarsest_dtype(g) == TC_F64 ? 1e-9 : 1e-5; /* functions of integers are of f32 */
  if (!tc_training_make(g, max_saved, &t, &why)) {
    cr_assert(!why.len || strstr(why.text, "has no gradient"), "%s: %s", title, why.text);
    tc_buf_free(&why);
    tc_graph_free(g);
    return 0;
  }
  run_parts(&t, input, scalar, title, &first, &second);
  tc_ref y[64], wrt[64], grad[64];
  tc_autodiff a = {.output = y, .cotangent = y, .wrt = wrt, .through_integers = true};
  for (uint32_t i = 0; i < t.nout; i++)
    if (t.cotangent[i]) y[a.noutput++] = tc_graph_output_at(g, i);
  for (uint32_t i = 0; i < t.nin; i++)
    if (t.gradient[i]) wrt[a.nwrt++] = tc_graph_input_at(g, i)->node;
  cr_assert(tc_autodiff_vjp(g, &a, grad, NULL), "%s", title);
  for (uint32_t i = 0; i < a.nwrt; i++) tc_graph_output(g, grad[i]);
  whole = evaluate(g, (const interp_array *const *)input, scalar, title);
  cr_assert_eq(second.noutput, a.nwrt, "%s", title);
  for (uint32_t i = 0; i < whole.noutput; i++) {
    const interp_array *got = i < t.nout ? first.output[i] : second.output[i - t.nout];
    cr_expect(close_to(whole.output[i], got, eps), "%s: result %u differs", title, i);
  }
  interp_run_free(&whole), interp_run_free(&first), interp_run_free(&second);
  tc_training_free(&t);
  tc_graph_free(g);
  return a.nwrt;
}

Test(training, of_every_case) {
  uint32_t gradients = 0;
  for (int k = 0; k < case_count; k++)
    for (int symbolic = 0; symbolic < 2; symbolic++) {
      const case_options options = {.dtype = TC_F64, .symbolic = symbolic};
      grad_case c;
      if (!case_make(case_lines[k].text, &options, &c)) continue;
      for (uint32_t i = 0; i < c.ny; i++) tc_graph_output(c.g, c.y[i]);
      gradients += check(c.g, c.input, c.scalar, 0, case_lines[k].text);
      c.g = NULL;
      case_free(&c);
    }
  fprintf(stderr, "every case: %u gradients\n", gradients);
  cr_expect_gt(gradients, 200);
}

Test(training, of_random_graphs) {
  static const uint32_t dtypes = 1u << TC_F64 | 1u << TC_I64 | 1u << TC_BOOL;
  uint32_t gradients = 0;
  for (uint64_t seed = 9000; seed < 9400; seed++) {
    char title[32];
    random_graph r;
    random_options options = {
        .seed = seed, .nodes = 4 + (int)(seed % 20), .symbolic = seed & 1, .dtypes = dtypes};
    snprintf(title, sizeof title, "seed %llu", (unsigned long long)seed);
    cr_assert(random_graph_make(&options, &silent, &r));
    if (tc_graph_output_count(r.g) < 64 && r.ninput < 64)
      gradients += check(r.g, r.input, r.scalar, seed % 3 ? 0 : 64, title);
    else tc_graph_free(r.g);
    random_graph_free_input(&r, r.input);
  }
  fprintf(stderr, "random graphs: %u gradients\n", gradients);
  cr_expect_gt(gradients, 300);
}

/* ---- what moves with what ---------------------------------------------------------------------------- */

/* "gradients|cotangents|depends[0], ...|why" */
static void expect(const char *text, const char *want) {
  tc_graph *g = tc_graph_parse(text, &loud);
  tc_training t;
  tc_buf why = {0}, got = {0};
  cr_assert_not_null(g);
  if (tc_training_make(g, 0, &t, &why)) {
    for (uint32_t i = 0; i < t.nin; i++) tc_put(&got, t.gradient[i] ? "x" : "-");
    tc_put(&got, "|");
    for (uint32_t i = 0; i < t.nout; i++)
      tc_putf(&got, "%s%llu ", t.cotangent[i] ? "y" : "-", (unsigned long long)t.depends[i]);
    tc_training_free(&t);
  }
  tc_putf(&got, "|%s", why.text ? why.text : "");
  cr_expect_str_eq(got.text, want);
  tc_buf_free(&got), tc_buf_free(&why);
  tc_graph_free(g);
}

Test(training, what_a_tape_would_track) {
  expect("%1 = param f32[4] \"x\"\n%2 = param f32[4] \"w\"\n%3 = mul %1 %2\n%4 = exp %2\n"
         "%5 = argmax %3 axes=[0] keep=0\n%6 = detach %4\nret %3 %4 %5 %6\n",
         "xx|y3 y2 -0 -0 |");
  expect("%1 = param i64[4] \"x\"\n%2 = param f32[4] \"w\"\n%3 = cast %1 dtype=f32\n%4 = mul %2 "
         "%3\nret %4\n",
         "-x|y2 |");
  expect("%1 = param f32[4] \"x\"\n%2 = argmax %1 axes=[0] keep=0\nret %2\n", "|");
  expect("%1 = param f32[4] \"x\" leaf\n%2 = exp %1\nret %2\n", "|");
}

Test(training, operands_that_are_written) {
  expect("%1 = param f32[4] \"x\"\n%2 = param f32[4] \"m\"\n%3 = mul %1 %2\n%4 = exp %2\nwrite %4 "
         "-> %2\nret %3\n",
         "x-|y1 |");
  expect(
      "%1 = param f32[4] \"x\"\n%2 = param f32[4] \"m\"\n%3 = mul %1 %2\nwrite %3 -> %2\nret %3\n",
      "|an operand is written with what gradients may lead to");
}
