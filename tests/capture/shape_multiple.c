// A size that is no multiple: the statements run.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M%4]")) { return tc_sum(tc_reshape(x, TC_DIMS(-1, 4)), TC_AXES(1), false); }

int main(void) {
  show(f(tc_randn(TC_DIMS(3, 8), 1, TC_F32)));
  show(f(tc_randn(TC_DIMS(4, 6), 1, TC_F32)));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 2 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 1 
