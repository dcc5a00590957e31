// A loop of known count is unrolled.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < 4; i++) h = tc_add_s(h, i);
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 5 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
