// break and continue that depend on run-time numbers.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n, int skip) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < n; i++) {
    if (i == skip) continue;
    h = tc_tanh(h);
    if (i > 5) break;
    h = tc_add(h, x);
  }
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 20, 2));
  return finish();
}
// CHECK: remark: 'f' compiled: 3 ops in 3 kernels, 3 segments 
// CHECK: remark: graph break in 'f': the number of rounds
// CHECK-DAG: f {{.*}} 6 0 0 
// CHECK-DAG: f {{.*}} 5 0 0 
