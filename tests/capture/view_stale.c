// A view read behind a write to its tensor shows what was written.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *t = tc_transpose(x, 0, 1);
  tc_add_(x, x);
  return tc_exp(t);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: 'f' compiled: 3 ops in 1 kernel [
// CHECK: f {{.*}} 1 0 0 
