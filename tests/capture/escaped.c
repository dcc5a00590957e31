// A local variable whose address a call keeps.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static int *kept;
static TC_DISABLE void keep(int *p) { kept = p; }
static TC_DISABLE void change(void) { *kept = 5; }
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  int n = 2;
  keep(&n);
  tc_tensor *h = tc_mul_s(x, n);
  change();
  return tc_mul_s(h, n);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK: 'f' compiled: 2 ops in 2 kernels, 2 segments
// CHECK-DAG: f {{.*}} 1 0 0 
