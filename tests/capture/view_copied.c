// tc_contiguous of a transposed tensor is a copy: it does not show what is written afterwards.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *returned(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *before = tc_contiguous(tc_transpose(x, 0, 1));
  tc_mul_(x, x);
  return before;
}

TC_COMPILE tc_tensor *used(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *before = tc_contiguous(tc_transpose(x, 0, 1));
  tc_mul_(x, x);
  return tc_exp(before);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(5, 7), 1, TC_F32);
  show(returned(x));
  show(used(x));
  show(x);
  return finish();
}
// CHECK-DAG: remark: 'returned' compiled: 3 ops in 2 kernels
// CHECK-DAG: remark: 'used' compiled: 4 ops in 3 kernels, 2 segments
// CHECK-DAG: returned {{.*}} 1 0 0 
// CHECK-DAG: used {{.*}} 1 0 0 
