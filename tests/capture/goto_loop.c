// A loop made of goto.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = tc_exp(x);
again:
  h = tc_tanh(h);
  if (--n > 0) goto again;
  return tc_neg(h);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 4));
  return finish();
}
// CHECK: remark: graph break in 'f': the branch depends
// CHECK-DAG: f {{.*}} 1 0 0 
