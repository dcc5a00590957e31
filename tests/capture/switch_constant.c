// A switch on a constant, through two labels.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_neg(x);
  switch (sizeof(char)) {
  case 1: h = tc_exp(h); __attribute__((fallthrough));
  case 2: h = tc_tanh(h); break;
  default: h = tc_relu(h);
  }
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 4 ops in {{[0-9]+}} kernel{{s?}}, 4 segments
// CHECK-DAG: f {{.*}} 0 0 0 
// CHECK-DAG: f {{.*}} 1 0 0 
