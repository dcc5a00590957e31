// A break inside of a loop that could be unrolled.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_exp(x);
  for (int i = 0; i < 2; i++) {
    h = tc_tanh(tc_mul_s(h, 2));
    printf("%d\n", i);
  }
  return tc_neg(h);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 4 ops in {{[0-9]+}} kernel{{s?}}, 3 segments
// CHECK-DAG: remark: graph break in 'f': 'printf' is called, whose body is not visible in this file
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: f {{.*}} 2 0 0 
