// Empty tensors.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return tc_add(tc_softmax(x, -1), tc_sum(x, TC_AXES(1), true)); }

int main(void) {
  show(f(tc_zeros(TC_DIMS(0, 3), TC_F32)));
  show(f(tc_zeros(TC_DIMS(3, 0), TC_F32)));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 1 
