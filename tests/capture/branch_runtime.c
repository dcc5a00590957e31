// Both arms of a branch on a run-time number are segments.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), float a) {
  tc_tensor *h;
  if (a > 0) {
    h = tc_mul_s(x, a);
  } else {
    h = tc_exp(x);
  }
  return tc_add(h, x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 2));
  show(f(x, -2));
  return finish();
}
// CHECK: remark: 'f' compiled: 3 ops in 3 kernels, 3 segments 
// CHECK: remark: graph break in 'f': the branch depends
// CHECK-DAG: f {{.*}} 2 0 0 
