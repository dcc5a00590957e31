// A loop that changes the shape of what it carries: the statements run.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = tc_exp(x);
  for (int i = 0; i < n; i++)
    h = tc_sum(h, TC_AXES(0), false);
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 2));
  return finish();
}
// CHECK: 'f' compiled: 2 ops in 2 kernels, 2 segments
// CHECK: f {{.*}} another rank 1
