// What a roll writes back has the size that was there, whatever its pieces add up to.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *w TC_SHAPE("f32[K,3]")) {
  tc_copy_(w, tc_roll(w, 5, 0));
  return tc_neg(w);
}

int main(void) {
  tc_tensor *w = tc_randn(TC_DIMS(4, 3), 1, TC_F32);
  show(f(w)), show(w);
  show(f(tc_randn(TC_DIMS(7, 3), 2, TC_F32)));
  return finish();
}
// CHECK: remark: 'f' compiled: 3 ops
// CHECK-DAG: f {{.*}} 2 0 0
