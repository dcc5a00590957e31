/* check.c - see check.h. */
#include "tests/lower/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)loc;
  if (s >= TC_MISSED) fprintf(stderr, "reported: %s\n", text);
}

tc_graph *graph_of(const char *text) {
  static tc_diag diag = {report, NULL};
  tc_graph *g = tc_graph_parse(text, &diag);
  cr_assert_not_null(g, "parse");
  g = tc_graph_optimize(g);
  cr_assert_not_null(g, "optimize");
  return g;
}

static int64_t dim_value(tc_graph *g, tc_dim d, int64_t symbol) {
  int64_t sym[64], v = 0;
  if (tc_dim_is_const(d)) return tc_dim_value(d);
  for (int i = 0; i < 64; i++) sym[i] = symbol;
  cr_assert(tc_dim_eval(tc_graph_dims(g), d, sym, &v));
  return v;
}

interp_array **arguments_of(tc_graph *g, int64_t symbol) {
  uint32_t n = tc_graph_input_count(g);
  interp_array **input = calloc(n + 1u, sizeof *input);
  uint64_t state = 12345;
  for (uint32_t i = 0; i < n; i++) {
    const tc_type *t = &tc_graph_input_at(g, i)->type;
    int64_t dim[TC_MAX_RANK];
    for (int a = 0; a < t->rank; a++) dim[a] = dim_value(g, t->dim[a], symbol);
    input[i] = interp_new((tc_dtype)t->dtype, t->rank, dim);
    for (int64_t k = 0; k < input[i]->count; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      double u = (double)(state >> 40) / (double)(1 << 24);
      if (input[i]->f) input[i]->f[k] = u * 2 - 1;
      else input[i]->i[k] = (int64_t)(u * 3) % (t->dtype == TC_BOOL ? 2 : 3);
    }
  }
  return input;
}

void free_arguments(tc_graph *g, interp_array **input) {
  for (uint32_t i = 0; i < tc_graph_input_count(g); i++) interp_free(input[i]);
  free(input);
}

void show_lowering(tc_graph *g, const tc_program *p) {
  tc_buf text = {0};
  tc_graph_print(g, &text);
  if (p) tc_program_print(p, &text);
  fprintf(stderr, "%s\n", text.text ? text.text : "");
  tc_buf_free(&text);
}

/* |a-b| <= tolerance + what slightly other arguments change.  Constants of f32 graphs are f32 in the
 * program and exact in the reference. */
static bool close_enough(const interp_array *x, const interp_array *y, const interp_array *near) {
  double rtol = x->dtype == TC_F64 ? 1e-7 : 2e-6, atol = x->dtype == TC_F64 ? 1e-9 : 1e-7;
  if (x->dtype != y->dtype || x->count != y->count || x->rank != y->rank) return false;
  for (int64_t k = 0; k < x->count; k++) {
    double a = interp_get(x, k), b = interp_get(y, k), c = near ? interp_get(near, k) : a;
    if (a == b || (isnan(a) && isnan(b))) continue;
    if (isnan(a) != isnan(c) || isinf(a) != isinf(c) || fabs(a) > 1e200) continue;
    if (!(fabs(a - b) <= atol + rtol * fabs(a) + 1e3 * fabs(a - c))) {
      fprintf(stderr, "element %lld: %.17g became %.17g (nearby: %.17g)\n", (long long)k, a, b, c);
      return false;
    }
  }
  return true;
}

static interp_run reference(tc_graph *g, interp_array *const *input, const tc_value *scalar) {
  interp_run run = {.g = g, .input = (const interp_array *const *)input, .scalar = scalar};
  bool ok = interp_graph(&run);
  cr_assert(ok, "interpreter: %s", run.message);
  return run;
}

static bool same_results(tc_graph *g, const interp_run *want, const interp_run *near,
                         const loop_run *got) {
  uint32_t input;
  for (uint32_t i = 0; i < want->noutput; i++)
    if (!close_enough(want->output[i], got->output[i], near ? near->output[i] : NULL)) return false;
  for (uint32_t i = 0; i < want->nwrite; i++) {
    tc_graph_write_at(g, i, &input);
    if (!close_enough(want->write[i], got->after[input], near ? near->write[i] : NULL))
      return false;
  }
  return true;
}

uint32_t check_lowering(tc_graph *g, interp_array *const *input, interp_array *const *near,
                        const tc_value *scalar) {
  return check_lowering_for(&tc_target_cores, g, input, near, scalar);
}

static bool may_run(const tc_dependences *d, uint32_t k, const bool *ended) {
  for (uint32_t i = d->first[k]; i < d->first[k + 1]; i++)
    if (!ended[d->on[i]]) return false;
  return !ended[k];
}

/* The launches of p in another order that their dependences allow: always the latest that may run. */
static void run_latest_first(tc_program *p) {
  tc_dependences d;
  const uint32_t n = p->nkernel, launches = tc_launch_count(p);
  cr_assert(tc_program_dependences(p, &d));
  tc_kernel *kernel = malloc((n + 1u) * sizeof *kernel);
  uint32_t *first = calloc(launches + 1u, sizeof *first), done = 0;
  bool *ended = calloc(launches + 1u, sizeof *ended);
  for (uint32_t i = 0; i < launches; i++) first[i + 1] = tc_launch_end(p, first[i]);
  for (uint32_t i = 0, k; i < launches; i++) {
    for (k = launches - 1; !may_run(&d, k, ended); k--) cr_assert_gt(k, 0);
    for (uint32_t j = first[k]; j < first[k + 1]; j++) kernel[done++] = p->kernel[j];
    ended[k] = true;
  }
  for (uint32_t i = 0; i < n; i++) p->kernel[i] = kernel[i];
  tc_dependences_free(&d);
  free(kernel);
  free(first);
  free(ended);
}

/* Runs p and compares; `order` says of which order a failure is. */
static void check_run(tc_graph *g, const tc_program *p, const loop_run *arguments,
                      const interp_run *want, const interp_run *near, const char *order) {
  loop_run got = *arguments;
  const bool ran = loop_program(&got);
  const bool same = ran && !got.bad_index && same_results(g, want, near, &got);
  if (!same) show_lowering(g, p);
  cr_assert(ran, "%s: %s", order, got.message);
  cr_assert(same, "%s: a result differs", order);
  loop_run_free(&got);
}

static tc_buf text_of(const tc_program *p) {
  tc_buf text = {0};
  tc_program_print(p, &text);
  cr_assert_not(text.failed);
  return text;
}

void free_read(tc_program *p) {
  tc_graph *g = p->graph;
  tc_program_free(p);
  tc_graph_free(g);
}

tc_program *read_back(const tc_program *p) {
  static tc_diag diag = {report, NULL};
  tc_buf text = text_of(p);
  tc_program *again = tc_program_read(text.text, &diag);
  cr_assert_not_null(again, "not read:\n%s", text.text);
  tc_buf second = text_of(again);
  size_t at = 0; /* the line in which they differ */
  for (size_t i = 0; text.text[i] && text.text[i] == second.text[i]; i++)
    if (text.text[i] == '\n') at = i + 1;
  cr_assert_str_eq(second.text, text.text, "%s\nbecame\n%s", text.text + at, second.text + at);
  tc_buf_free(&text);
  tc_buf_free(&second);
  return again;
}

/* The program that its text stands for does the same. */
static void check_text(tc_graph *g, const tc_program *p, const loop_run *arguments, const interp_run *want,
                       const interp_run *near) {
  loop_run run = *arguments;
  tc_program *again = read_back(p);
  run.p = again;
  check_run(g, again, &run, want, near, "read back");
  free_read(again);
}

static tc_program *lowered(const tc_target *target, tc_graph *g) {
  char message[256] = "";
  tc_program *p = tc_lower(g, target);
  if (!p) show_lowering(g, NULL);
  cr_assert_not_null(p, "not lowered");
  bool valid = tc_program_verify(p, message, sizeof message);
  if (!valid) show_lowering(g, p);
  cr_assert(valid, "verify: %s", message);
  return p;
}

/* The stages for rows that are not kept. */
static void check_streamed(const tc_target *target, tc_graph *g, const loop_run *arguments, const interp_run *want,
                           const interp_run *near) {
  tc_target streams = *target;
  streams.streams = true;
  tc_program *p = lowered(&streams, g);
  free_read(read_back(p));
  for (uint32_t k = 0; k < p->nkernel; k++)
    for (uint32_t n = 0; n < p->kernel[k].nnest; n++)
      p->kernel[k].nest[n] = tc_nest_streamed(&p->kernel[k].nest[n]);
  loop_run run = *arguments;
  run.p = p;
  check_run(g, p, &run, want, near, "streamed");
  tc_program_free(p);
}

uint32_t check_lowering_for(const tc_target *target, tc_graph *g, interp_array *const *input,
                            interp_array *const *near, const tc_value *scalar) {
  tc_program *p = lowered(target, g);
  interp_run want = reference(g, input, scalar), other = {0};
  if (near) other = reference(g, near, scalar);
  const loop_run run = {.p = p, .input = (const interp_array *const *)input, .scalar = scalar};
  check_run(g, p, &run, &want, near ? &other : NULL, "in order");
  check_text(g, p, &run, &want, near ? &other : NULL);
  run_latest_first(p);
  check_run(g, p, &run, &want, near ? &other : NULL, "side by side");
  check_streamed(target, g, &run, &want, near ? &other : NULL);
  interp_run_free(&want);
  if (near) interp_run_free(&other);
  const uint32_t kernels = p->nkernel;
  tc_program_free(p);
  return kernels;
}

void check_sizes(const char *text, const int64_t *size, size_t n) {
  for (size_t i = 0; i < n; i++) {
    tc_graph *g = graph_of(text);
    interp_array **input = arguments_of(g, size[i]);
    check_lowering_for(&tc_target_cores, g, input, NULL, NULL);
    free_arguments(g, input);
    tc_graph_free(g);
  }
}
