// A copy of an operand that was written is itself written in a part; the operand keeps its contents.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("f32[N,M<=40]")) {
  tc_fill_(tc_transpose(x, 0, 1), 2);
  tc_tensor *y = tc_maximum(x, x);
  tc_tensor *part = tc_slice(y, 1, 0, -1, 1);
  tc_mul_(part, part);
  return y;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(5, 6), 1, TC_F32);
  show(f(x));
  show(x);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled:
// CHECK-DAG: f {{.*}} 1 0 0 
