// An operand that is const and written stays with its statement.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_add_((tc_tensor *)x, x);
  return tc_exp(x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: :6:3: remark: graph break in 'f': 'x' is const and written
// CHECK-DAG: f {{.*}} 1 0 0 
