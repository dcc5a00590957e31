// The body of a loop with declarations that live for one round.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < n; i++) {
    tc_tensor *a = tc_sin(h), *b = tc_cos(h);
    h = tc_add(a, b);
  }
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 5));
  return finish();
}
// CHECK: remark: 'f' compiled: 4 ops in 2 kernels, 2 segments 
// CHECK: remark: graph break in 'f': the number of rounds
// CHECK-DAG: f {{.*}} 5 0 0 
