// Constant tables inside of functions: also of one that is called, and in the middle of statements.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *stencil(const tc_tensor *x) {
  static const struct { int shift; double weight; } tap[] = {{-1, 0.25}, {0, 0.5}, {1, 0.25}};
  static const double gain = 1.5;
  tc_tensor *sum = tc_zeros_like(x);
  for (size_t i = 0; i < sizeof tap / sizeof *tap; i++)
    sum = tc_add(sum, tc_mul_s(tc_roll(x, tap[i].shift, 0), tap[i].weight));
  return tc_mul_s(sum, gain);
}

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]"), int i) {
  tc_tensor *h = stencil(tc_exp(x));
  static const float offset[3] = {1, 2, 3};
  h = tc_add_s(h, offset[1]);
  return tc_add_s(h, offset[i]);
}

/* At an index known at run time only, the table of another function has no name here. */
static double of(int i) {
  static const double hidden[2] = {4, 5};
  return hidden[i];
// CHECK-DAG: static_table.c:[[#@LINE-1]]:10: remark: 'g' not compiled: which element of 'hidden' is meant is not known at build time, and it cannot be named in front of the statements; declare it outside of the function
}
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N]"), int i) {
  return tc_mul_s(tc_exp(x), of(i));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(24), 1, TC_F32);
  show(f(x, 0));
  show(f(x, 2));
  show(g(x, 1));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: {{.*}}, 2 segments
