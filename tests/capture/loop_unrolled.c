// Loops of known count are unrolled.
// RUN: %capture > %t.txt && %check < %t.txt
#include <stdlib.h>

#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < 4; i++) h = tc_add_s(h, i);
  return h;
}

/* Counts that functions of numbers give. */
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N,M]"), unsigned bits) {
  const int n = 16;
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < (int)log2(n); i++) h = tc_add_s(h, i);
  for (int i = 0; i < __builtin_ctz(n) + abs(i - 4) / 4; i++) h = tc_mul_s(h, 1 + __builtin_popcount(i));
  return tc_mul_s(h, __builtin_popcount(bits));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  show(g(x, 19));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 5 ops in 1 kernel 
// CHECK: remark: 'g' compiled: {{[0-9]+}} ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: g {{.*}} 1 0 0 
