// Inline assembly.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_exp(x);
  __asm__ volatile("" ::: "memory");
  return tc_neg(h);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 2 ops in {{[0-9]+}} kernel{{s?}}, 2 segments
// CHECK-DAG: remark: graph break in 'f': inline assembly is not captured
// CHECK-DAG: f {{.*}} 1 0 0 
