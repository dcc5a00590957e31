// A variable that is initialised from itself: what is put in front cannot name it, and the body runs.
// RUN: %capture -Wno-uninitialized -Wno-init-self > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  int late = n > 0 ? n : late;
  return tc_mul_s(x, late);
}
// CHECK: remark: {{.*}}'f'

int main(void) {
  show(f(tc_rand(TC_DIMS(2, 3), 1, TC_F32), 2));
  return finish();
}
