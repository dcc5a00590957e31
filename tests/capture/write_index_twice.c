// Two rows at run-time indices, which may be the same one: the second write sees the first, and so does
// what is read in between.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *y TC_SHAPE("f32[M]"), int p, int q) {
  tc_copy_(tc_select(x, 0, p), y);
  tc_tensor *total = tc_sum(x, TC_AXES(0), false);
  tc_mul_(tc_select(x, 0, q), tc_exp(y));
  return total;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32), *y = tc_randn(TC_DIMS(6), 2, TC_F32);
  for (int p = 0; p < 4; p++)
    for (int q = 0; q < 4; q++) show(f(x, y, p, q));
  show(x);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 6 ops in 3 kernels
// CHECK-DAG: f {{.*}} 16 0 0 
