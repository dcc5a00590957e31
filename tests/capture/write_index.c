// A row whose index is known at run time: the statement stays as it is.
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
  return finish();
}
// CHECK-DAG: remark: 'f' not compiled: a view made by tc_select is written whose place in the tenso
