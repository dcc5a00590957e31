// A slice that is cut off at the end of its axis has another size than the one it is taken to have: what contradicts
// that is left to the body, and no error.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("f32[4]"), int n) {
  tc_tensor *y = tc_exp(x);
  tc_copy_(tc_slice(y, 0, n, n + 3, 1), tc_slice(x, 0, n, n + 2, 1)); // 2 elements each where n is 2
  return y;
}

TC_COMPILE tc_tensor *halves(tc_tensor *x TC_SHAPE("f32[4]"), int n) {
  tc_tensor *part[2];
  tc_split(tc_slice(x, 0, n, n + 3, 1), 2, 0, part); // 2 elements where n is 2
  return tc_sub(tc_exp(part[0]), part[1]);
}
TC_COMPILE tc_tensor *reversed(tc_tensor *x TC_SHAPE("f32[4]"), int n) {
  return tc_mul(tc_slice(x, 0, n + 1, n - 1, -1), tc_slice(x, 0, 0, 2, 1));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4), 1, TC_F32);
  show(f(x, 2));
  show(halves(x, 2));
  for (int n = 1; n < 4; n++) show(reversed(x, n)); // cut off where n is 3
  return finish();
}
// CHECK-DAG: remark: graph break in 'f': tc_copy_: f32[2] does not fit into the tensor that is written
