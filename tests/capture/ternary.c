// Choices between numbers.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int k) { return tc_mul_s(x, k > 2 ? k * 0.5 : sqrt(k + 1.0)); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 3));
  show(f(x, 1));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 1 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 2 0 0 
