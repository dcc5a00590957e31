/* Gradients of every differentiable function on a GPU, by the eager library's tape and by compiled functions on it,
 * against those by the tape on the CPU, in f64.  Exits 77 where there is no GPU (skipped), 1 when a check failed. */
#include <stdio.h>
#include <string.h>

#include <tcompile.h>

#include "elementwise_cases.h" /* made of api.def: calls of one and two operands */
#include "tests/common/gradient_cases.h"

enum { LEAVES = 5, OPERANDS = 7 };

/* ---- functions -------------------------------------------------------------------------------- */

#define a x[0]
#define b x[1]
#define v x[2]
#define w x[3]
#define u x[4]
#define INDEX x[5]
#define MATRIX_INDEX x[6]
#define HERE tc_device_of(x[0])

typedef struct operands {
  tc_tensor *a_ TC_SHAPE("f64[3,4]"), *b_ TC_SHAPE("f64[3,4]"), *v_ TC_SHAPE("f64[4]");
  tc_tensor *w_ TC_SHAPE("f64[4,5]"), *u_ TC_SHAPE("f64[5]");
  tc_tensor *index TC_SHAPE("i64[3]"), *matrix TC_SHAPE("i64[2,4]");
} operands;

#define DEFINE(name, call)                                                                         \
  static tc_tensor *eager_##name(tc_tensor **x) { return call; }                                   \
  TC_COMPILE_WITH("grad=on") static tc_tensor *compiled_##name(const operands *o) {                \
    tc_tensor *x[] = {o->a_, o->b_, o->v_, o->w_, o->u_, o->index, o->matrix};                     \
    return call;                                                                                   \
  }
GRADIENT_CASES(DEFINE)
ELEMENTWISE_CASES(DEFINE)

typedef struct function {
  const char *name, *compiled_name;
  tc_tensor *(*eager)(tc_tensor **x);
  tc_tensor *(*compiled)(const operands *o);
} function;

static const function functions[] = {
#define ROW(name, call) {#name, "compiled_" #name, eager_##name, compiled_##name},
    GRADIENT_CASES(ROW) ELEMENTWISE_CASES(ROW)};

#undef a
#undef b
#undef v
#undef w
#undef u

/* ---- checks ------------------------------------------------------------------------------------ */

static int checks, failures, by_kernels;

/* Distinct numbers in (0.2, 0.8): none near another, nor near 0.5. */
static tc_tensor *numbers(int operand, tc_ints dims) {
  tc_tensor *t = tc_empty(dims, TC_F64);
  for (int64_t k = 0; k < tc_numel(t); k++)
    ((double *)tc_data(t))[k] =
        0.2 + 0.6 * ((double)((k * 37 + operand * 23) % 101) + 0.25 + 0.01 * operand) / 101.5;
  return t;
}

static void make(tc_tensor **x, tc_device where) {
  static const int64_t index[] = {2, 0, 1}, matrix[] = {2, 0, 1, 1, 0, 2, 2, 1};
  const tc_ints dims[LEAVES] = {TC_DIMS(3, 4), TC_DIMS(3, 4), TC_DIMS(4), TC_DIMS(4, 5),
                                TC_DIMS(5)};
  for (int i = 0; i < LEAVES; i++)
    x[i] = tc_requires_grad_(tc_to(numbers(i, dims[i]), where), true);
  x[5] = tc_to(tc_from(TC_DIMS(3), index, TC_I64), where);
  x[6] = tc_to(tc_from(TC_DIMS(2, 4), matrix, TC_I64), where);
}

/* Gradients of the sum of f(x) times numbers, to the CPU; false with an error. */
static bool differentiate(const function *f, bool compiled, tc_device where, tc_tensor **grad) {
  tc_tensor *x[OPERANDS];
  make(x, where);
  const operands o = {x[0], x[1], x[2], x[3], x[4], x[5], x[6]};
  tc_set_default_device(where); /* of what functions create */
  tc_tensor *y = compiled ? f->compiled(&o) : f->eager(x);
  tc_set_default_device(TC_CPU);
  if (!y) return false;
  tc_tensor *loss = tc_mul(y, tc_to(tc_randn(tc_shape(y), 7, TC_F64), where));
  if (!tc_grad_with(tc_sum(loss, TC_ALL, false), NULL, LEAVES, x, TC_ALLOW_UNUSED, grad))
    return false;
  for (int i = 0; i < LEAVES; i++) {
    if (tc_device_of(grad[i]) != where)
      return tc_fail_as(TC_ERROR_DEVICE, "a gradient is elsewhere");
    grad[i] = tc_to(grad[i], TC_CPU);
  }
  return true;
}

static void check(const function *f, const char *what, bool made, tc_tensor *const *got,
                  tc_tensor *const *want) {
  bool right = made;
  for (int i = 0; i < LEAVES && right; i++) right = tc_allclose(got[i], want[i], 1e-7, 1e-7);
  checks++;
  if (right) return;
  failures++;
  printf("FAILED: %s, %s: %s\n", f->name, what, tc_error() ? tc_error() : "another gradient");
  tc_clear_error();
}

/* Kernels run on the GPU where they do on the CPU. */
static void check_function(const function *f) {
  tc_tensor *want[LEAVES], *got[LEAVES];
  uint64_t hits[2];
  if (!differentiate(f, false, TC_CPU, want)) check(f, "the CPU", false, NULL, NULL);
  for (int on = 0; on < 2; on++) {
    const uint64_t before = tc_stats_of(f->compiled_name).hits;
    const bool made = differentiate(f, true, on ? TC_CUDA : TC_CPU, got);
    check(f, on ? "compiled, GPU" : "compiled, CPU", made, got, want);
    hits[on] = tc_stats_of(f->compiled_name).hits - before;
  }
  const bool made = differentiate(f, false, TC_CUDA, got);
  check(f, "eager, GPU", made, got, want);
  by_kernels += hits[1] > 1; /* forward and backward */
  checks++;
  if (hits[0] == hits[1]) return;
  failures++;
  printf("FAILED: %s: kernels of %d calls on the GPU, of %d on the CPU\n", f->name, (int)hits[1],
         (int)hits[0]);
}

int main(void) {
  if (tc_device_count(TC_CUDA) == 0) {
    printf("skipped: %s\n", tc_error() ? tc_error() : "no GPU");
    return 77;
  }
  const int n = sizeof functions / sizeof *functions;
  for (int i = 0; i < n; i++) TC_SCOPE check_function(&functions[i]);
  checks++;
  if (2 * by_kernels < n)
    failures++, printf("FAILED: most are to have kernels for their gradients\n");
  printf("%d functions, %d with kernels for their gradients; %d checks, %d failed\n", n, by_kernels,
         checks, failures);
  return failures != 0;
}
