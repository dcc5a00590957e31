// A variable that hides another of the same name.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = tc_exp(x);
  {
    tc_tensor *h = tc_neg(x);
    puts("inner");
    if (n) return tc_mul(h, x);
  }
  return tc_add(h, x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 0));
  show(f(x, 1));
  return finish();
}
// CHECK: 'f' compiled: {{.*}} segments
