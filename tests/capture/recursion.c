// Recursion that unwinds by constants.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *power(const tc_tensor *t, int n) { return n == 1 ? tc_abs(t) : tc_mul(t, power(t, n - 1)); }
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return power(x, 5); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 5 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
