/* Gradients of the first result, by kernels and by the tape of the body. */
#include <math.h>
#include <stdio.h>

#include "driver.h"

/* The first result and the gradients, owned by the scope; NULL where there is none. */
static void run(onnx_run *r, bool kernels, tc_tensor **y) {
  tc_set_enabled(kernels);
  for (int i = 0; i < r->c->operands; i++)
    if (onnx_is_floating(r->x[i])) tc_requires_grad_(r->x[i], true);
  r->c->call(r->x, y);
  for (int i = 0; i < r->c->operands; i++)
    if (onnx_is_floating(r->x[i])) tc_requires_grad_(r->x[i], false);
  tc_set_enabled(true);
}

/* Is |got - want| within 2e-5 of the largest, or both not finite, everywhere? */
static bool is_close(onnx_run *r, int k, const tc_tensor *got, const tc_tensor *want) {
  if (!got || !want) {
    snprintf(r->why, sizeof r->why, "gradient %d is %s, of the body %s: %s", k,
             got ? "there" : "missing", want ? "there" : "missing",
             tc_error() ? tc_error() : "no message");
    return !got && !want;
  }
  const tc_tensor *a = tc_cast(tc_reshape(got, TC_DIMS(-1)), TC_F64),
                  *b = tc_cast(tc_reshape(want, TC_DIMS(-1)), TC_F64);
  double most = 1;
  for (int64_t i = 0; i < tc_numel(b); i++)
    if (isfinite(tc_at(b, TC_INTS(i)))) most = fmax(most, fabs(tc_at(b, TC_INTS(i))));
  for (int64_t i = 0; i < tc_numel(b); i++) {
    const double is = tc_at(a, TC_INTS(i)), should = tc_at(b, TC_INTS(i));
    if (is == should || (isnan(is) && isnan(should)) || fabs(is - should) <= 2e-5 * most) continue;
    snprintf(r->why, sizeof r->why, "gradient %d, element %lld is %.9g, of the body %.9g", k,
             (long long)i, is, should);
    return false;
  }
  return true;
}

bool onnx_run_gradients(onnx_run *r, bool *one_graph) {
  bool ok = true;
  TC_SCOPE {
    tc_tensor *body[ONNX_MOST + 1] = {NULL}, *kernels[ONNX_MOST + 1] = {NULL};
    run(r, false, body);
    const char *wrong = tc_error();
    if (wrong) ok = (snprintf(r->why, sizeof r->why, "the body: %s", wrong), false);
    const tc_stats before = tc_stats_of(r->c->symbol);
    run(r, true, kernels);
    const tc_stats after = tc_stats_of(r->c->symbol);
    *one_graph = after.hits == before.hits + 1 && after.fallbacks == before.fallbacks;
    for (int k = 0; k <= r->c->gradients && ok; k++)
      ok = (k == 0 && body[0] && kernels[0]) || is_close(r, k - 1, kernels[k], body[k]);
    tc_clear_error();
  }
  return ok;
}
