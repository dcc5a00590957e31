// TC_DISABLE: a call that stays a call.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static TC_DISABLE tc_tensor *apart(const tc_tensor *t) { return tc_neg(t); }
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_exp(x);
  tc_tensor *g = apart(h);
  return tc_add(h, g);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK: disable.c:[[#@LINE-11]]:23: remark: 'f' compiled: 1 ops in 1 kernel, 1 segment 
// CHECK: disable.c:[[#@LINE-10]]:18: remark: graph break in 'f': 'apart' is marked TC_DISABLE
// CHECK-DAG: f {{.*}} 1 0 0 
