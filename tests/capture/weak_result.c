// A result of C numbers alone stays one that does not widen what it meets later.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(double s) { return tc_mul_s(tc_exp(tc_scalar(s)), 2); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F16), *y = tc_add(x, f(0.5));
  printf("%s\n", tc_dtype_name(tc_dtype_of(y)));
  show(y);
  return finish();
}
// CHECK: remark: 'f' compiled: 3 ops in 1 kernel
// CHECK-DAG: f {{.*}} 1 0 0 
