// A size that stands only inside of an expression.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,2*K+2]")) { return tc_mul_s(x, 2); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  show(f(tc_ones(TC_DIMS(2, 5), TC_F32)));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 1 ops in 1 kernel 
// CHECK: f {{.*}} sizes differ 1
