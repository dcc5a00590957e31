// A function without a result that ends without return.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE void f(const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor **a, tc_tensor **b) {
  *a = tc_exp(x);
  *b = tc_neg(*a);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *a, *b;
  f(x, &a, &b);
  show(a);
  show(b);
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 2 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
