// A variable that a call changes through its address is read again.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), const char *text) {
  int n = 2;
  tc_tensor *h = tc_mul_s(x, n);
  if (sscanf(text, "%d", &n) != 1) return NULL;
  return tc_mul_s(h, n);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, "7"));
  show(f(x, "z"));
  return finish();
}
// CHECK: 'f' compiled: 2 ops in 2 kernels, 2 segments
// CHECK-DAG: f {{.*}} 2 0 0 
// CHECK-DAG: f {{.*}} 1 0 0 
