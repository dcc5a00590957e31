// A parameter that is an array of tensors.
// RUN: %capture -Wno-error > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *const p[2] TC_SHAPE("f32[N,M]"), const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  return tc_add(tc_mul_s(x, 2), x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *p[2] = {x, x};
  show(f(p, x));
  return finish();
}
// CHECK: remark: 'f' compiled: 2 ops in 1 kernel 
// CHECK: TC_SHAPE stands on 'p', which is not a tensor
// CHECK-DAG: f {{.*}} 1 0 0 
