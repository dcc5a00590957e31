// A part is written from another part of the same tensor.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE void f(tc_tensor *x TC_SHAPE("f32[4,6]")) {
  tc_copy_(tc_slice(x, 1, 0, 4, 1), tc_slice(x, 1, 2, 6, 1));
  tc_add_(tc_select(x, 0, 0), tc_select(x, 0, 3));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  f(x);
  show(x);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 6 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
