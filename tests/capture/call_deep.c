// Calls in calls in calls.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *a(const tc_tensor *x) { return tc_exp(x); }
static tc_tensor *b(const tc_tensor *x) { return tc_mul(a(x), a(tc_neg(x))); }
static inline tc_tensor *c(const tc_tensor *x, int n) { return n > 1 ? tc_add(b(x), a(x)) : b(x); }
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return c(c(x, 1), 2); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 10 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
