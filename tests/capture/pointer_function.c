// A constant function pointer, and a table of them.
// RUN: %capture -DTC_NO_LOCATIONS > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *twice(const tc_tensor *t) { return tc_add(t, t); }
typedef tc_tensor *activation(const tc_tensor *);
static activation *const table[] = {tc_relu, twice, tc_tanh};
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  activation *g = twice;
  tc_tensor *h = g(x);
  for (int i = 0; i < 3; i++) h = table[i](h);
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 4 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
