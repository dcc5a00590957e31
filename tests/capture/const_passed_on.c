// A const variable that a segment declares and a later one reads.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int k) {
  const int n = k * 2;
  tc_tensor *const h = tc_mul_s(x, n);
  puts("between");
  return tc_add_s(h, n);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 3));
  return finish();
}
// CHECK: remark: 'f' compiled: 2 ops in 2 kernels, 2 segments 
// CHECK-DAG: f {{.*}} 1 0 0 
