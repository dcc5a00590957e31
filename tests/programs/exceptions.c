/* The floating-point environment belongs to the caller: compiled functions raise no exception that
 * their bodies do not, clear no flag, change no mode, and do not die with traps enabled; neither in
 * threads that they start nor in threads that call them.  The sizes leave lanes over, the values are
 * such that these lanes, and what selections drop, divide by zero, overflow and make NaN. */
#include <fenv.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "check.h"

enum { KINDS = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW, THREADS = 3 };

TC_COMPILE static tc_tensor *quotient(const tc_tensor *x TC_SHAPE("f32[R,C]"),
                                      const tc_tensor *y TC_SHAPE("f32[R,C]")) {
  return tc_div(x, y);
}
TC_COMPILE static tc_tensor *inverse(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_add(tc_reciprocal(x), tc_rsqrt(x));
}
TC_COMPILE static tc_tensor *angle(const tc_tensor *x TC_SHAPE("f32[R,C]"),
                                   const tc_tensor *y TC_SHAPE("f32[R,C]")) {
  return tc_atan2(x, y);
}
TC_COMPILE static tc_tensor *chosen(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_where(tc_gt_s(x, 1), tc_log(x), tc_exp(tc_neg(x)));
}
TC_COMPILE static tc_tensor *softmax(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_softmax(x, -1);
}
TC_COMPILE static tc_tensor *norm(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_layer_norm(x, 1, NULL, NULL, 1e-5);
}
TC_COMPILE static tc_tensor *product(const tc_tensor *a TC_SHAPE("f32[M,K]"),
                                     const tc_tensor *b TC_SHAPE("f32[K,N]")) {
  return tc_matmul(a, b);
}
TC_COMPILE static tc_tensor *product16(const tc_tensor *a TC_SHAPE("bf16[M,K]"),
                                       const tc_tensor *b TC_SHAPE("bf16[K,N]")) {
  return tc_matmul(a, b);
}
TC_COMPILE static tc_tensor *running(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_cumprod(x, -1);
}

/* Its kernel is the program's own: it runs in the environment of the caller, and in its thread. */
static _Thread_local int own_traps, own_flags;
static bool own_kernel(tc_tensor *out, const tc_tensor *x) {
  own_traps = fegetexcept();
  feraiseexcept(own_flags);
  memcpy(tc_data(out), tc_cdata(x), (size_t)tc_numel(x) * sizeof(float));
  return true;
}
TC_CUSTOM_OP("f32[R,C]", own_kernel)
static tc_tensor *own(const tc_tensor *x TC_SHAPE("f32[R,C]")) { return tc_clone(x); }
TC_COMPILE static tc_tensor *around(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_reciprocal(own(tc_reciprocal(x)));
}

static tc_tensor *x, *y, *a, *b, *a16, *b16, *wide;

static void make_operands(void) {
  x = tc_add_s(tc_rand(TC_DIMS(5, 37), 1, TC_F32), 0.5),
  y = tc_add_s(tc_rand(TC_DIMS(5, 37), 2, TC_F32), 0.5);
  a = tc_add_s(tc_rand(TC_DIMS(7, 45), 3, TC_F32), 1),
  b = tc_add_s(tc_rand(TC_DIMS(45, 35), 4, TC_F32), 1);
  tc_fill_(tc_slice(tc_slice(a, 0, 0, 3, 1), 1, 0, 9, 1), INFINITY);
  tc_fill_(tc_slice(tc_slice(b, 0, 2, 5, 1), 1, 3, 33, 1), INFINITY);
  a16 = tc_cast(a, TC_BF16), b16 = tc_cast(b, TC_BF16);
  wide = tc_add_s(tc_rand(TC_DIMS(700, 1111), 5, TC_F32), 1.25);
}

/* All functions; with_threads: over a tensor that is large enough for a team. */
static void run_all(const tc_tensor *z) {
  CHECK(quotient(x, y) && inverse(z) && angle(x, y) && angle(z, z) && chosen(z) && softmax(z) &&
        norm(z));
  CHECK(product(a, b) && product(z, tc_transpose(z, 0, 1)) && product16(a16, b16) && running(x) &&
        around(z));
}

static void expect_kernels(uint64_t calls) {
  static const char *const name[] = {"quotient", "inverse",   "chosen",  "softmax",
                                     "norm",     "product16", "running", "around"};
  for (size_t i = 0; i < sizeof name / sizeof *name; i++)
    CHECK(hits_of(name[i]) == calls && fallbacks_of(name[i]) == 0);
}

/* Bits that say how the thread computes, beside flags and traps. */
static int modes(void) {
#if defined(__x86_64__)
  return (int)(__builtin_ia32_stmxcsr() & 0xe040);
#else
  return fegetround();
#endif
}

static void raise_nothing(void) {
  feclearexcept(FE_ALL_EXCEPT);
  TC_SCOPE run_all(x);
  CHECK(!fetestexcept(FE_ALL_EXCEPT));
}

static void clear_nothing(void) {
  for (int kind = 1; kind <= FE_ALL_EXCEPT; kind *= 2) {
    if (!(kind & FE_ALL_EXCEPT)) continue;
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(kind);
    const int before = fetestexcept(FE_ALL_EXCEPT);
    TC_SCOPE run_all(x);
    TC_SCOPE run_all(wide);
    omp_set_num_threads(1); /* teams of one, at whose end OpenMP runtimes clear flags */
    TC_SCOPE run_all(wide);
    omp_set_num_threads(THREADS);
    CHECK(fetestexcept(FE_ALL_EXCEPT) == before);
  }
  feclearexcept(FE_ALL_EXCEPT);
}

static void change_no_mode(void) {
  static const int round[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (size_t i = 0; i < sizeof round / sizeof *round; i++) {
    fesetround(round[i]);
    const int before = modes();
    TC_SCOPE run_all(x);
    CHECK(modes() == before && fegetround() == round[i]);
  }
  fesetround(FE_TONEAREST);
}

/* Where a trap fires the program ends with SIGFPE.  Arm need not have any. */
static void survive_traps(void) {
  feclearexcept(FE_ALL_EXCEPT);
  if (feenableexcept(KINDS) < 0) return;
  TC_SCOPE run_all(x);
  CHECK(fegetexcept() == KINDS);
  CHECK(own_traps == KINDS);
  own_flags = FE_UNDERFLOW;
  TC_SCOPE CHECK(around(x));
  CHECK(fetestexcept(FE_ALL_EXCEPT) == FE_UNDERFLOW);
  own_flags = 0;
  fedisableexcept(KINDS);
}

/* Threads that kernels start: traps of the caller are theirs, and flags that they keep are seen by the next
 * parallel region of the program. */
static void leave_workers_alone(void) {
  int raised = 0, trapping = feenableexcept(KINDS) >= 0;
#pragma omp parallel num_threads(THREADS)
  feclearexcept(FE_ALL_EXCEPT);
  TC_SCOPE run_all(wide);
#pragma omp parallel num_threads(THREADS) reduction(| : raised)
  raised |= fetestexcept(FE_ALL_EXCEPT);
  CHECK(!raised);
  if (trapping) fedisableexcept(KINDS);
}

static void serve_callers(void) {
  int raised = 0;
#pragma omp parallel num_threads(THREADS) reduction(| : raised)
  {
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(KINDS);
    TC_SCOPE run_all(x);
    raised |= fetestexcept(FE_ALL_EXCEPT);
    fedisableexcept(KINDS);
  }
  CHECK(!raised);
}

int main(void) {
  omp_set_num_threads(THREADS);
  TC_SCOPE {
    make_operands();
    TC_SCOPE run_all(x);
    expect_kernels(1);
    raise_nothing();
    clear_nothing();
    change_no_mode();
    survive_traps();
    leave_workers_alone();
    serve_callers();
  }
  return 0;
}
