#include "agree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "operands.h"

static bool same_type(const tc_tensor *a, const tc_tensor *b) {
  tc_ints p = fuzz_sizes(a), q = fuzz_sizes(b);
  return tc_dtype_of(a) == tc_dtype_of(b) && p.n == q.n && !memcmp(p.v, q.v, sizeof p.v);
}

static const double *flat(const tc_tensor *x) { return tc_cdata(tc_contiguous(tc_cast(x, TC_F64))); }

/* Where the elements of a result are: of the kernels, the body, and the body's two other runs. */
typedef struct elements {
  const double *got, *want, *changed[FUZZ_SAMPLES], *wide;
  int64_t n;
} elements;

static double largest(const double *x, int64_t n) {
  double most = 0;
  for (int64_t i = 0; i < n; i++)
    if (isfinite(x[i])) most = fmax(most, fabs(x[i]));
  return most;
}

/* What the changes of the operands do to element i of the body's result; infinity: it may be anything. */
static double allowance(const elements *e, int64_t i) {
  const double b = e->want[i];
  double most = 0;
  for (int k = 0; k < FUZZ_SAMPLES; k++) {
    const double q = e->changed[k] ? e->changed[k][i] : b;
    if (isnan(b) != isnan(q) || isinf(b) != isinf(q)) return INFINITY;
    if (isfinite(b)) most = fmax(most, fabs(b - q));
  }
  return 60 * most;
}

static bool near_enough(const fuzz_case *c, const elements *e, char why[200]) {
  static const double rtol[TC_DTYPE_COUNT] = {[TC_F64] = 1e-7, [TC_F32] = 1.3e-6, [TC_F16] = 1e-3, [TC_BF16] = 1.6e-2};
  const double scale = largest(e->want, e->n) * (c->coarsest >= TC_F32 ? 0.1 : 1), tol = rtol[c->coarsest];
  double kernels = 0, body = 0;
  bool near = true;
  for (int64_t i = 0; i < e->n; i++) {
    const double a = e->got[i], b = e->want[i];
    if (e->wide) kernels = fmax(kernels, fabs(a - e->wide[i])), body = fmax(body, fabs(b - e->wide[i]));
    if (a == b || (isnan(a) && isnan(b))) continue;
    const double more = allowance(e, i);
    if (isinf(more) || fabs(a - b) <= 1e-5 + tol * fmax(fabs(b), scale) + more) continue;
    if (near) snprintf(why, 200, "element %lld is %.9g, not %.9g (allowed: %.9g)", (long long)i, a, b, more);
    near = false;
  }
  return near || (e->wide && isfinite(kernels) && isfinite(body) && kernels <= 2 * body);
}

static bool tensors_agree(const fuzz_case *c, const tc_tensor *got, const tc_tensor *want,
                          const tc_tensor *const changed[FUZZ_SAMPLES], const tc_tensor *wide, char why[200]) {
  snprintf(why, 200, "another dtype or shape");
  if (!same_type(got, want)) return false;
  elements e = {.n = tc_numel(want)};
  if (e.n == 0) return true;
  if (!fuzz_floating(tc_dtype_of(want))) { /* exact */
    snprintf(why, 200, "integers differ");
    return !tc_item_int(tc_any(tc_ne(got, want), TC_ALL, false));
  }
  e.got = flat(got), e.want = flat(want);
  for (int k = 0; k < FUZZ_SAMPLES; k++)
    if (changed[k] && same_type(changed[k], want)) e.changed[k] = flat(changed[k]);
  if (wide && tc_numel(wide) == e.n) e.wide = flat(wide);
  return near_enough(c, &e, why);
}

/* Result (-1) or operand i of the outcomes. */
static bool part_agrees(const fuzz_case *c, int i, const outcome *got, const outcome *want, const outcome *changed,
                        const outcome *wide, char why[200]) {
  const tc_tensor *q[FUZZ_SAMPLES];
  for (int k = 0; k < FUZZ_SAMPLES; k++) q[k] = i < 0 ? changed[k].result : changed[k].operand[i];
  if (i < 0) return tensors_agree(c, got->result, want->result, q, wide->result, why);
  return tensors_agree(c, got->operand[i], want->operand[i], q, wide->operand[i], why);
}

bool fuzz_agree(const fuzz_case *c, const outcome *got, const outcome *want, const outcome changed[FUZZ_SAMPLES],
                const outcome *wide, char why[200]) {
  if (!got->result != !want->result) {
    snprintf(why, 200, "%s, the body %s", got->result ? "a result" : got->error, want->result ? "has a result" : want->error);
    return false;
  }
  if (got->result && !part_agrees(c, -1, got, want, changed, wide, why)) return false;
  snprintf(why, 200, "what was noted differs");
  if (got->trace != want->trace) return false;
  for (int i = 0; c->writes && i < c->n; i++) {
    char what[160];
    if (!got->operand[i] || part_agrees(c, i, got, want, changed, wide, why)) continue;
    snprintf(what, sizeof what, "%s", why);
    snprintf(why, 200, "operand %d is wrong: %s", i, what);
    return false;
  }
  return true;
}
