// NULL checks of operations are known to pass.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_exp(x);
  if (!h) return NULL;
  tc_tensor *g = tc_neg(h);
  if (g == NULL) {
    fprintf(stderr, "failed");
    return NULL;
  }
  return tc_mul(g, h);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 3 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
