// A view of a view of a view is written.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE void f(tc_tensor *x TC_SHAPE("f32[4,6]"), const tc_tensor *y TC_SHAPE("f32[3]")) {
  tc_tensor *t = tc_transpose(x, 0, 1);
  tc_copy_(tc_select(tc_slice(t, 0, 2, 5, 1), 1, -1), tc_exp(y));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  f(x, tc_randn(TC_DIMS(3), 2, TC_F32));
  show(x);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 5 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
