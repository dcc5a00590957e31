// Arrays of one length that is known at run time only, all written: each is one operand, though the
// statements say the second one's size another way once the first is an operand.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE_WITH("fullgraph") static bool step(float *position, float *velocity, int64_t n, double dt) {
  tc_tensor *x = tc_wrap(TC_DIMS(n, 1), NULL, position, TC_F32, NULL, NULL);
  tc_tensor *v = tc_wrap(TC_DIMS(n, 1), NULL, velocity, TC_F32, NULL, NULL);
  return tc_sub_(v, tc_mul_s(x, dt)) && tc_add_(x, tc_mul_s(v, dt));
}

int main(void) {
  float x[] = {1, 2, 3, 4, 5}, v[5] = {0};
  for (int i = 0; i < 3; i++) printf("%d\n", step(x, v, 5 - i, 0.25));
  for (int i = 0; i < 5; i++) printf("%g %g\n", (double)x[i], (double)v[i]);
  return finish();
}
// CHECK: step {{.*}} 3 0 0 
