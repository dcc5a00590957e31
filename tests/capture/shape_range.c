// A size out of its range: the statements run.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[2<=N<=8,M]")) { return tc_softmax(x, -1); }

int main(void) {
  show(f(tc_randn(TC_DIMS(8, 3), 1, TC_F32)));
  show(f(tc_randn(TC_DIMS(9, 3), 1, TC_F32)));
  show(f(tc_randn(TC_DIMS(1, 3), 1, TC_F32)));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 1 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 2 
