// A volatile variable stays.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_exp(x);
  volatile int n = 2;
  return tc_mul_s(h, n);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK: volatile.c:[[#@LINE-11]]:23: remark: 'f' compiled: 1 ops in 1 kernel, 1 segment 
// CHECK: volatile.c:[[#@LINE-10]]:16: remark: graph break in 'f': a volatile variable
// CHECK-DAG: f {{.*}} 1 0 0 
