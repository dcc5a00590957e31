// Rows from a run-time position on, as many as another tensor has; ends that a slice would clamp are left
// to the body.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("f32[L,M]"), const tc_tensor *y TC_SHAPE("f32[T,M]"), int64_t at) {
  tc_copy_(tc_slice(x, 0, at, at + tc_size(y, 0), 1), tc_sin(y));
  return tc_sum(tc_slice(x, 0, 0, at + 1, 1), TC_AXES(0), false);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(9, 4), 1, TC_F32), *y = tc_randn(TC_DIMS(3, 4), 2, TC_F32);
  for (int at = 0; at <= 6; at++) show(f(x, y, at));
  show(f(x, tc_slice(y, 0, 0, 0, 1), 4));
  show(x);
  show(f(x, y, 7));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 5 ops in 2 kernels
// CHECK-DAG: f {{.*}} 8 0 1 
