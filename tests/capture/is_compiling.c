// tc_is_compiling folds.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  if (!tc_is_compiling()) fprintf(stderr, "eager\n");
  return tc_exp(x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-NOT: {{^}}eager
// CHECK: remark: 'f' compiled: 1 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
