// A call behind everything, in a function without a result.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE void f(const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor **out) {
  *out = tc_mul(x, x);
  puts("last");
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *o;
  f(x, &o);
  show(o);
  return finish();
}
// CHECK: remark: 'f' compiled: 1 ops in 1 kernel, 1 segment 
// CHECK: remark: graph break in 'f': 'puts'
// CHECK-DAG: f {{.*}} 1 0 0 
