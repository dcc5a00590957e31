// A loop of unknown count: its body is a segment, called once a round.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < n; i++)
    h = tc_tanh(tc_add(h, x));
  return tc_exp(h);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 5));
  show(f(x, 0));
  return finish();
}
// CHECK: remark: 'f' compiled: 4 ops in 3 kernels, 3 segments 
// CHECK: remark: graph break in 'f': the number of rounds of the loop
// CHECK-DAG: f {{.*}} 5 0 0 
// CHECK-DAG: f {{.*}} 2 0 0 
