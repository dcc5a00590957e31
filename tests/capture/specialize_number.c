// Integer parameters as sizes: loops over them are unrolled, choices made.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum kind { SUM, PRODUCT };
TC_COMPILE TC_SPECIALIZE("n=3,kind=1") TC_SPECIALIZE("n=2")
tc_tensor *f(const tc_tensor *const *x TC_SHAPE("f32[N]"), unsigned char n, enum kind kind) {
  tc_tensor *h = tc_mul_s(x[0], n);
  for (int i = 1; i < n; i++) h = kind == PRODUCT ? tc_mul(h, x[i]) : tc_add(h, x[i]);
  return tc_exp(h);
}

// The number that counts is that of the call, whatever the body makes of it.
TC_COMPILE TC_SPECIALIZE("n=2") tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N]"), int n) {
  n = n + 1;
  tc_tensor *h = tc_mul_s(x, n);
  if (n > 100) printf("many\n");
  n *= 2;
  return tc_add_s(h, n);
}

int main(void) {
  const tc_tensor *x[4];
  for (int i = 0; i < 4; i++) x[i] = tc_mul_s(tc_randn(TC_DIMS(7), i, TC_F32), 0.5);
  for (int n = 1; n < 5; n++)
    for (int kind = 0; kind < 2; kind++) show(f(x, (unsigned char)n, (enum kind)kind));
  for (int n = 0; n < 5; n++) show(g(x[1], n));
  return finish();
}
// CHECK: remark: 'f' compiled for n=3,kind=1: 4 ops in 1 kernel
// CHECK: remark: 'f' compiled for n=2, kind == 1U: 3 ops in 1 kernel
// CHECK: remark: 'f' compiled for n=2, !(kind == 1U): 3 ops in 1 kernel
// CHECK: remark: 'g' compiled for n=2: 2 ops
// CHECK-DAG: f [n=3,kind=1] {{.*}} 1 0 0 
// CHECK-DAG: g [n=2] {{.*}} 1 0 0 
