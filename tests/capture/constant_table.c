// Elements of a constant table of numbers are constants.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static const double taps[3] = {0.5, 0.25, -1};
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *sum = tc_mul_s(x, taps[0]);
  for (int i = 1; i < 3; i++) sum = tc_add(sum, tc_mul_s(tc_exp(x), taps[i]));
  return sum;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 7 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
