// Branches on run-time numbers, one in the other.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = tc_neg(x);
  if (n > 0) {
    h = tc_exp(tc_mul_s(h, n));
    if (n > 5) h = tc_log1p(h);
    else h = tc_tanh(h);
  } else {
    h = tc_relu(h);
  }
  return tc_add(h, x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 0));
  show(f(x, 3));
  show(f(x, 8));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 7 ops in {{[0-9]+}} kernel{{s?}}, 6 segments
// CHECK-DAG: remark: graph break in 'f': the branch depends on a value that is not known at build tim
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: f {{.*}} 2 0 0 
// CHECK-DAG: f {{.*}} 3 0 0 
