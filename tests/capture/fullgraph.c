// fullgraph: a function without a break.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE_WITH("fullgraph") tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return tc_exp(x); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK: remark: 'f' compiled: 1 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
