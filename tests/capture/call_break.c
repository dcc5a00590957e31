// A break inside of a helper breaks at its call.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *noisy(const tc_tensor *x) {
  printf("noise\n");
  return tc_exp(x);
}
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_tanh(tc_neg(x));
  tc_tensor *n TC_SHAPE("f32[N,M]") = noisy(h);
  return tc_mul(tc_relu(n), h);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 4 ops in {{[0-9]+}} kernel{{s?}}, 2 segments
// CHECK-DAG: remark: graph break in 'f': 'printf' is called, whose body is not visible in this file
// CHECK-DAG: f {{.*}} 1 0 0 
