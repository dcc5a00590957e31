// Statements that come out of macros.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

#define TWO(a, b) tc_tensor *a = tc_exp(x); tc_tensor *b = tc_neg(a)
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  TWO(a, b);
  puts("between");
  return tc_add(a, b);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK: 'f' compiled: 3 ops in 2 kernels, 2 segments
