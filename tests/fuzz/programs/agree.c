#include "agree.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "operands.h"

static bool same_type(const tc_tensor *a, const tc_tensor *b) {
  tc_ints p = fuzz_sizes(a), q = fuzz_sizes(b);
  return tc_dtype_of(a) == tc_dtype_of(b) && p.n == q.n && !memcmp(p.v, q.v, sizeof p.v);
}

static const double *flat(const tc_tensor *x) {
  return tc_cdata(tc_contiguous(tc_cast(x, TC_F64)));
}

/* The elements of a result of the body, and of its runs over changed operands (NULL: of another
 * type). */
typedef struct body_elements {
  const double *as_is, *changed[FUZZ_SAMPLES];
} body_elements;

/* Of the kernels, of the body, and of the body in f64 (as_is is NULL without). */
typedef struct elements {
  const double *got;
  body_elements body, wide;
  const double *unlimited,
      *narrowed; /* where 16 bits cannot overflow, or NULL; in the dtype of the result */
  tc_dtype dtype;
  int64_t n;
  double
      before; /* of an operand that was written: its largest magnitude, which may have cancelled */
} elements;

static double largest(const double *x, int64_t n) {
  double most = 0;
  for (int64_t i = 0; i < n; i++)
    if (isfinite(x[i])) most = fmax(most, fabs(x[i]));
  return most;
}

double fuzz_largest(const tc_tensor *x) {
  double most = 0;
  TC_SCOPE most = largest(flat(x), tc_numel(x));
  return most;
}

/* The most that changed operands do to element i; infinity: it may be anything. */
static double change_of(const body_elements *e, int64_t i) {
  if (!e->as_is) return 0;
  const double b = e->as_is[i];
  double most = 0;
  for (int k = 0; k < FUZZ_SAMPLES; k++) {
    const double q = e->changed[k] ? e->changed[k][i] : b;
    if (isnan(b) != isnan(q) || isinf(b) != isinf(q)) return INFINITY;
    if (isfinite(b)) most = fmax(most, fabs(b - q));
  }
  return most;
}

/* In f64 too: the body may round the changes away, and kernels that sum in another order may not
 * (exp(88 + 1 ulp)). */
static double change_at(const elements *e, int64_t i) {
  return fmax(change_of(&e->body, i), change_of(&e->wide, i));
}

/* Of any element: a value that was cut off (relu) changes where kernels have another sign. */
static double most_change(const elements *e) {
  double most = 0;
  for (int64_t i = 0; i < e->n; i++) {
    const double change = change_at(e, i);
    if (isfinite(change)) most = fmax(most, change);
  }
  return most;
}

/* May kernels overflow where the body gives b?  Where what is allowed leaves the range of the dtype,
 * and where squares leave that of f32, in which those of `coarsest` are computed (var, std, norms), whatever is made
 * of them: a difference from the mean may be some times the deviation. */
static bool may_overflow(const elements *e, tc_dtype coarsest, double b, double more) {
  static const double most[TC_DTYPE_COUNT] = {
      [TC_F64] = DBL_MAX, [TC_F32] = FLT_MAX, [TC_F16] = 65504, [TC_BF16] = 3.38953139e38};
  return fabs(b) + more > most[e->dtype] || (coarsest != TC_F64 && fabs(b) > sqrt(FLT_MAX) / 16);
}

static bool differentiates(const fuzz_case *c) {
  for (int i = 0; i < c->n; i++)
    if (c->in[i].wrt) return true;
  return false;
}

static bool near_enough(const fuzz_case *c, const elements *e, char why[200]) {
  static const double rtol[TC_DTYPE_COUNT] = {
      [TC_F64] = 1e-7, [TC_F32] = 1.3e-6, [TC_F16] = 1e-3, [TC_BF16] = 1.6e-2};
  const tc_dtype coarsest = e->dtype < c->coarsest ? e->dtype : c->coarsest;
  const double scale =
                   fmax(largest(e->body.as_is, e->n), e->before) * (coarsest >= TC_F32 ? 0.1 : 1),
               tol = rtol[coarsest];
  double kernels = 0, body = 0, most = -1;
  bool near = true;
  for (int64_t i = 0; i < e->n; i++) {
    const double a = e->got[i], b = e->body.as_is[i], *w = e->wide.as_is;
    if ((isinf(a) && a == b) || (isnan(a) && isnan(b))) continue; /* f64 may not overflow there */
    if (w) kernels = fmax(kernels, fabs(a - w[i])), body = fmax(body, fabs(b - w[i]));
    if (a == b) continue;
    const bool overflowed = !isfinite(b) && e->unlimited && isfinite(e->unlimited[i]);
    const double target = overflowed ? e->narrowed[i] : b;
    if (most < 0) most = most_change(e);
    const double more = fmax(60 * change_at(e, i), 2 * most);
    if (isinf(more) || a == target || (overflowed && !isfinite(a))) continue;
    if (!isfinite(a) && may_overflow(e, coarsest, b, more)) continue;
    if (fabs(a - target) <= 1e-5 + tol * fmax(fabs(target), scale) + more) continue;
    if (near)
      snprintf(why, 200, "element %lld is %.9g, not %.9g (allowed: %.9g; in f64: %.9g)",
               (long long)i, a, b, more, w ? w[i] : NAN);
    near = false;
  }
  /* Derivatives have more roundings, not all of which were changed. */
  const double factor = differentiates(c) ? 4 : 2;
  return near || (e->wide.as_is && isfinite(kernels) && isfinite(body) && kernels <= factor * body);
}

/* What the function made comes in front of its operands. */
enum { MADE = 1 + FUZZ_OUTPUTS, PARTS = MADE + FUZZ_OPERANDS };

static tc_tensor *part(const outcome *o, int i) {
  return i == 0 ? o->result : i < MADE ? o->output[i - 1] : o->operand[i - MADE];
}

static const char *name_of(int i, char text[20]) {
  if (i == 0) return "the result";
  snprintf(text, 20, i < MADE ? "output %d" : "operand %d", i < MADE ? i - 1 : i - MADE);
  return text;
}

static body_elements elements_of(const body_runs *runs, int i) {
  const tc_tensor *x = part(&runs->as_is, i);
  body_elements e = {.as_is = flat(x)};
  for (int k = 0; k < FUZZ_SAMPLES; k++) {
    const tc_tensor *q = part(&runs->changed[k], i);
    if (q && same_type(q, x)) e.changed[k] = flat(q);
  }
  return e;
}

static bool part_agrees(const fuzz_case *c, int i, const outcome *got, const body_runs *body,
                        const body_runs *wide, const outcome *boundless, char why[200]) {
  const tc_tensor *a = part(got, i), *b = part(&body->as_is, i),
                  *w = wide ? part(&wide->as_is, i) : NULL, *u = boundless ? part(boundless, i) : w;
  snprintf(why, 200, "another dtype or shape");
  if (!same_type(a, b)) return false;
  elements e = {.n = tc_numel(b), .dtype = tc_dtype_of(b)};
  if (i >= MADE) e.before = body->as_is.before[i - MADE];
  if (e.n == 0) return true;
  if (!fuzz_floating(tc_dtype_of(b)) && !c->shared) { /* exact */
    snprintf(why, 200, "integers differ");
    return !tc_item_int(tc_any(tc_ne(a, b), TC_ALL, false));
  }
  e.got = flat(a), e.body = elements_of(body, i);
  if (w && tc_numel(w) == e.n) e.wide = elements_of(wide, i);
  if (u && tc_numel(u) == e.n) {
    e.unlimited = flat(u);
    e.narrowed = flat(tc_cast(u, tc_dtype_of(b)));
  }
  return near_enough(c, &e, why);
}

/* Parts that both outcomes have to have, or neither. */
static bool same_parts(const outcome *got, const outcome *want, char why[200]) {
  char text[20];
  for (int i = 0; i < MADE; i++) {
    if (!part(got, i) == !part(want, i)) continue;
    snprintf(why, 200, "%s: %s, the body %s", name_of(i, text), part(got, i) ? "made" : got->error,
             part(want, i) ? "makes it" : want->error);
    return false;
  }
  snprintf(why, 200, "what was noted differs");
  return got->trace == want->trace;
}

bool fuzz_agree(const fuzz_case *c, const outcome *got, const body_runs *body,
                const body_runs *wide, const outcome *boundless, char why[200]) {
  char what[200], text[20];
  if (!same_parts(got, &body->as_is, why)) return false;
  for (int i = 0; i < (c->writes ? MADE + c->n : MADE); i++) {
    if (!part(got, i) || part_agrees(c, i, got, body, wide, boundless, what)) continue;
    snprintf(why, 200, "%s: %.160s", name_of(i, text), what);
    return false;
  }
  return true;
}

static bool same_bits(const tc_tensor *a, const tc_tensor *b) {
  const int64_t n = tc_numel(a);
  if (!same_type(a, b)) return false;
  if (n && !fuzz_floating(tc_dtype_of(a))) return !tc_item_int(tc_any(tc_ne(a, b), TC_ALL, false));
  const double *x = flat(a), *y = flat(b);
  for (int64_t i = 0; i < n; i++)
    if (memcmp(&x[i], &y[i], sizeof *x) && !(isnan(x[i]) && isnan(y[i]))) return false;
  return true;
}

bool fuzz_equal(const outcome *a, const outcome *b, char why[200]) {
  char text[20];
  if (!same_parts(a, b, why)) return false;
  for (int i = 0; i < MADE + a->n; i++) {
    const tc_tensor *p = part(a, i), *q = part(b, i);
    if (!p || same_bits(p, q)) continue;
    snprintf(why, 200, "%s: other bits", name_of(i, text));
    return false;
  }
  return true;
}

/* The first element of x lies among those of y. */
static bool lies_in(const tc_tensor *x, const tc_tensor *y) {
  const char *low = tc_cdata(y), *high = low, *at = tc_cdata(x);
  for (int i = 0; i < tc_rank(y); i++) {
    const int64_t reach =
        (tc_size(y, i) - 1) * tc_stride(y, i) * (int64_t)tc_dtype_size(tc_dtype_of(y));
    *(reach < 0 ? &low : &high) += reach;
  }
  return tc_numel(x) && tc_numel(y) && low <= at && at <= high;
}

/* The first operand that x lies in, or -1. */
static int home_of(const outcome *o, const tc_tensor *x) {
  for (int i = 0; x && i < o->n; i++)
    if (o->operand[i] && lies_in(x, o->operand[i])) return i;
  return -1;
}

bool fuzz_same_sharing(const outcome *got, const outcome *want, char why[200]) {
  char text[20];
  for (int i = 0; i < MADE; i++) {
    const int mine = home_of(got, part(got, i)), theirs = home_of(want, part(want, i));
    if (mine == theirs) continue;
    snprintf(why, 200, "%s lies in operand %d, the body's in %d (-1: none)", name_of(i, text), mine,
             theirs);
    return false;
  }
  return true;
}
