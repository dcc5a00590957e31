// A call between two runs of statements: two segments, the tensor passes on.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_exp(tc_neg(x));
  puts("between");
  return tc_mul(h, x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK: remark: 'f' compiled: 3 ops in 2 kernels, 2 segments 
// CHECK: remark: graph break in 'f': 'puts' is called
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: f {{.*}} 1 0 0 
