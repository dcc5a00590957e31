/* Training on a GPU: functions of rows with their gradients, whole steps as CUDA graphs, compiled functions on the tape,
 * operands that are written in place.  The compiled function on the GPU against the original body on the CPU.
 * Any argument: a few small sizes, for compute-sanitizer.
 * Exits 77 where there is no GPU (skipped), 1 when a check failed. */
#include <stdio.h>
#include <string.h>

#define DTYPE "f32"
#include "bench/cpu/cases.h"
#include "bench/cpu/mlp.h"
#include "places.h"

static void report(bool right, const char *what, const char *where) {
  checks++;
  if (right) return;
  failures++;
  printf("FAILED: %s%s: %s\n", what, where, tc_error() ? tc_error() : "another result");
  tc_clear_error();
}

static uint64_t hits_of(const char *name) { return tc_stats_of(name).hits; }

/* ---- rows, forward and backward ---------------------------------------------------------------- */

enum { MOST = 4 };

/* Operands on the CPU: x[r,c], vectors [c] between, dy[r,c]; of cross_entropy_grad classes. */
static int make_rows(const bench_case *f, int64_t r, int64_t c, tc_tensor **x) {
  const int last = f->operands - 1;
  for (int i = 0; i <= last; i++)
    x[i] = tc_randn(i == 0 || i == last ? TC_DIMS(r, c) : TC_DIMS(c), (uint64_t)i + 1, TC_F32);
  if (!strcmp(f->family, "cross_entropy_grad"))
    x[last] = tc_cast(tc_mul_s(tc_rand(TC_DIMS(r), 3, TC_F64), (double)c), TC_I64);
  return f->operands;
}

static bool run(const bench_case *f, tc_tensor *const *x, tc_tensor **out) {
  for (int i = 0; i < f->leaves; i++) tc_requires_grad_(x[i], true);
  return f->run(x, out);
}

/* Sums over rows are of as many terms as there are rows. */
static void check_rows(const bench_case *f, int64_t r, int64_t c, place where) {
  char what[80];
  snprintf(what, sizeof what, "%s [%lld,%lld]", f->family, (long long)r, (long long)c);
  TC_SCOPE {
    tc_tensor *x[MOST], *device[MOST], *want[MOST] = {NULL}, *got[MOST] = {NULL};
    const int n = make_rows(f, r, c, x);
    for (int i = 0; i < n; i++) device[i] = (tc_tensor *)placed(x[i], where);
    tc_set_enabled(false);
    bool right = run(f, x, want);
    tc_set_enabled(true);
    const uint64_t hits = hits_of(f->family);
    right = run(f, device, got) && right;
    report(hits_of(f->family) == hits + 1, what, ": its kernels did not run");
    for (int i = 0; i < f->results; i++)
      report(right && agree(tc_mul_s(got[i], 0.1), tc_mul_s(want[i], 0.1)), what,
             place_text[where]);
  }
}

static void check_all_rows(bool few) {
  static const int64_t sizes[][2] = {{7, 5},    {33, 257},   {130, 64},  {9, 1000}, {600, 516},
                                     {3, 8200}, {201, 1029}, {64, 4096}, {2, 50257}};
  const size_t n = few ? 4 : sizeof sizes / sizeof *sizes;
  for (int k = 0; k < BENCH_GRADIENTS; k++)
    for (size_t i = 0; i < n; i++)
      for (place where = ALONE; where < (few ? BETWEEN : PLACES); where++)
        check_rows(&bench_gradients_f32[k], sizes[i][0], sizes[i][1], where);
}

/* ---- whole steps --------------------------------------------------------------------------------- */

enum { STEPS = 20 };

typedef struct network {
  perceptron p, mean, square;
  tc_tensor *x, *t;
} network;

#define STEP(name, compile, call)                                                                  \
  compile static tc_tensor *name(const perceptron *p, const perceptron *mean,                      \
                                 const perceptron *square,                                         \
                                 const tc_tensor *x TC_SHAPE("f32[B,I]"),                          \
                                 const tc_tensor *t TC_SHAPE("i64[B]"), int64_t step) {            \
    (void)mean, (void)square, (void)step;                                                          \
    return call;                                                                                   \
  }
#define RECORDED TC_COMPILE_WITH("mode=reduce-overhead")
STEP(sgd, TC_COMPILE, mlp_sgd_step(p, x, t))
STEP(sgd_recorded, RECORDED, mlp_sgd_step(p, x, t))
STEP(adam, TC_COMPILE, mlp_adam_step(p, mean, square, x, t, step))
STEP(adam_recorded, RECORDED, mlp_adam_step(p, mean, square, x, t, step))

/* The forward part is compiled, with its gradients; the update is another function. */
TC_COMPILE_WITH("grad=on")
static tc_tensor *forward(const perceptron *p, const tc_tensor *x TC_SHAPE("f32[B,I]"),
                          const tc_tensor *t TC_SHAPE("i64[B]")) {
  return mlp_loss(p, x, t);
}
TC_COMPILE static bool update(const perceptron *p, const perceptron *g) {
  tc_tensor *to[MLP], *by[MLP];
  mlp_list(p, to);
  mlp_list(g, by);
  return tc_sgd(MLP, to, by, NULL, (tc_sgd_options){.rate = 0.05});
}

static tc_tensor *by_tape(const perceptron *p, const perceptron *mean, const perceptron *square,
                          const tc_tensor *x, const tc_tensor *t, int64_t step) {
  tc_tensor *of[MLP], *loss = forward(p, x, t);
  (void)mean, (void)square, (void)step;
  mlp_list(p, of);
  if (!tc_backward(loss)) return NULL;
  const perceptron g = {tc_grad_of(of[0]), tc_grad_of(of[1]), tc_grad_of(of[2]), tc_grad_of(of[3])};
  if (!update(p, &g)) return NULL;
  tc_zero_grad(MLP, of);
  return tc_detach(loss);
}

typedef tc_tensor *step_fn(const perceptron *p, const perceptron *mean, const perceptron *square,
                           const tc_tensor *x, const tc_tensor *t, int64_t step);

static perceptron layers(tc_device where, int64_t i, int64_t h, int64_t o, double scale) {
  const tc_ints dims[MLP] = {TC_DIMS(i, h), TC_DIMS(h), TC_DIMS(h, o), TC_DIMS(o)};
  tc_tensor *p[MLP];
  for (int k = 0; k < MLP; k++)
    p[k] = tc_to(tc_mul_s(tc_randn(dims[k], (uint64_t)k + 1, TC_F32), scale), where);
  return mlp_of(p);
}

static network start(tc_device where, int64_t b, int64_t h) {
  const int64_t inputs = 50, classes = 10;
  network n = {layers(where, inputs, h, classes, 0.1), layers(where, inputs, h, classes, 0),
               layers(where, inputs, h, classes, 0)};
  tc_tensor *p[MLP];
  mlp_list(&n.p, p);
  for (int k = 0; k < MLP; k++) tc_requires_grad_(p[k], true);
  n.x = tc_to(tc_randn(TC_DIMS(b, inputs), 9, TC_F32), where);
  n.t = tc_to(tc_cast(tc_mul_s(tc_rand(TC_DIMS(b), 3, TC_F64), classes), TC_I64), where);
  return n;
}

/* Losses of all steps; the weights in the end, on the CPU. */
static bool learn(step_fn *step, const network *n, double *loss, tc_tensor **weights) {
  for (int i = 0; i < STEPS; i++) TC_SCOPE {
      const tc_tensor *l = step(&n->p, &n->mean, &n->square, n->x, n->t, i + 1);
      if (!l) return false;
      loss[i] = tc_item(l);
    }
  tc_tensor *p[MLP];
  mlp_list(&n->p, p);
  for (int k = 0; k < MLP; k++) weights[k] = tc_to(tc_detach(p[k]), TC_CPU);
  return true;
}

static void check_step(const char *name, step_fn *step, const char *function, int calls, int64_t b,
                       int64_t h) {
  char what[80];
  snprintf(what, sizeof what, "%s, batch %lld of width %lld", name, (long long)b, (long long)h);
  TC_SCOPE {
    double want[STEPS], got[STEPS];
    tc_tensor *expected[MLP], *learned[MLP];
    const network here = start(TC_CPU, b, h), there = start(TC_CUDA, b, h);
    tc_set_enabled(false);
    bool right = learn(step, &here, want, expected);
    tc_set_enabled(true);
    const uint64_t hits = hits_of(function);
    const void *at = tc_device_data(there.p.w1);
    right = learn(step, &there, got, learned) && right;
    report(hits_of(function) == hits + (uint64_t)(calls * STEPS), what, ": bodies ran");
    report(tc_device_data(there.p.w1) == at, what, ": the parameter moved");
    for (int i = 0; i < STEPS && right; i++) right = fabs(got[i] - want[i]) <= 1e-4 * want[i];
    report(right, what, ", losses");
    report(right && want[STEPS - 1] < 0.95 * want[0], what, ", learning");
    for (int k = 0; k < MLP && right; k++)
      report(agree(learned[k], expected[k]), what, ", weights");
  }
}

static void check_steps(int64_t b, int64_t h) {
  check_step("sgd", sgd, "sgd", 1, b, h);
  check_step("sgd as a graph", sgd_recorded, "sgd_recorded", 1, b, h);
  check_step("adam", adam, "adam", 1, b, h);
  check_step("adam as a graph", adam_recorded, "adam_recorded", 1, b, h);
  check_step("sgd by the tape", by_tape, "forward", 2, b, h); /* forward and backward */
}

/* ---- written operands ---------------------------------------------------------------------------- */

TC_COMPILE static bool blend(tc_tensor *x TC_SHAPE("f32[R,C]"),
                             const tc_tensor *y TC_SHAPE("f32[R,C]")) {
  return tc_lerp_(x, y, 0.25) != NULL;
}

static void check_written(bool turned, bool stepped) {
  TC_SCOPE {
    tc_tensor *x[2];
    bool done = true;
    const uint64_t hits = hits_of("blend");
    for (int on = 0; on < 2; on++) {
      x[on] = tc_to(tc_randn(TC_DIMS(65, 65), 1, TC_F32), on ? TC_CUDA : TC_CPU);
      const tc_tensor *y = tc_to(tc_randn(TC_DIMS(64, 65), 2, TC_F32), on ? TC_CUDA : TC_CPU);
      tc_tensor *part = tc_slice(turned ? tc_transpose(x[on], 0, 1) : x[on], 0, 0, 64, 1);
      if (stepped) part = tc_slice(part, 0, 63, -65, -1), y = tc_contiguous(y);
      done = blend(part, y) && done;
    }
    report(done && hits_of("blend") == hits + 2, "a written view", ": bodies ran");
    report(done && agree(x[1], x[0]), "a written view", "");
  }
}

int main(int argc, char **argv) {
  (void)argv;
  if (tc_device_count(TC_CUDA) == 0) {
    printf("skipped: %s\n", tc_error() ? tc_error() : "no GPU");
    return 77;
  }
  const bool few = argc > 1;
  check_all_rows(few);
  check_steps(37, 64);
  if (!few) check_steps(64, 1000), check_steps(5, 33), check_steps(512, 256);
  for (int k = 0; k < 4; k++) check_written(k & 1, k >> 1);
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}
