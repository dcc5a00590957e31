// do
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = tc_neg(x);
  do {
    h = tc_tanh(h);
    n--;
  } while (n > 0);
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 3));
  return finish();
}
// CHECK: remark: 'f' compiled: 2 ops in 2 kernels, 2 segments 
// CHECK-DAG: f {{.*}} 3 0 0 
