// A break inside of TC_SCOPE: what is kept outlives it, what is not is freed.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    tc_tensor *a = tc_exp(x);
    puts("between");
    y = tc_keep(tc_log1p(a));
  }
  return tc_neg(y);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  size_t before = tc_memory().live;
  tc_tensor *r = f(x);
  show(r);
  (void)before;
  return finish();
}
// CHECK: 'f' compiled: 3 ops in 3 kernels, 3 segments
// CHECK-DAG: f {{.*}} 1 0 0 
