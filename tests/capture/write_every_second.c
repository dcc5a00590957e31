// A part with a step, computed from elements in another order, is all that there is: an axis of one element.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("i8[K,1]")) {
  tc_tensor *column = tc_slice(x, 1, 0, INT64_MAX, 2);
  tc_add_(tc_flip(column, TC_AXES(0)), x);
  return column;
}

int main(void) {
  tc_tensor *x = tc_cast(tc_reshape(tc_arange(9, 1, 1, TC_I64), TC_DIMS(9, 1)), TC_I8);
  show(f(x));
  show(x);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled:
// CHECK-DAG: f {{.*}} 1 0 0 
