// A variable-length array stays, and what stands around it is compiled.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = tc_exp(x);
  int a[n];
  a[n - 1] = 3;
  return tc_mul_s(h, a[n - 1]);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 5));
  return finish();
}
// CHECK: 'f' compiled: {{.*}} segment
// CHECK: remark: graph break in 'f': an array whose length is not constant; give it a constant one, of the most elements that there may be
