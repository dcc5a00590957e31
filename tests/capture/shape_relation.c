// Sizes that are expressions of others.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,2*K+1]"), const tc_tensor *y TC_SHAPE("f32[N,K]")) {
  return tc_add(tc_slice(x, 1, 0, 2, 1), tc_sum(y, TC_AXES(1), true));
}

int main(void) {
  tc_tensor *y = tc_randn(TC_DIMS(4, 3), 2, TC_F32);
  show(f(tc_randn(TC_DIMS(4, 7), 1, TC_F32), y));
  show(f(tc_randn(TC_DIMS(4, 8), 1, TC_F32), y));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 1 
