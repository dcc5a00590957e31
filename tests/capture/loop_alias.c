// A parameter under another name in front of a loop of unknown count: what it is stays known in the loop.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *a TC_SHAPE("f32[N,N]"), const tc_tensor *start TC_SHAPE("f32[N]"), int steps) {
  const tc_tensor *v = start;
  for (int s = 0; s < steps; s++) {
    tc_tensor *w = tc_matmul(a, v);
    v = tc_div(w, tc_sqrt(tc_sum(tc_square(w), TC_ALL, false)));
  }
  return tc_clone(v);
}

int main(void) {
  tc_tensor *a = tc_randn(TC_DIMS(8, 8), 1, TC_F32), *v = tc_randn(TC_DIMS(8), 2, TC_F32);
  for (int steps = 0; steps < 4; steps++) show(f(a, v, steps));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 6 ops in 2 kernels, 2 segments
// CHECK-DAG: f {{.*}} 6 0 0 
// CHECK-DAG: f {{.*}} 4 0 0 
