// Variables of an inner block are gone behind it, also where a goto makes all others live.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *result = NULL, *h = tc_clone(x);
  TC_SCOPE {
    tc_tensor *a = tc_tanh(h);
    h = tc_keep(tc_exp(a));
  }
  if (n > 3) goto out;
  result = tc_neg(h);
out:
  return result;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 1));
  printf("%d\n", !f(x, 4));
  return finish();
}
// CHECK: remark: 'f' compiled: 4 ops in {{.*}}, 2 segments
