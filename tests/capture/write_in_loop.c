// Rows are written one after the other in an unrolled loop.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[4,6]")) {
  tc_tensor *h = tc_clone(x);
  for (int i = 1; i < 4; i++) tc_add_(tc_select(h, 0, i), tc_select(h, 0, i - 1));
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 10 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
