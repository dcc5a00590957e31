// Two operands are written, each from the other.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE void f(tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor *y TC_SHAPE("f32[N,M]")) {
  tc_tensor *old = tc_clone(x);
  tc_copy_(x, y);
  tc_copy_(y, old);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *y = tc_randn(TC_DIMS(4, 6), 2, TC_F32);
  f(x, y);
  show(x);
  show(y);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
