// A row whose index is known at run time is written straight into the operand; an index that is no row
// of it is left to the body, which says so.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE void f(tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *y TC_SHAPE("f32[M]"), int i) {
  tc_copy_(tc_select(x, 0, i), tc_tanh(y));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *y = tc_randn(TC_DIMS(6), 2, TC_F32);
  f(x, y, 2);
  f(x, y, 0);
  show(x);
  f(x, y, -1);
  show(x);
  f(x, y, 4);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in 1 kernel
// CHECK-DAG: remark: fused {{[0-9]}} operations into kernel tanh_put_1
// CHECK-DAG: f {{.*}} 2 0 2 
