// A member without TC_SHAPE: refused with advice.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct layer { tc_tensor *w; };
TC_COMPILE tc_tensor *f(const struct layer *l, const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_exp(x);
  return tc_mul(h, l->w);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  struct layer l = {x};
  show(f(&l, x));
  return finish();
}
// CHECK: remark: 'f' compiled: 1 ops in 1 kernel, 1 segment 
// CHECK: remark: graph break in 'f': member 'l->w' has no TC_SHAPE, so its rank is not known; write it behind the member
// CHECK-DAG: f {{.*}} 1 0 0 
