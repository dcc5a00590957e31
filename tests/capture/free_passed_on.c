// tc_free of a tensor that an earlier segment made.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_exp(x);
  puts("between");
  tc_tensor *r = tc_neg(h);
  tc_free(h);
  return r;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  size_t before = tc_memory().live;
  tc_tensor *r = f(x);
  printf("%d\n", (int)(tc_memory().live - before));
  show(r);
  return finish();
}
// CHECK: remark: 'f' compiled: 2 ops in 2 kernels, 2 segments 
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: f {{.*}} 1 0 0 
