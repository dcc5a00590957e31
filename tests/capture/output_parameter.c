// tc_copy_ into memory of the caller.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE void f(tc_tensor *out TC_SHAPE("f32[N,M]"), const tc_tensor *x TC_SHAPE("f32[N,M]")) { tc_copy_(out, tc_exp(x)); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *o = tc_zeros(TC_DIMS(4, 6), TC_F32);
  f(o, x);
  show(o);
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 2 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
