// The cleanup idiom.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE int f(const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor **out) {
  int status = -1;
  tc_tensor *h = tc_exp(x);
  if (!h) goto cleanup;
  tc_tensor *g = tc_neg(h);
  if (!g) goto cleanup;
  *out = tc_mul(g, x);
  status = 0;
cleanup:
  tc_free(h);
  return status;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *o = NULL;
  printf("%d\n", f(x, &o));
  show(o);
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 3 ops in 1 kernel
// CHECK-DAG: f {{.*}} 1 0 0 
