// A written tensor that overlaps another operand: the statements run.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE void f(tc_tensor *acc TC_SHAPE("f32[N,M]"), const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_add_(acc, tc_mul(x, x));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  f(x, x);
  show(x);
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 2 ops in 1 kernel 
// CHECK: f {{.*}} overlap 1
