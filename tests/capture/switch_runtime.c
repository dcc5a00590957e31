// Cases of a switch on a run-time number.
// RUN: %capture -Wno-implicit-fallthrough > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int k) {
  tc_tensor *h = tc_abs(x);
  switch (k) {
  case 0:
    h = tc_exp(h);
    break;
  case 1:
    h = tc_neg(h);
  case 2:
    h = tc_sin(h);
    break;
  default:
    return tc_cos(h);
  }
  return tc_add(h, x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  for (int k = 0; k < 4; k++) show(f(x, k));
  return finish();
}
// CHECK: remark: 'f' compiled: 6 ops in {{[0-9]+}} kernels, 6 segments 
// CHECK: remark: graph break in 'f': the switch depends
// CHECK-DAG: f {{.*}} 4 0 0 
