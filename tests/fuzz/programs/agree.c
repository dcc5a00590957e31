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
  const double *got, *want, *changed, *wide;
  int64_t n;
} elements;

static double largest(const double *x, int64_t n) {
  double most = 0;
  for (int64_t i = 0; i < n; i++)
    if (isfinite(x[i])) most = fmax(most, fabs(x[i]));
  return most;
}

static bool near_enough(const fuzz_case *c, const elements *e, char why[200]) {
  static const double rtol[TC_DTYPE_COUNT] = {[TC_F64] = 1e-7, [TC_F32] = 1.3e-6, [TC_F16] = 1e-3, [TC_BF16] = 1.6e-2};
  const double scale = largest(e->want, e->n) * (c->coarsest >= TC_F32 ? 0.1 : 1), tol = rtol[c->coarsest];
  double kernels = 0, body = 0;
  bool near = true;
  for (int64_t i = 0; i < e->n; i++) {
    const double a = e->got[i], b = e->want[i], q = e->changed ? e->changed[i] : b;
    if (e->wide) kernels = fmax(kernels, fabs(a - e->wide[i])), body = fmax(body, fabs(b - e->wide[i]));
    if (a == b || (isnan(a) && isnan(b)) || isnan(b) != isnan(q) || isinf(b) != isinf(q)) continue;
    if (fabs(a - b) <= 1e-5 + tol * fmax(fabs(b), scale) + 60 * fabs(b - q)) continue;
    if (near) snprintf(why, 200, "element %lld is %.9g, not %.9g (changed operands: %.9g)", (long long)i, a, b, q);
    near = false;
  }
  return near || (e->wide && isfinite(kernels) && isfinite(body) && kernels <= 2 * body);
}

static bool tensors_agree(const fuzz_case *c, const tc_tensor *got, const tc_tensor *want, const tc_tensor *changed,
                          const tc_tensor *wide, char why[200]) {
  snprintf(why, 200, "another dtype or shape");
  if (!same_type(got, want)) return false;
  elements e = {.n = tc_numel(want)};
  if (e.n == 0) return true;
  if (!fuzz_floating(tc_dtype_of(want))) { /* exact */
    snprintf(why, 200, "integers differ");
    return !tc_item_int(tc_any(tc_ne(got, want), TC_ALL, false));
  }
  e.got = flat(got), e.want = flat(want);
  if (changed && same_type(changed, want)) e.changed = flat(changed);
  if (wide && tc_numel(wide) == e.n) e.wide = flat(wide);
  return near_enough(c, &e, why);
}

bool fuzz_agree(const fuzz_case *c, const outcome *got, const outcome *want, const outcome *changed, const outcome *wide,
                char why[200]) {
  if (!got->result != !want->result) {
    snprintf(why, 200, "%s, the body %s", got->result ? "a result" : got->error, want->result ? "has a result" : want->error);
    return false;
  }
  if (got->result && !tensors_agree(c, got->result, want->result, changed->result, wide->result, why)) return false;
  snprintf(why, 200, "what was noted differs");
  if (got->trace != want->trace) return false;
  for (int i = 0; c->writes && i < c->n; i++)
    if (got->operand[i] && !tensors_agree(c, got->operand[i], want->operand[i], changed->operand[i], wide->operand[i], why)) {
      memmove(why + 21, why, 178);
      memcpy(why, "an operand is wrong: ", 21);
      why[199] = 0;
      return false;
    }
  return true;
}
