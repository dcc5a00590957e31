// TC_SCOPE right behind a loop or a branch, without braces around it.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE void f(tc_tensor *x TC_SHAPE("f32[N]"), int n) {
  for (int i = 0; i < n; i++)
    TC_SCOPE {
      tc_tensor *h = tc_exp(x);
      tc_copy_(x, tc_sub(x, tc_mul_s(h, 0.1)));
    }
  if (n > 2) TC_SCOPE { tc_mul_(x, tc_scalar(2)); }
  else
    for (int i = 0; i < 1; i++) { tc_add_(x, tc_scalar(1)); }
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(24), 1, TC_F32);
  f(x, 3);
  show(x);
  f(x, 1);
  show(x);
  return finish();
}
// CHECK-NOT: not in the file
// CHECK: remark: 'f' compiled: 8 ops in 3 kernels, 3 segments
// CHECK-DAG: f {{.*}} 4 0 0 
// CHECK-DAG: f {{.*}} 1 0 0 
