// A part of an operand is written without being read, and the whole then goes to another operand: both have
// the new contents.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("f32[7,M]"), tc_tensor *y TC_SHAPE("f32[7,M]")) {
  tc_tensor *end = tc_slice(x, 0, -3, 1000, 1);
  tc_fill_(end, 0.5);
  tc_copy_(y, x);
  return end;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(7, 6), 1, TC_F32), *y = tc_randn(TC_DIMS(7, 6), 2, TC_F32);
  show(f(x, y));
  show(x);
  show(y);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in 1 kernel
// CHECK-DAG: f {{.*}} 1 0 0 
