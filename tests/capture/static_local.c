// A static local variable.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  static int calls;
  calls++;
  return tc_mul_s(x, calls);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  show(f(x));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 1 ops in 1 kernel
// CHECK-DAG: f {{.*}} 2 0 0 
