// A slice that is cut off at the end of its axis has another size than the one it is taken to have: what contradicts
// that is left to the body, and no error.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("f32[4]"), int n) {
  tc_tensor *y = tc_exp(x);
  tc_copy_(tc_slice(y, 0, n, n + 3, 1), tc_slice(x, 0, n, n + 2, 1)); // 2 elements each where n is 2
  return y;
}

int main(void) {
  show(f(tc_randn(TC_DIMS(4), 1, TC_F32), 2));
  return finish();
}
// CHECK-DAG: remark: graph break in 'f': tc_copy_: f32[2] does not fit into the tensor that is written
