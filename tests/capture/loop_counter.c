// The counter of a loop of unknown count is a number at run time.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < n; i++) {
    h = tc_add_s(h, i * 0.5);
  }
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 4));
  return finish();
}
// CHECK: remark: 'f' compiled: 2 ops in 2 kernels, 2 segments 
// CHECK-DAG: f {{.*}} 4 0 0 
