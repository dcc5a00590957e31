// A loop over an axis of known size.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,3]")) {
  tc_tensor *h = tc_select(x, 1, 0);
  for (int i = 1; i < tc_size(x, 1); i++) h = tc_maximum(h, tc_mul_s(tc_select(x, 1, i), i));
  return h;
}

int main(void) {
  show(f(tc_randn(TC_DIMS(5, 3), 1, TC_F32)));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 7 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
