// Every other column, from a run-time one on, with a step of either sign.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("f32[N,6]"), const tc_tensor *y TC_SHAPE("f32[N,3]")) {
  tc_copy_(tc_slice(x, 1, 0, 6, 2), y);
  tc_copy_(tc_slice(x, 1, 5, -7, -2), tc_mul_s(y, 2));
  return tc_exp(x);
}

// One sweep of a relaxation: one colour is made of the other.
TC_COMPILE void sweep(tc_tensor *x TC_SHAPE("f32[2*N+1]"), const tc_tensor *n TC_SHAPE("f32[N]")) {
  int64_t size = tc_size(x, 0);
  tc_copy_(tc_slice(x, 0, 1, size, 2), tc_mul_s(tc_add(tc_slice(x, 0, 0, size - 2, 2), tc_slice(x, 0, 2, size, 2)), 0.5));
  (void)n;
}

TC_COMPILE void from(tc_tensor *x TC_SHAPE("f32[N,12]"), const tc_tensor *y TC_SHAPE("f32[N,4]"), int at) {
  tc_add_(tc_slice(x, 1, at, at + 10, 3), y);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32), *z = tc_randn(TC_DIMS(11), 3, TC_F32), *w = tc_randn(TC_DIMS(2, 12), 4, TC_F32);
  show(f(x, tc_randn(TC_DIMS(4, 3), 2, TC_F32)));
  sweep(z, tc_slice(z, 0, 0, 5, 1));
  show(z);
  for (int at = 0; at < 3; at++) from(w, tc_randn(TC_DIMS(2, 4), 5, TC_F32), at);
  show(w);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 6 ops in {{[12]}} kernel{{s?}} [
// CHECK-DAG: remark: 'sweep' compiled
// CHECK-DAG: remark: 'from' compiled: 2 ops in 1 kernel
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: sweep {{.*}} 1 0 0 
// CHECK-DAG: from {{.*}} 3 0 0 
