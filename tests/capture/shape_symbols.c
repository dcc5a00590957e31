// Sizes that are bounded, and multiples, in front of and behind a break.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N<=8,M%3]")) {
  tc_tensor *h = tc_exp(x);
  puts("between");
  return tc_reshape(tc_mul_s(h, 2), TC_DIMS(tc_size(h, 0), 3, tc_size(h, 1) / 3));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  show(f(tc_ones(TC_DIMS(9, 6), TC_F32)));
  return finish();
}
// CHECK: 'f' compiled: {{.*}} 2 segments
// CHECK: f {{.*}} above a range 1
