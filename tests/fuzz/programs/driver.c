/* Runs compiled functions against their original bodies: over sizes, layouts, special values, and
 * operands that the guards must refuse.
 *
 * Two results agree when they differ by no more than the tolerance of the coarsest dtype and what a
 * change of the operands by about one rounding does to the original body (where a program magnifies
 * rounding errors, so may its kernels), or when against the body run in double the kernels' error
 * is at most twice the body's. */
#include "driver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum { AS_IS, TRANSPOSED, STEPPED, NEGATIVE, INNER, LAYOUTS } layout;
typedef enum { PLAIN, CHANGED, SPECIAL, DOUBLE } variation;

static struct { int runs, hits, fallbacks, refused, errors, failed, uncompiled; } total;

/* ---- operands ------------------------------------------------------------------------------- */

static tc_ints sizes(const tc_tensor *x) {
  tc_ints d = {tc_rank(x), {0}};
  for (int i = 0; i < d.n; i++) d.v[i] = tc_size(x, i);
  return d;
}

/* Equal values, stored differently. */
static tc_tensor *stored(tc_tensor *x, layout l) {
  tc_ints d = sizes(x);
  tc_tensor *y = x;
  if (d.n == 0) return x;
  switch (l) {
  case TRANSPOSED: return tc_transpose(tc_clone(tc_transpose(x, 0, -1)), 0, -1);
  case NEGATIVE: return tc_flip(tc_clone(tc_flip(x, TC_ALL)), TC_ALL);
  case STEPPED:
    d.v[d.n - 1] *= 2;
    y = tc_slice(tc_zeros(d, tc_dtype_of(x)), -1, 0, INT64_MAX, 2);
    break;
  case INNER:
    for (int i = 0; i < d.n; i++) d.v[i]++;
    y = tc_zeros(d, tc_dtype_of(x));
    for (int i = 0; i < d.n; i++) y = tc_slice(y, i, 1, INT64_MAX, 1);
    break;
  default: return x;
  }
  tc_copy_(y, x);
  return y;
}

static bool floating(tc_dtype d) { return d == TC_F32 || d == TC_F64 || d == TC_F16 || d == TC_BF16; }

static double unit(tc_dtype d) { return d == TC_BF16 ? 4e-3 : d == TC_F16 ? 5e-4 : d == TC_F32 ? 1e-7 : 1e-15; }

static tc_tensor *numbers(const fuzz_operand *o, tc_ints dims, uint64_t seed) {
  if (o->values == FUZZ_INDEX) return tc_floor(tc_mul_s(tc_rand(dims, seed, TC_F64), (double)o->bound));
  tc_tensor *x = tc_randn(dims, seed, TC_F64);
  if (o->values == FUZZ_POSITIVE || o->dtype == TC_U8) x = tc_add_s(tc_abs(x), 0.25);
  if (o->dtype == TC_BOOL) return tc_gt_s(x, 0);
  if (!floating(o->dtype)) return tc_trunc(tc_mul_s(x, 3));
  return x;
}

/* Every 7th element is one of these. */
static tc_tensor *specials(tc_tensor *x) {
  static const double v[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 1, -1};
  int64_t n = tc_numel(x);
  tc_tensor *flat = tc_reshape(x, TC_DIMS(-1));
  for (int64_t i = 0, k = 0; i < n; i += 7, k++) tc_fill_(tc_slice(flat, 0, i, i + 1, 1), v[k % 7]);
  return x;
}

static tc_tensor *operand(const fuzz_operand *o, int run, int number, variation v, layout l) {
  tc_ints dims = {o->rank, {0}};
  memcpy(dims.v, o->dim[run], sizeof dims.v);
  tc_tensor *x = tc_cast(numbers(o, dims, (uint64_t)(number * 17 + run + 1)), o->dtype);
  if (!floating(o->dtype)) return stored(x, l);
  if (v == SPECIAL && tc_numel(x)) specials(x);
  if (v == CHANGED) {
    tc_tensor *up = tc_gt_s(tc_rand(dims, (uint64_t)number + 99, TC_F64), 0.5);
    tc_tensor *wide = tc_cast(x, TC_F64), *more = tc_mul_s(wide, unit(o->dtype));
    x = tc_cast(tc_where(up, tc_add(wide, more), tc_sub(wide, more)), o->dtype);
  }
  if (v == DOUBLE) x = tc_cast(x, TC_F64);
  return stored(x, l);
}

/* ---- one call --------------------------------------------------------------------------------- */

typedef struct outcome { tc_tensor *result, *written; char error[200]; } outcome;

static outcome call(const fuzz_case *c, tc_tensor *const *x, bool enabled) {
  outcome o = {0};
  tc_clear_error();
  tc_set_enabled(enabled);
  o.result = c->run(x, 0.75);
  snprintf(o.error, sizeof o.error, "%s", tc_error() ? tc_error() : "");
  tc_clear_error();
  tc_set_enabled(true);
  if (c->writes && x[0]) o.written = x[0];
  return o;
}

static void make(const fuzz_case *c, int run, variation v, int shift, tc_tensor **x) {
  for (int i = 0; i < c->n; i++)
    x[i] = operand(&c->in[i], run, i, v, i == 0 && c->writes ? AS_IS : (layout)(shift ? (i + shift) % LAYOUTS : 0));
}

/* ---- comparison --------------------------------------------------------------------------------- */

static double at(const tc_tensor *flat, int64_t i) { return tc_at(flat, TC_INTS(i)); }

static bool same_type(const tc_tensor *a, const tc_tensor *b) {
  tc_ints p = sizes(a), q = sizes(b);
  return tc_dtype_of(a) == tc_dtype_of(b) && p.n == q.n && !memcmp(p.v, q.v, sizeof p.v);
}

static tc_tensor *flat(const tc_tensor *x) { return tc_reshape(tc_cast(x, TC_F64), TC_DIMS(-1)); }

typedef struct error_sum { double kernels, body; } error_sum;

static bool agree(const fuzz_case *c, const tc_tensor *got, const tc_tensor *want, const tc_tensor *changed,
                  const tc_tensor *wide, char why[200]) {
  static const double rtol[TC_DTYPE_COUNT] = {[TC_F64] = 1e-7, [TC_F32] = 1.3e-6, [TC_F16] = 1e-3, [TC_BF16] = 1.6e-2};
  snprintf(why, 200, "another dtype or shape");
  if (!same_type(got, want)) return false;
  int64_t n = tc_numel(want);
  if (n == 0) return true;
  bool real = floating(tc_dtype_of(want)), near = true;
  if (!real) { /* through int64: exact */
    tc_tensor *ne = tc_any(tc_ne(got, want), TC_ALL, false);
    snprintf(why, 200, "integers differ");
    return !tc_item_int(ne);
  }
  tc_tensor *g = flat(got), *w = flat(want), *p = changed && same_type(changed, want) ? flat(changed) : NULL;
  tc_tensor *r = wide && tc_numel(wide) == n ? flat(wide) : NULL;
  double scale = 0, tol = rtol[c->coarsest];
  error_sum e = {0};
  for (int64_t i = 0; i < n; i++)
    if (isfinite(at(w, i))) scale = fmax(scale, fabs(at(w, i)));
  for (int64_t i = 0; i < n; i++) {
    double a = at(g, i), b = at(w, i), q = p ? at(p, i) : b;
    if (r) e.kernels = fmax(e.kernels, fabs(a - at(r, i))), e.body = fmax(e.body, fabs(b - at(r, i)));
    if (a == b || (isnan(a) && isnan(b)) || isnan(b) != isnan(q) || isinf(b) != isinf(q)) continue;
    if (fabs(a - b) <= 1e-5 + tol * fmax(fabs(b), c->coarsest >= TC_F32 ? 0.1 * scale : scale) + 60 * fabs(b - q)) continue;
    if (near) snprintf(why, 200, "element %lld is %.9g, not %.9g (changed operands: %.9g)", (long long)i, a, b, q);
    near = false;
  }
  return near || (r && isfinite(e.kernels) && isfinite(e.body) && e.kernels <= 2 * e.body);
}

static bool same_outcome(const fuzz_case *c, outcome got, outcome want, outcome changed, outcome wide, char why[200]) {
  if (!got.result != !want.result) {
    snprintf(why, 200, "%s, the body %s", got.result ? "a result" : got.error, want.result ? "has a result" : want.error);
    return false;
  }
  if (got.result && !agree(c, got.result, want.result, changed.result, wide.result, why)) return false;
  return !c->writes || !got.written || agree(c, got.written, want.written, changed.written, NULL, why);
}

/* ---- the runs of a function ------------------------------------------------------------------------ */

static void failed(const fuzz_case *c, const char *what, const char *why) {
  total.failed++;
  printf("FAIL %s %s: %s\n", c->name, what, why);
}

/* Operands that fit: kernels run, unless a size that may broadcast was guessed not to. */
static void fits(const fuzz_case *c, const char *what, int run, variation v, int shift) {
  tc_tensor *x[FUZZ_OPERANDS], *y[FUZZ_OPERANDS], *z[FUZZ_OPERANDS], *d[FUZZ_OPERANDS];
  make(c, run, v, shift, x), make(c, run, v, shift, y);
  tc_clear_error();
  uint64_t hits = tc_stats_of(c->name).hits;
  outcome want = call(c, x, false), got = call(c, y, true), changed = {0}, wide = {0};
  bool hit = tc_stats_of(c->name).hits > hits;
  if (v == PLAIN) {
    make(c, run, CHANGED, 0, z), make(c, run, DOUBLE, 0, d);
    changed = call(c, z, false), wide = call(c, d, false);
  }
  char why[200];
  total.runs++, total.hits += hit, total.fallbacks += !hit, total.errors += !want.result;
  if (run == 0 && v == PLAIN && !want.result) return failed(c, "generator", want.error);
  if (run == 0 && !hit) return failed(c, what, "kernels did not run");
  if (!same_outcome(c, got, want, changed, wide, why)) failed(c, what, why);
}

/* Operand i of another kind: the body has to run, with the same outcome. */
static void foreign(const fuzz_case *c, const char *what, int i, int kind) {
  tc_tensor *x[FUZZ_OPERANDS], *y[FUZZ_OPERANDS];
  make(c, 0, PLAIN, 0, x), make(c, 0, PLAIN, 0, y);
  tc_tensor **both[] = {x, y};
  for (int k = 0; k < 2; k++) {
    tc_tensor *t = both[k][i];
    if (kind == 0) t = tc_cast(t, tc_dtype_of(t) == TC_F64 ? TC_F32 : TC_F64);
    else if (kind == 1) t = tc_clone(tc_unsqueeze(t, 0));
    else t = NULL;
    both[k][i] = t;
  }
  tc_clear_error();
  uint64_t hits = tc_stats_of(c->name).hits;
  outcome want = call(c, x, false), got = call(c, y, true);
  char why[200];
  total.runs++, total.refused++;
  if (tc_stats_of(c->name).hits > hits) return failed(c, what, "kernels ran on operands they are not made for");
  if (!same_outcome(c, got, want, (outcome){0}, (outcome){0}, why)) failed(c, what, why);
}

static void run_case(const fuzz_case *c) {
  if (tc_stats_of(c->name).functions == 0) {
    total.uncompiled++;
    printf("uncompiled %s\n", c->name);
    return;
  }
  TC_SCOPE fits(c, "plain", 0, PLAIN, 0);
  TC_SCOPE fits(c, "other sizes and layouts", 1, PLAIN, 1);
  TC_SCOPE fits(c, "more layouts", 0, PLAIN, 3);
  TC_SCOPE fits(c, "sizes 0 and 1", 2, PLAIN, 0);
  TC_SCOPE fits(c, "special values", 0, SPECIAL, 0);
  for (int i = 0; i < c->n; i++) {
    TC_SCOPE foreign(c, "another dtype", i, 0);
    TC_SCOPE foreign(c, "another rank", i, 1);
    TC_SCOPE foreign(c, "NULL", i, 2);
  }
}

int fuzz_main(const fuzz_case *c, size_t n, int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (size_t i = 0; i < n; i++)
    if (argc < 2 || !strcmp(argv[1], c[i].name)) {
      printf("run %s\n", c[i].name); /* the last line names the one that crashed */
      run_case(&c[i]);
    }
  printf("total %d runs %d hits %d fallbacks %d refused %d errors %d uncompiled %d failed\n", total.runs, total.hits,
         total.fallbacks, total.refused, total.errors, total.uncompiled, total.failed);
  return total.failed != 0;
}
