// A branch on what is known is followed, also where a break stands in front.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  int k = 3;
  puts("between");
  if (k == 3) return tc_exp(x);
  return tc_neg(x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK: remark: 'f' compiled: 1 ops in 1 kernel, 1 segment 
// CHECK-DAG: f {{.*}} 1 0 0 
