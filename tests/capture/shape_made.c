// New tensors whose sizes come from others.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *ramp = tc_arange(tc_size(x, 1), 0, 1, TC_F32), *mask = tc_ones(TC_DIMS(tc_size(x, 0), 1), TC_F32);
  return tc_mul(tc_add(x, ramp), mask);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 4 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
