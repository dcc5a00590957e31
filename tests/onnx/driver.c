#include "driver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "guarded/operand.h"
#include "ops/exceptions.h"

typedef struct counts {
  int cases, eager, compiled, strided, one_graph, failed;
} counts;

/* ---- comparison ------------------------------------------------------------------------------ */

/* Those of docs/programming-model.md; integers and bool are exact. */
static void tolerance(tc_dtype dtype, double *rtol, double *atol) {
  static const double table[TC_DTYPE_COUNT][2] = {[TC_F64] = {1e-7, 1e-7},
                                                  [TC_F32] = {1.3e-6, 1e-5},
                                                  [TC_F16] = {1e-3, 1e-5},
                                                  [TC_BF16] = {1.6e-2, 1e-5}};
  *rtol = table[dtype][0];
  *atol = table[dtype][1];
}

static void shape_text(const tc_tensor *x, char text[128]) {
  int at = snprintf(text, 128, "%s[", tc_dtype_name(tc_dtype_of(x)));
  for (int i = 0; i < tc_rank(x); i++)
    at += snprintf(text + at, (size_t)(128 - at), i ? ",%lld" : "%lld", (long long)tc_size(x, i));
  snprintf(text + at, (size_t)(128 - at), "]");
}

/* The largest finite |x|. */
static double largest(const tc_tensor *x) {
  double most = 0;
  for (int64_t i = 0; i < tc_numel(x); i++) {
    const double size = fabs(tc_at(x, TC_INTS(i)));
    if (isfinite(size) && size > most) most = size;
  }
  return most;
}

/* The first element that is not as it should be, or -1: flat, of one dtype and shape. */
static int64_t first_wrong(const onnx_case *c, const tc_tensor *y, const tc_tensor *want) {
  double rtol, atol;
  tolerance(tc_dtype_of(want), &rtol, &atol);
  const double least = c->is_sum ? largest(want) : 0;
  for (int64_t i = 0; i < tc_numel(want); i++) {
    const double got = tc_at(y, TC_INTS(i)), expect = tc_at(want, TC_INTS(i));
    if (got == expect || (isnan(got) && isnan(expect))) continue;
    if (!(fabs(got - expect) <= atol + c->error + rtol * fmax(fabs(expect), least)) || isinf(got))
      return i;
  }
  return -1;
}

bool onnx_compare(onnx_run *r, int k, const tc_tensor *want, int example) {
  char is[128], should[128];
  const tc_tensor *y = example < 0 ? r->y[k] : tc_select(r->y[k], 0, example);
  if (!y || !want)
    return snprintf(r->why, sizeof r->why, "no result %d: %s", k,
                    tc_error() ? tc_error() : "no message"),
           false;
  shape_text(y, is), shape_text(want, should);
  if (strcmp(is, should) != 0)
    return snprintf(r->why, sizeof r->why, "result %d is %s, not %s", k, is, should), false;
  const tc_tensor *a = tc_reshape(y, TC_DIMS(tc_numel(y)));
  const tc_tensor *b = tc_reshape(want, TC_DIMS(tc_numel(want)));
  const int64_t at = first_wrong(r->c, a, b);
  if (at < 0) return true;
  snprintf(r->why, sizeof r->why, "result %d, element %lld is %.9g, not %.9g", k, (long long)at,
           tc_at(a, TC_INTS(at)), tc_at(b, TC_INTS(at)));
  return false;
}

/* ---- running --------------------------------------------------------------------------------- */

static tc_tensor *called(void *context) {
  onnx_run *r = context;
  r->c->call(r->x, r->y);
  return r->y[0];
}

/* Calls it with traps for `traps`, compares and frees the results; behind that as much memory is in use as before. */
static bool run_once(onnx_run *r, int traps, int *raised) {
  const size_t before = tc_memory().live;
  bool ok = true;
  memset(r->y, 0, sizeof r->y);
  run_watched(called, r, traps, raised);
  for (int i = 0; i < r->c->results && ok; i++) TC_SCOPE ok = onnx_compare(r, i, r->want[i], -1);
  tc_clear_error();
  for (int i = 0; i < r->c->results; i++) tc_free(r->y[i]);
  if (ok && tc_memory().live != before) {
    ok = false;
    snprintf(r->why, sizeof r->why, "%lld bytes more are in use",
             (long long)(tc_memory().live - before));
  }
  return ok;
}

static bool run_body(onnx_run *r) {
  tc_set_enabled(false);
  const bool ok = run_once(r, 0, &r->raised);
  tc_set_enabled(true);
  return ok;
}

/* Kernels, with traps for all exceptions that the body did not raise. */
static bool run_kernels(onnx_run *r, bool *one_graph) {
  int raised;
  const tc_stats before = tc_stats_of(r->c->symbol);
  bool ok = run_once(r, watched_exceptions() & ~r->raised, &raised);
  const tc_stats after = tc_stats_of(r->c->symbol);
  *one_graph = after.hits == before.hits + 1 && after.fallbacks == before.fallbacks;
  if (raised & ~r->raised) {
    char names[64];
    ok = false;
    name_exceptions(raised & ~r->raised, names);
    snprintf(r->why, sizeof r->why, "exceptions that the body does not raise:%s", names);
  }
  return ok;
}

static tc_tensor *stored(const tc_safetensors *file, const onnx_case *c, char kind, int i) {
  char name[256];
  tc_tensor *x = NULL;
  snprintf(name, sizeof name, "%s.%c%d", c->name, kind, i);
  TC_SCOPE {
    x = tc_clone(tc_safetensors_get(file, name));
    if (kind == 'x' && guarded_wanted()) x = guarded_operand(x, false);
    tc_keep(x);
  }
  return x;
}

/* The same values, two elements apart along the last axis. */
static tc_tensor *stepped(const tc_tensor *x) {
  tc_ints dims = tc_shape(x);
  if (dims.n == 0) return tc_clone(x);
  dims.v[dims.n - 1] *= 2;
  tc_tensor *view = NULL;
  TC_SCOPE {
    view = tc_keep(tc_slice(tc_zeros(dims, tc_dtype_of(x)), -1, 0, INT64_MAX, 2));
    tc_copy_(view, x);
  }
  return view;
}

static void report(counts *n, const onnx_run *r, const char *how, bool ok, int *passed) {
  *passed += ok;
  n->failed += !ok;
  if (!ok) printf("FAIL %s %s: %s\n", r->c->name, how, r->why);
}

/* As the function is written, compiled, and compiled for operands whose elements lie apart. */
static void run_forms(onnx_run *r, counts *n) {
  bool one_graph = true;
  report(n, r, "eager", run_body(r), &n->eager);
  report(n, r, "compiled", run_kernels(r, &one_graph), &n->compiled);
  snprintf(r->why, sizeof r->why, "no hit, or a fallback");
  report(n, r, "as one graph", one_graph, &n->one_graph);
  for (int i = 0; i < r->c->operands; i++) {
    tc_tensor *x = stepped(r->x[i]);
    tc_free(r->x[i]), r->x[i] = x;
  }
  report(n, r, "compiled, elements apart", run_kernels(r, &one_graph), &n->strided);
}

static void run_examples(onnx_run *r, counts *n) {
  tc_set_enabled(false);
  report(n, r, "a batch, eager", onnx_run_batched(r), &n->eager);
  tc_set_enabled(true);
  const tc_stats before = tc_stats_of(r->c->symbol);
  report(n, r, "a batch, compiled", onnx_run_batched(r), &n->compiled);
  const tc_stats after = tc_stats_of(r->c->symbol);
  snprintf(r->why, sizeof r->why, "no hit, or a fallback");
  report(n, r, "a batch, as one graph",
         after.hits == before.hits + 1 && after.fallbacks == before.fallbacks, &n->one_graph);
}

static void run_gradients(onnx_run *r, counts *n) {
  bool one_graph;
  report(n, r, "gradients", onnx_run_gradients(r, &one_graph), &n->compiled);
  snprintf(r->why, sizeof r->why, "no hit, or a fallback");
  report(n, r, "gradients, as one graph", one_graph, &n->one_graph);
}

static void run_case(const onnx_case *c, const tc_safetensors *file, counts *n) {
  onnx_run r = {.c = c};
  n->cases++;
  for (int i = 0; i < c->operands; i++) r.x[i] = stored(file, c, 'x', i);
  for (int i = 0; i < c->results; i++) r.want[i] = stored(file, c, 'y', i);
  if (c->gradients) run_gradients(&r, n);
  else if (c->batched) run_examples(&r, n);
  else run_forms(&r, n);
  for (int i = 0; i < ONNX_MOST; i++) tc_free(r.x[i]), tc_free(r.want[i]);
}

static bool is_asked_for(const char *name, int argc, char **argv) {
  for (int i = 2; i < argc; i++)
    if (strcmp(argv[i], name) == 0) return true;
  return argc <= 2;
}

int run_onnx_cases(const onnx_case *c, size_t n, int argc, char **argv) {
  counts total = {0};
  tc_safetensors *file = argc > 1 ? tc_safetensors_open(argv[1]) : NULL;
  if (!file) {
    fprintf(stderr, "%s\n", tc_error() ? tc_error() : "usage: PROGRAM DATA [cases to run]");
    return 2;
  }
  for (size_t i = 0; i < n; i++) {
    if (!is_asked_for(c[i].name, argc, argv)) continue;
    printf("run %s\n", c[i].name);
    fflush(stdout);
    run_case(&c[i], file, &total);
  }
  tc_safetensors_close(file);
  printf("total %d cases, %d eager, %d compiled, %d strided, %d graphs, %d failures\n", total.cases,
         total.eager, total.compiled, total.strided, total.one_graph, total.failed);
  fflush(stdout); /* sanitizers end the program before the C library does it */
  return total.failed != 0;
}
