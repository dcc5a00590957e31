// A result that is a view of a parameter shares its memory.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor **out) {
  *out = tc_exp(x);
  return tc_transpose(tc_slice(x, 0, 1, 3, 1), 0, 1);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *o, *v = f(x, &o);
  show(v);
  tc_fill_(x, 3);
  show(v);
  show(o);
  return finish();
}
// CHECK-NOT: graph break
// CHECK: 'f' compiled: 3 ops
// CHECK-DAG: f {{.*}} 1 0 0 
