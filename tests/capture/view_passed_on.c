// A view that lives across a break shares memory with its tensor.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_exp(x), *v = tc_select(h, 0, 1);
  puts("between");
  tc_add_(h, x);
  return tc_concat((const tc_tensor *[]){tc_flatten(h, 0, 1), v}, 2, 0);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK: 'f' compiled: {{.*}} 2 segments
// CHECK-DAG: f {{.*}} 1 0 0 
