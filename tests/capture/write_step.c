// Every other column: the statement stays as it is.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("f32[N,6]"), const tc_tensor *y TC_SHAPE("f32[N,3]")) {
  tc_copy_(tc_slice(x, 1, 0, 6, 2), y);
  return tc_exp(x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, tc_randn(TC_DIMS(4, 3), 2, TC_F32)));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 1 ops in {{[0-9]+}} kernel{{s?}}, 1 segment
// CHECK-DAG: remark: graph break in 'f': a view made by tc_slice is written whose place in the tensor
// CHECK-DAG: f {{.*}} 1 0 0 
