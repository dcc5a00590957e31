// A loop of known count with too many operations: its body is compiled instead.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < 3000; i++)
    h = tc_tanh(tc_add(h, x));
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK: remark: 'f' compiled: 3 ops in 2 kernels, 2 segments 
// CHECK: remark: graph break in 'f': the loop makes more than 2048 operations; its body is compiled instead
// CHECK-DAG: f {{.*}} 3000 0 0 
