// A branch on a number read from a tensor breaks, behind the segment that computes it.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  double m = tc_item(tc_max(x, TC_ALL, false));
  if (m > 100) return tc_neg(x);
  return tc_mul_s(x, m);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK: remark: 'f' compiled: 4 ops in {{[0-9]}} kernels, 3 segments 
// CHECK: remark: graph break in 'f': the branch depends
// CHECK-DAG: f {{.*}} 1 0 0 
