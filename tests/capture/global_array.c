// An element of a global array of tensors.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *weights[3] TC_SHAPE("f32[I,O]");
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,I]")) { return tc_matmul(tc_matmul(x, weights[0]), weights[2]); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  for (int i = 0; i < 3; i++) weights[i] = tc_randn(TC_DIMS(6, 6), 2 + i, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 2 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
