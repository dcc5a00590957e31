/* Along a random direction v, the result changes by the sum of gradient times v.  The derivative is extrapolated from
 * differences of two widths, whose distance says how far it can be trusted. */
#include "differences.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "agree.h"
#include "operands.h"
#include "rounding.h"

enum { USUAL = 0, N = 3 }; /* the first run of the driver */

/* The result where operand k is moved by h in direction v, and the gradients.  rounding: how results of ops are
 * changed, 0: not. */
static double result_at(const fuzz_case *c, int k, const tc_tensor *v, double h, uint64_t rounding,
                        tc_tensor *out[FUZZ_OUTPUTS]) {
  tc_tensor *x[FUZZ_OPERANDS];
  for (int i = 0; i < c->n; i++) {
    x[i] = fuzz_operand_of(&c->in[i], USUAL, i, DOUBLE, AS_IS, 0);
    if (i == k && h != 0) x[i] = tc_add(x[i], tc_mul_s(v, h));
    if (c->in[i].wrt) tc_requires_grad_(x[i], true);
  }
  for (int i = 0; i < FUZZ_OUTPUTS; i++) out[i] = NULL;
  tc_set_enabled(false);
  tc_set_grad_enabled(true);
  fuzz_change_roundings(rounding);
  const tc_tensor *y = c->run(x, out, 0.75, N);
  fuzz_change_roundings(0);
  tc_set_grad_enabled(false);
  tc_set_enabled(true);
  tc_clear_error();
  return y && tc_dtype_of(y) == TC_F64 ? tc_item(y) : NAN;
}

/* The derivative along v by the gradient. */
static double along_gradient(const tc_tensor *gradient, const tc_tensor *v) {
  return gradient ? tc_item(tc_sum(tc_mul(gradient, v), TC_ALL, false)) : NAN;
}

/* How much the derivative by the gradient, which is `found`, changes with roundings of what the program computes:
 * terms of second derivatives may cancel but for those. */
static double roundings_of(const fuzz_case *c, int k, int at, const tc_tensor *v, double found) {
  tc_tensor *out[FUZZ_OUTPUTS];
  double most = 0;
  for (uint64_t sample = 0; sample < FUZZ_SAMPLES && isfinite(most); sample++) {
    result_at(c, k, v, 0, 1 + 1000 * sample, out);
    const double off = fabs(along_gradient(out[at], v) - found);
    most = isfinite(off) ? fmax(most, off) : INFINITY;
  }
  return most;
}

/* distance: of the two differences; kink: of the slopes on both sides of y; change: of the gradient
 * between the points. */
typedef struct slope {
  double is, distance, kink, change;
} slope;

static slope slope_of(const fuzz_case *c, int k, int at, const tc_tensor *v, double h, double y) {
  tc_tensor *out[FUZZ_OUTPUTS];
  double d[2], largest = 0, kink = 0, change = 0;
  for (int i = 0; i < 2; i++) {
    const double step = i ? h / 2 : h, high = result_at(c, k, v, step, 0, out),
                 right = along_gradient(out[at], v), low = result_at(c, k, v, -step, 0, out),
                 left = along_gradient(out[at], v);
    change = fmax(change, fabs(right - left));
    d[i] = (high - low) / (2 * step);
    kink = fabs(high + low - 2 * y) / step;
    largest = fmax(largest, fmax(fabs(high), fabs(low)));
  }
  return (slope){(4 * d[1] - d[0]) / 3, fabs(d[1] - d[0]) + 100 * DBL_EPSILON * largest / h, kink,
                 change};
}

/* Of operand k, whose gradient is output `at`. */
static fuzz_verdict along(const fuzz_case *c, int k, int at, double h, char why[200]) {
  tc_ints dims = {c->in[k].rank, {0}};
  for (int i = 0; i < dims.n; i++) dims.v[i] = c->in[k].dim[USUAL][i];
  tc_tensor *out[FUZZ_OUTPUTS], *v = tc_sub_s(tc_mul_s(tc_rand(dims, 77, TC_F64), 2), 1);
  const double y = result_at(c, k, v, 0, 0, out);
  if (!isfinite(y) || !out[at] || tc_dtype_of(out[at]) != TC_F64) return FUZZ_UNKNOWN;
  const tc_tensor *part = tc_mul(out[at], v);
  const double found = tc_item(tc_sum(part, TC_ALL, false)),
               size = tc_item(tc_sum(tc_abs(part), TC_ALL, false));
  const slope s = slope_of(c, k, at, v, h, y);
  const double scale = fmax(size, fabs(s.is)), off = fabs(found - s.is);
  if (!(s.distance <= 1e-3 * scale + 1e-9) || !isfinite(found)) return FUZZ_UNKNOWN;
  if (off <= 1e-6 * scale + 10 * s.distance + 1e-9) return FUZZ_AS_GRADIENTS;
  if (off <= s.kink || off <= 4 * s.change || size * h > 1e3 * (1 + fabs(y)))
    return FUZZ_UNKNOWN; /* no derivative, or none so near */
  if (off <= 10 * roundings_of(c, k, at, v, found)) return FUZZ_UNKNOWN;
  snprintf(why, 200, "gradient %d gives %.12g, differences %.12g +- %.2g (kink %.2g)", at, found,
           s.is, s.distance, s.kink);
  return FUZZ_NOT_AS_GRADIENTS;
}

/* Wrong where differences of each width say so: one may lie across a kink. */
static fuzz_verdict of_operand(const fuzz_case *c, int k, int at, char why[200]) {
  static const double width[] = {1e-5, 1e-4, 1e-6};
  fuzz_verdict v = FUZZ_NOT_AS_GRADIENTS;
  for (int i = 0; i < 3 && v == FUZZ_NOT_AS_GRADIENTS; i++)
    TC_SCOPE v = along(c, k, at, width[i], why);
  return v;
}

fuzz_verdict fuzz_differences(const fuzz_case *c, char why[200]) {
  fuzz_verdict all = FUZZ_UNKNOWN;
  for (int k = 0, at = 0; k < c->n; k++) {
    if (!c->in[k].wrt) continue;
    const fuzz_verdict v = of_operand(c, k, at++, why);
    if (v == FUZZ_NOT_AS_GRADIENTS) return v;
    if (v == FUZZ_AS_GRADIENTS) all = v;
  }
  return all;
}
