/* Rows of large products less their maximum: the product is rounded before the maximum is taken off, or
 * e^(x - max x) would overflow by what the rounding left (2^-24 of 5e9 is more than e's exponent takes). */
#include "check.h"

#include <math.h>

#define ROWS TC_SHAPE("f32[N,K]")

TC_COMPILE static tc_tensor *along_rows(const tc_tensor *x ROWS) { return tc_softmax(tc_mul(x, x), -1); }
TC_COMPILE static tc_tensor *along_columns(const tc_tensor *x ROWS) { return tc_softmax(tc_mul(x, x), 0); }
TC_COMPILE static tc_tensor *of_logs(const tc_tensor *x ROWS) { return tc_log_softmax(tc_mul(x, x), -1); }
TC_COMPILE static tc_tensor *sums(const tc_tensor *x ROWS) { return tc_logsumexp(tc_mul(x, x), TC_AXES(1), false); }
TC_COMPILE static tc_tensor *wide(const tc_tensor *x TC_SHAPE("f64[N,K]")) { return tc_softmax(tc_mul(x, x), -1); }
TC_COMPILE static tc_tensor *loss(const tc_tensor *x ROWS, const tc_tensor *t TC_SHAPE("i64[N]")) {
  return tc_cross_entropy(tc_mul(x, x), t, TC_NONE);
}

typedef tc_tensor *function(const tc_tensor *x);

static tc_tensor *target; /* of the loss */
static tc_tensor *loss_of(const tc_tensor *x) { return loss(x, target); }

static void check(const char *name, function *f, const tc_tensor *x) {
  tc_tensor *got = f(x);
  tc_set_enabled(false);
  tc_tensor *want = f(x);
  tc_set_enabled(true);
  CHECK(hits_of(name) == 1 && fallbacks_of(name) <= 1);
  CHECK(tc_item_int(tc_all(tc_isfinite(want), TC_ALL, false)));
  CHECK(tc_allclose(got, want, 1.3e-6, 1e-5));
}

int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_mul_s(tc_randn(TC_DIMS(37, 53), 1, TC_F32), 1e5);
    target = tc_argmax(tc_square(x), TC_AXES(1), false);
    check("along_rows", along_rows, x);
    check("along_columns", along_columns, x);
    check("of_logs", of_logs, x);
    check("sums", sums, x);
    check("loss", loss_of, x);
    check("wide", wide, tc_mul_s(tc_cast(x, TC_F64), 1e5)); /* 2^-53 of 5e19 */
    printf("large_products: finite\n");
  }
  return 0;
}
