// Arms without braces.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), float a) {
  if (a > 0) return tc_mul_s(x, a);
  else if (a < -1) return tc_exp(x);
  return tc_add(x, x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 2));
  show(f(x, -2));
  show(f(x, -.5f));
  return finish();
}
// CHECK: remark: 'f' compiled: 3 ops in 3 kernels, 3 segments 
// CHECK-DAG: f {{.*}} 1 0 0 
