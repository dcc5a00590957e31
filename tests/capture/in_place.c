// Writes in place, across a break.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE void f(tc_tensor *acc TC_SHAPE("f32[N,M]"), const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_add_(acc, x);
  puts("between");
  tc_mul_(acc, x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *a = tc_clone(x);
  f(a, x);
  show(a);
  return finish();
}
// CHECK: remark: 'f' compiled: 2 ops in 2 kernels, 2 segments 
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: f {{.*}} 1 0 0 
