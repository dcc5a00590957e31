#include "driver.h"

#include "guarded/operand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tcompile/abi.h>

#include "exceptions.h"

/* ---- layouts: the same values, stored differently -------------------------------------------- */

typedef tc_tensor *layout_fn(const tc_tensor *x);

static tc_tensor *as_is(const tc_tensor *x) { return tc_clone(x); }

static tc_tensor *transposed(const tc_tensor *x) {
  if (tc_rank(x) < 2) return tc_clone(x);
  return tc_transpose(tc_clone(tc_transpose(x, 0, -1)), 0, -1);
}

/* Every second element of a twice as long last axis. */
static tc_tensor *stepped(const tc_tensor *x) {
  if (tc_rank(x) < 1) return tc_clone(x);
  tc_ints dims = {tc_rank(x), {0}};
  for (int i = 0; i < dims.n; i++) dims.v[i] = tc_size(x, i);
  dims.v[dims.n - 1] *= 2;
  tc_tensor *view = tc_slice(tc_zeros(dims, tc_dtype_of(x)), -1, 0, INT64_MAX / 8, 2);
  tc_copy_(view, x);
  return view;
}

static tc_tensor *negative(const tc_tensor *x) {
  if (tc_rank(x) < 1) return tc_clone(x);
  return tc_flip(tc_clone(tc_flip(x, TC_AXES(-1))), TC_AXES(-1));
}

/* The inner part of a tensor one larger at the start of every axis: rows apart, addresses unaligned. */
static tc_tensor *inner(const tc_tensor *x) {
  tc_ints dims = {tc_rank(x), {0}};
  for (int i = 0; i < dims.n; i++) dims.v[i] = tc_size(x, i) + 1;
  tc_tensor *view = tc_zeros(dims, tc_dtype_of(x));
  for (int i = 0; i < dims.n; i++) view = tc_slice(view, i, 1, INT64_MAX / 8, 1);
  tc_copy_(view, x);
  return view;
}

/* Values that do not change along the first axis, held once: stride 0. */
static tc_tensor *repeated(const tc_tensor *x) {
  if (tc_rank(x) < 1) return tc_clone(x);
  tc_ints dims = {tc_rank(x), {0}};
  for (int i = 0; i < dims.n; i++) dims.v[i] = tc_size(x, i);
  return tc_expand(tc_clone(tc_slice(x, 0, 0, 1, 1)), dims);
}

static const struct { const char *name; layout_fn *make; } plain_layouts[] = {
    {"contiguous", as_is}, {"transposed", transposed}, {"stepped", stepped}, {"negative", negative}, {"inner", inner}};

/* ---- comparison ------------------------------------------------------------------------------ */

static void tolerance(tc_dtype dtype, double *rtol, double *atol) {
  static const double table[TC_DTYPE_COUNT][2] = {
      [TC_F64] = {1e-7, 1e-7}, [TC_F32] = {1.3e-6, 1e-5}, [TC_F16] = {1e-3, 1e-5}, [TC_BF16] = {1.6e-2, 1e-5}};
  *rtol = table[dtype][0];
  *atol = table[dtype][1];
}

static double wide_at(const tc_tensor *flat, int64_t i) { return tc_at(flat, TC_INTS(i)); }

/* The elements of a tensor of integers or bool, in order. */
static const int64_t *int_elements(const tc_tensor *flat) {
  return tc_data(tc_contiguous(tc_cast(flat, TC_I64)));
}

static bool same_shape(const tc_tensor *a, const tc_tensor *b) {
  if (tc_rank(a) != tc_rank(b)) return false;
  for (int i = 0; i < tc_rank(a); i++)
    if (tc_size(a, i) != tc_size(b, i)) return false;
  return true;
}

typedef struct verdict {
  bool ok;
  double worst; /* largest absolute error */
  char why[256];
} verdict;

/* size: what errors of an element are relative to, infinite where it is not compared (generate.py, sizes); or NULL. */
static void compare_floats(const op_case *c, const tc_tensor *y, const tc_tensor *want,
                           const tc_tensor *size, verdict *v) {
  double rtol, atol, scale = 0;
  tolerance(c->result, &rtol, &atol);
  int64_t n = tc_numel(want);
  for (int64_t i = 0; (c->flags & OP_SUM_LIKE) && i < n; i++) {
    double w = fabs(wide_at(want, i));
    if (isfinite(w) && w > scale) scale = w;
  }
  for (int64_t i = 0; i < n; i++) {
    double got = wide_at(y, i), expect = wide_at(want, i);
    const double part = size ? wide_at(size, i) : 0;
    if (isinf(part)) continue;
    bool zeros = (c->flags & OP_ZEROS) && got == 0 && expect == 0;
    if (zeros && v->ok && signbit(got) != signbit(expect)) {
      v->ok = false;
      snprintf(v->why, sizeof v->why, "element %lld is %g, not %g", (long long)i, got, expect);
    }
    if ((isnan(got) && isnan(expect)) || got == expect) continue;
    double error = fabs(got - expect);
    if (error > v->worst) v->worst = error;
    if (v->ok && !(error <= atol + rtol * fmax(fmax(fabs(expect), part), scale))) {
      v->ok = false;
      snprintf(v->why, sizeof v->why, "element %lld is %.9g, not %.9g", (long long)i, got, expect);
    }
  }
}

static void compare_integers(const tc_tensor *y, const tc_tensor *want, verdict *v) {
  const int64_t *got = int_elements(y), *expect = int_elements(want);
  for (int64_t i = 0, n = tc_numel(want); i < n && v->ok; i++) {
    if (got[i] == expect[i]) continue;
    v->ok = false;
    snprintf(v->why, sizeof v->why, "element %lld is %lld, not %lld", (long long)i, (long long)got[i], (long long)expect[i]);
  }
}

static verdict compare(const op_case *c, const tc_tensor *result, const tc_tensor *want,
                       const tc_tensor *size) {
  verdict v = {.ok = true};
  const tc_tensor *y = tc_to(result, TC_CPU);
  if (!y) {
    snprintf(v.why, sizeof v.why, "no result: %s", tc_error() ? tc_error() : "no message");
    v.ok = false;
  } else if (tc_dtype_of(y) != c->result) {
    snprintf(v.why, sizeof v.why, "dtype %s, not %s", tc_dtype_name(tc_dtype_of(y)), tc_dtype_name(c->result));
    v.ok = false;
  } else if (!same_shape(y, want)) {
    snprintf(v.why, sizeof v.why, "rank %d of %lld elements, not rank %d of %lld", tc_rank(y), (long long)tc_numel(y),
             tc_rank(want), (long long)tc_numel(want));
    v.ok = false;
  } else {
    tc_tensor *a = tc_reshape(y, TC_DIMS(-1)), *b = tc_reshape(want, TC_DIMS(-1));
    if (tc_numel(want) == 0) return v;
    if (c->result == TC_F32 || c->result == TC_F64 || c->result == TC_F16 || c->result == TC_BF16) compare_floats(c, a, b, size ? tc_reshape(size, TC_DIMS(-1)) : NULL, &v);
    else compare_integers(a, b, &v);
  }
  return v;
}

/* ---- running --------------------------------------------------------------------------------- */

typedef struct counts {
  int cases, failed, functions, eager_functions;
} counts;

static tc_tensor *stored(const tc_safetensors *file, const op_case *c, const char *set, const char *what) {
  char name[128];
  snprintf(name, sizeof name, "%s.%s.%s", c->number, set, what);
  return tc_safetensors_get(file, name);
}

static void report(counts *n, const op_case *c, const char *set, const char *layout, const char *how, const verdict *v) {
  n->cases++;
  if (v->ok) return;
  n->failed++;
  printf("FAIL %s [%s, %s, %s]: %s (%s)\n", c->text, set, layout, how, v->why, c->symbol);
}

/* One case over operands in one layout. */
typedef struct op_run {
  const op_case *c;
  const char *set, *layout;
  tc_tensor *x[3], *want, *size;
  int raised;             /* exceptions of the body */
  verdict eager;
} op_run;

static tc_tensor *called(void *context) {
  op_run *r = context;
  return r->c->run(r->x);
}

static void run_body(op_run *r, counts *n) {
  tc_set_enabled(false);
  tc_tensor *y = run_watched(called, r, 0, &r->raised);
  r->eager = compare(r->c, y, r->want, r->size);
  tc_clear_error();
  report(n, r->c, r->set, r->layout, "eager", &r->eager);
}

#ifdef TC_HAS_PLUGIN
#ifndef OPS_FIRST_LEVEL
#define OPS_FIRST_LEVEL TC_ISA_V2
#endif
#ifndef OPS_LAST_LEVEL
#define OPS_LAST_LEVEL TC_ISA_AMX
#endif

/* Kernels at the level tcrt_isa, with traps for all exceptions that the body did not raise. */
static void run_kernels(op_run *r, counts *n) {
  const op_case *c = r->c;
  const int allowed = tc_default_device() == TC_CPU ? r->raised : watched_exceptions();
  int raised;
  tc_set_enabled(true);
  const uint64_t before = tc_stats_of(c->symbol).hits;
  const tc_tensor *y = run_watched(called, r, watched_exceptions() & ~allowed, &raised);
  verdict v = compare(c, y, r->want, r->size);
  tc_clear_error();
  const bool hit = tc_stats_of(c->symbol).hits > before;
  if (!v.ok && (c->flags & OP_SUM_LIKE) && r->eager.ok && v.worst <= 2 * r->eager.worst) v.ok = true;
  if (!hit && !(c->flags & OP_PURE_VIEW)) {
    v.ok = false;
    snprintf(v.why, sizeof v.why, "the original body ran");
  }
  if (raised & ~allowed) {
    char of_kernels[64], of_body[64];
    v.ok = false;
    name_exceptions(raised, of_kernels), name_exceptions(allowed, of_body);
    snprintf(v.why, sizeof v.why, "exceptions:%s; of the body:%s", of_kernels, of_body);
  }
  static const char *const how[TC_ISA_COUNT] = {"compiled v2", "compiled v3", "compiled v4", "compiled bf16", "compiled amx"};
  report(n, c, r->set, r->layout, how[tcrt_isa], &v);
}

/* Every ISA level that the machine has, of those that the program was built for (CMakeLists.txt). */
static void run_levels(op_run *r, counts *n) {
  const int best = tcrt_isa, last = best < OPS_LAST_LEVEL ? best : OPS_LAST_LEVEL;
  for (tcrt_isa = OPS_FIRST_LEVEL; tcrt_isa <= last; tcrt_isa++) run_kernels(r, n);
  tcrt_isa = best;
}
#endif

static void run_layout(const op_case *c, const tc_safetensors *file, const char *set, const char *layout,
                       layout_fn *make, counts *n) {
  op_run r = {.c = c, .set = set, .layout = layout, .want = stored(file, c, set, "out")};
  if (strcmp(set, "large") == 0) r.size = stored(file, c, set, "size");
  for (int i = 0; i < c->operands; i++) {
    char what[8];
    snprintf(what, sizeof what, "%d", i);
    r.x[i] = make(tc_to(tc_cast(stored(file, c, set, what), c->dtype[i]), tc_default_device()));
    if (guarded_wanted()) r.x[i] = guarded_operand(r.x[i], false);
  }
  if (tc_error()) {
    verdict v = {.ok = false};
    snprintf(v.why, sizeof v.why, "operands: %s", tc_error());
    tc_clear_error();
    report(n, c, set, layout, "setup", &v);
    return;
  }
  run_body(&r, n);
#ifdef TC_HAS_PLUGIN
  run_levels(&r, n);
#endif
}

static void run_set(const op_case *c, const tc_safetensors *file, const char *set, counts *n) {
  if (strcmp(set, "plain") == 0) {
    for (size_t i = 0; i < sizeof plain_layouts / sizeof *plain_layouts; i++)
      TC_SCOPE run_layout(c, file, set, plain_layouts[i].name, plain_layouts[i].make, n);
  } else if (strcmp(set, "stride0") == 0) {
    TC_SCOPE run_layout(c, file, set, "repeated", repeated, n);
  } else {
    TC_SCOPE run_layout(c, file, set, "contiguous", as_is, n);
  }
}

int run_op_cases(const op_case *c, size_t n, int argc, char **argv) {
  tc_safetensors *file = argc > 1 ? tc_safetensors_open(argv[1]) : NULL;
  if (!file) {
    fprintf(stderr, "%s\n", tc_error() ? tc_error() : "usage: ops DATA [substring of the cases to run]");
    return 2;
  }
  counts total = {0};
  for (size_t i = 0; i < n; i++) {
    if (argc > 2 && !strstr(c[i].text, argv[2]) && strcmp(c[i].symbol, argv[2]) != 0) continue;
    char sets[128], *save = NULL;
    snprintf(sets, sizeof sets, "%s", c[i].sets);
    for (char *set = strtok_r(sets, " ", &save); set; set = strtok_r(NULL, " ", &save)) run_set(&c[i], file, set, &total);
    total.functions++;
  }
  tc_safetensors_close(file);
  printf("%d functions, %d cases passed, %d failed%s\n", total.functions, total.cases - total.failed, total.failed,
         tc_default_device() == TC_CPU ? "" : " on the GPU");
  return total.failed != 0;
}
