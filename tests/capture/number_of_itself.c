// Numbers that are computed of themselves, twice in each round: their text does not double with the rounds.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

/* Numbers of the program: the rounds are segments, between which they are variables. */
TC_COMPILE tc_tensor *momentum(const tc_tensor *x TC_SHAPE("f32[N]"), double t) {
  tc_tensor *y = tc_clone(x);
  for (int i = 0; i < 40; i++) {
    double next = (1 + sqrt(1 + 4 * t * t)) / 2;
    y = tc_add(y, tc_mul_s(x, (t - 1) / next));
    t = next;
  }
  return y;
}

/* Numbers of tensors are read from the kernels. */
TC_COMPILE double rotations(const tc_tensor *x TC_SHAPE("f64[N]"), tc_tensor **out) {
  double c = tc_item(tc_mean(tc_cos(x), TC_ALL, false)), s = tc_item(tc_mean(tc_sin(x), TC_ALL, false));
  for (int i = 0; i < 30; i++) {
    double r = sqrt(c * c + s * s), t = (c * c - s * s) / r;
    s = 2 * c * s / r;
    c = t;
  }
  *out = tc_mul_s(x, c);
  return c - s;
}

int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(6), 1, TC_F32), *o;
    show(momentum(x, 1));
    printf("%.4f\n", rotations(tc_cast(x, TC_F64), &o));
    show(o);
  }
  return finish();
}
// CHECK-DAG: graph break in 'momentum': a number is computed of itself too often to be written as one expression
// CHECK-DAG: remark: 'momentum' compiled: {{[0-9]+}} ops in {{[0-9]}} kernels, 2 segments
// CHECK-DAG: remark: 'rotations' compiled: {{[0-9]+}} ops in
// CHECK-DAG: rotations {{.*}} 1 0 0 
