// A choice of tensors by a run-time number.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *y TC_SHAPE("f32[N,M]"), int n) {
  const tc_tensor *pick TC_SHAPE("f32[N,M]") = n > 2 ? x : y;
  return tc_exp(pick);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *y = tc_randn(TC_DIMS(4, 6), 2, TC_F32);
  show(f(x, y, 1));
  show(f(x, y, 3));
  return finish();
}
// CHECK: remark: 'f' compiled for n > 2: 1 ops in 1 kernel [
// CHECK: remark: 'f' compiled for !(n > 2): 1 ops in 1 kernel [
// CHECK-DAG: f [n > 2] {{.*}} 1 0 0 
// CHECK-DAG: f [!(n > 2)] {{.*}} 1 0 0 
