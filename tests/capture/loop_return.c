// A loop of unknown count that returns.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < n; i++) {
    h = tc_tanh(tc_add(h, x));
    if (i == 2) return tc_exp(h);
  }
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 2));
  show(f(x, 5));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 4 ops in {{[0-9]+}} kernel{{s?}}, 3 segments
// CHECK-DAG: remark: graph break in 'f': the number of rounds of the loop depends on a value that is
// CHECK-DAG: remark: graph break in 'f': the branch depends on a value that is not known at build tim
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: f {{.*}} 2 0 0 
// CHECK-DAG: f {{.*}} 5 0 0 
