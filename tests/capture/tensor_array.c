// A parameter that is an array of tensors; other parameters are not what TC_SHAPE is about.
// RUN: %capture -Wno-error > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *const p[2] TC_SHAPE("f32[N,M]"), const tc_tensor *x TC_SHAPE("f32[N,M]"),
                        int n TC_SHAPE("f32[N]")) {
  return tc_add(tc_mul(p[0], p[1]), tc_mul_s(x, n));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *p[2] = {x, x};
  show(f(p, x, 3));
  return finish();
}
// CHECK: remark: 'f' compiled: 3 ops in 1 kernel 
// CHECK-NOT: 'p'
// CHECK: tensor_array.c:6:{{[0-9]+}}: warning: TC_SHAPE stands on 'n', which is not a tensor
// CHECK-NEXT: int n TC_SHAPE("f32[N]")
// CHECK-NEXT: {{^ +(\| +)?}}^
// CHECK-NOT: 'p'
// CHECK-DAG: f {{.*}} 1 0 0 
