// An operand that is const and written stays with its statement.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_add_((tc_tensor *)x, x);
  return tc_exp(x);
}

// What ends a segment is told where the rest is a segment of its own, too.
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *y = tc_exp(x), *list[] = {(tc_tensor *)x};
  for (int i = 0; i < 1; i++) tc_add_(list[i], x);
  return y;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  show(g(x));
  return finish();
}
// CHECK-DAG: :6:3: remark: graph break in 'f': 'x' is const and written
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: remark: 'g' compiled: 2 ops in {{[0-9]+}} kernels, 2 segments
// CHECK-DAG: :13:31: remark: graph break in 'g': 'x' is const and written
