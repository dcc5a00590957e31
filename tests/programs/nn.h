/* nn.h - what the programs nn_*.c share: functions of tcompile/nn.h, with the gradients of a weighted sum of the result, against
 * what PyTorch gives (nn_expected.h): by the body in double, and by kernels and by the body in float against that. */
#ifndef TC_TESTS_NN_H
#define TC_TESTS_NN_H

#include "check.h"

#include <math.h>
#include <string.h>
#include <tcompile/nn.h>

#ifdef TC_HAS_PLUGIN
enum { NN_COMPILED = true };
#else
enum { NN_COMPILED = false };
#endif
enum { NN_MOST = 8 }; /* operands */
#ifndef NN_WAYS
#define NN_WAYS 3 /* kernels, the body in f32 and bf16; 1: kernels alone */
#endif

typedef struct nn_operand {
  char kind; /* f: -2..2, p: positive, u: 0..1, s: 1 and -1, i: integers, b: truth values */
  int bound; /* of i: 0 .. bound - 1 */
  int rank;
  int64_t dim[6];
} nn_operand;

/* A digest is two sums of the elements, each times a cosine of its place. */
typedef struct nn_row {
  const char *name;
  int n;
  nn_operand x[NN_MOST];
  int rank;
  int64_t dim[6];
  double y[2], g[NN_MOST][2];
} nn_row;

typedef tc_tensor *nn_call(const tc_tensor *const *x, tc_tensor **g);
typedef struct nn_function {
  const char *name;
  nn_call *call;
  int differentiable; /* of how many operands, the first ones, there are gradients */
} nn_function;

/* ---- functions of one to eight operands a, b, ..., compiled as one graph ---------------------------- */

/* The gradients of the sum of the elements, each times cos(1 + place), with respect to the first n operands. */
static inline tc_tensor *nn_result(tc_tensor *y, int n, const tc_tensor *const *x, tc_tensor **g) {
  if (n == 0) return y;
  const tc_tensor *weight = tc_cos(tc_arange(tc_numel(y), 1, 1, tc_nn_wide(tc_dtype_of(y))));
  return tc_vjp(y, tc_cast(tc_reshape(weight, tc_shape(y)), tc_dtype_of(y)), n, x, g) ? y : NULL;
}

#define NN_OPERAND(name, shape) const tc_tensor *name TC_SHAPE(shape)
#define NN_DEFINE(name, n, parameters, list, arguments, ...)                                                           \
  enum { name##_differentiable = n };                                                                                  \
  TC_COMPILE_WITH("fullgraph") static tc_tensor *name parameters {                                                     \
    const tc_tensor *nn_x[] = list;                                                                                    \
    return nn_result(__VA_ARGS__, n, nn_x, g);                                                                         \
  }                                                                                                                    \
  static tc_tensor *name##_call(const tc_tensor *const *x, tc_tensor **g) { return name arguments; }
#define NN_LIST(...) {__VA_ARGS__}
#define NN1(name, n, s, ...)                                                                                           \
  NN_DEFINE(name, n, (NN_OPERAND(a, s), tc_tensor **g), NN_LIST(a), (x[0], g), __VA_ARGS__)
#define NN2(name, n, s, t, ...)                                                                                        \
  NN_DEFINE(name, n, (NN_OPERAND(a, s), NN_OPERAND(b, t), tc_tensor **g), NN_LIST(a, b), (x[0], x[1], g), __VA_ARGS__)
#define NN3(name, n, s, t, u, ...)                                                                                     \
  NN_DEFINE(name, n, (NN_OPERAND(a, s), NN_OPERAND(b, t), NN_OPERAND(c, u), tc_tensor **g), NN_LIST(a, b, c),          \
            (x[0], x[1], x[2], g), __VA_ARGS__)
#define NN4(name, n, s, t, u, v, ...)                                                                                  \
  NN_DEFINE(name, n, (NN_OPERAND(a, s), NN_OPERAND(b, t), NN_OPERAND(c, u), NN_OPERAND(d, v), tc_tensor **g),          \
            NN_LIST(a, b, c, d), (x[0], x[1], x[2], x[3], g), __VA_ARGS__)
#define NN5(name, n, s, t, u, v, w, ...)                                                                               \
  NN_DEFINE(name, n,                                                                                                   \
            (NN_OPERAND(a, s), NN_OPERAND(b, t), NN_OPERAND(c, u), NN_OPERAND(d, v), NN_OPERAND(e, w), tc_tensor **g), \
            NN_LIST(a, b, c, d, e), (x[0], x[1], x[2], x[3], x[4], g), __VA_ARGS__)
#define NN_RECURRENT_LAYER(name, n, s, t, u, w, v, ...) /* x, two states, weights, biases of one shape */                \
  NN_DEFINE(name, n,                                                                                                   \
            (NN_OPERAND(a, s), NN_OPERAND(b, t), NN_OPERAND(c, t), NN_OPERAND(d, u), NN_OPERAND(e, w),                 \
             NN_OPERAND(f, v), NN_OPERAND(h, v), tc_tensor **g),                                                       \
            NN_LIST(a, b, c, d, e, f, h), (x[0], x[1], x[2], x[3], x[4], x[5], x[6], g), __VA_ARGS__)
#define NN_ROW(name) {#name, name##_call, name##_differentiable}

/* ---- operands and digests -------------------------------------------------------------------------- */

static inline tc_ints nn_shape(const int64_t *dim, int rank) {
  tc_ints s = {.n = rank};
  for (int i = 0; i < rank; i++) s.v[i] = dim[i];
  return s;
}

static inline double nn_element(const nn_operand *o, int operand, int64_t k) {
  const int64_t m = k * 7919 + operand * 1031 + 17;
  const double v = (double)(m % 1009) / 256 - 2;
  switch (o->kind) {
  case 'f': return v;
  case 'p': return 0.25 + fabs(v) / 2;
  case 'u': return (v + 2.02) / 4;
  case 's': return m % 1009 % 2 ? 1 : -1;
  case 'b': return m % 1009 % 3 != 0;
  default: return (double)(m % 1009 % o->bound);
  }
}

/* Operand number i; floating ones of the dtype.  It is made on the CPU. */
static inline tc_tensor *nn_make(const nn_operand *o, int i, tc_dtype dtype, tc_device device) {
  const tc_ints shape = nn_shape(o->dim, o->rank);
  tc_tensor *x = tc_empty(shape, TC_F64);
  double *to = tc_data(x);
  for (int64_t k = 0; k < tc_numel(x); k++) to[k] = nn_element(o, i, k);
  return tc_to(tc_cast(x, o->kind == 'i' ? TC_I64 : o->kind == 'b' ? TC_BOOL : dtype), device);
}

static inline void nn_digest(const tc_tensor *x, double digest[2], double *size) {
  const tc_tensor *wide = tc_contiguous(tc_cast(x, TC_F64));
  const double *v = tc_cdata(wide);
  digest[0] = digest[1] = *size = 0;
  for (int64_t k = 0; k < tc_numel(wide); k++) {
    digest[0] += v[k] * cos(1 + (double)k);
    digest[1] += v[k] * cos(0.7 + 1.3 * (double)k);
    *size += fabs(v[k]);
  }
}

/* ---- checks ---------------------------------------------------------------------------------------- */

static inline void nn_stop(const nn_row *r, const char *how, const char *what, double got, double want) {
  fprintf(stderr, "%s of", r->name);
  for (int i = 0; i < r->n; i++)
    for (int k = 0; k < r->x[i].rank; k++) fprintf(stderr, "%s%lld", k ? "," : " ", (long long)r->x[i].dim[k]);
  fprintf(stderr, " by %s: %s is %.15g, not %.15g%s%s\n", how, what, got, want, tc_error() ? "; " : "", tc_error() ? tc_error() : "");
  exit(1);
}

static inline void nn_check_digest(const nn_row *r, const char *what, const tc_tensor *got, const double want[2]) {
  double digest[2], size;
  nn_digest(got, digest, &size);
  for (int i = 0; i < 2; i++)
    if (!(fabs(digest[i] - want[i]) <= 1e-9 * (1 + size))) nn_stop(r, "the body in double", what, digest[i], want[i]);
}

static inline void nn_close(const nn_row *r, const char *how, const char *what, const tc_tensor *got, const tc_tensor *want,
                            double tolerance) {
  if (!got) nn_stop(r, how, what, NAN, NAN);
  CHECK(tc_rank(got) == tc_rank(want));
  for (int i = 0; i < tc_rank(got); i++) CHECK(tc_size(got, i) == tc_size(want, i));
  if (tc_numel(got) == 0) return;
  const double apart = tc_max_abs_diff(tc_cast(got, TC_F64), want), size = tc_item(tc_max(tc_abs(want), TC_ALL, false));
  if (!(apart <= tolerance * (1 + size))) nn_stop(r, how, what, apart, 0);
}

/* Runs it on the device, to y and g, which are of the scope and on the CPU. */
static inline tc_tensor *nn_run(const nn_row *r, const nn_function *f, tc_dtype dtype, tc_device device, tc_tensor **g) {
  tc_tensor *x[NN_MOST];
  for (int i = 0; i < r->n; i++) {
    x[i] = nn_make(&r->x[i], i, dtype, device);
    if (i < f->differentiable) tc_requires_grad_(x[i], true);
  }
  tc_set_default_device(device);
  tc_tensor *y = f->call((const tc_tensor *const *)x, g);
  tc_set_default_device(TC_CPU);
  for (int i = 0; i < f->differentiable; i++) tc_requires_grad_(x[i], false);
  for (int i = 0; y && i < f->differentiable; i++) g[i] = tc_to(tc_detach(g[i]), TC_CPU);
  return y ? tc_to(tc_detach(y), TC_CPU) : NULL;
}

static inline void nn_check_row(const nn_row *r, const nn_function *f, tc_device device) {
  static const char *const gradient[NN_MOST] = {"da", "db", "dc", "dd", "de", "df", "dh", "di"};
  const bool sixteen_bits[] = {false, false, true};
  TC_SCOPE {
    tc_tensor *want[NN_MOST], *g[NN_MOST];
    const bool was = tc_set_enabled(false);
    tc_tensor *y = nn_run(r, f, TC_F64, TC_CPU, want);
    if (!y) nn_stop(r, "the body in double", "the result", NAN, 0);
    CHECK(tc_rank(y) == r->rank);
    for (int i = 0; i < r->rank; i++) CHECK(tc_size(y, i) == r->dim[i]);
    nn_check_digest(r, "the result", y, r->y);
    for (int i = 0; i < f->differentiable; i++) nn_check_digest(r, gradient[i], want[i], r->g[i]);
    for (int way = 0; way < NN_WAYS; way++) {
      static const char *const how[] = {"kernels", "the body", "the body in bf16"};
      const double tolerance = sixteen_bits[way] ? 0.15 : 3e-5;
      const uint64_t hits = hits_of(f->name);
      tc_set_enabled(way == 0);
      const tc_tensor *z = nn_run(r, f, sixteen_bits[way] ? TC_BF16 : TC_F32, device, g);
      nn_close(r, how[way], "the result", z, y, tolerance);
      for (int i = 0; i < f->differentiable; i++) nn_close(r, how[way], gradient[i], g[i], want[i], tolerance);
      if (way == 0 && NN_COMPILED && hits_of(f->name) != hits + 1) nn_stop(r, how[way], "the number of calls", 0, 1);
    }
    tc_set_enabled(was);
  }
}

/* All rows, on the default device, which is the CPU then; each function has one at least. */
static inline void nn_check(const nn_row *row, size_t rows, const nn_function *f, size_t functions) {
  size_t used = 0;
  const tc_device device = tc_default_device();
  tc_set_default_device(TC_CPU);
  for (size_t k = 0; k < functions; k++) {
    const size_t before = used;
    for (size_t i = 0; i < rows; i++)
      if (!strcmp(row[i].name, f[k].name)) nn_check_row(&row[i], &f[k], device), used++;
    if (used == before) fprintf(stderr, "%s is not in nn_expected.h\n", f[k].name);
    CHECK(used > before);
  }
  CHECK(used == rows);
  printf("%zu functions, %zu rows\n", functions, rows);
}
#define NN_CHECK(subject, functions)                                                                                   \
  nn_check(subject##_expected, sizeof subject##_expected / sizeof *subject##_expected, functions,                      \
           sizeof functions / sizeof *functions)

/* tc_error has the text; the error is cleared. */
static inline void nn_refused(const void *result, const char *text) {
  if (result || !tc_error() || !strstr(tc_error(), text)) fprintf(stderr, "%s: not refused\n", text);
  CHECK(!result && tc_error() && strstr(tc_error(), text) && tc_error_code() == TC_ERROR_ARGUMENT);
  tc_clear_error();
}

#include "nn_expected.h"

#endif
