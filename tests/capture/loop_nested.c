// Loops in loops.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) h = tc_add_s(tc_tanh(h), i - j);
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 13 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
