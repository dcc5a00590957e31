// Sizes as numbers in arithmetic.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  double n = (double)tc_numel(x), m = 1.0 / (double)tc_size(x, -1);
  return tc_mul_s(tc_div_s(tc_sum(x, TC_ALL, false), n), m + (double)tc_rank(x));
}

// That of a view, computed from the size of an operand and a number of the program.
TC_COMPILE tc_tensor *heads(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = tc_reshape(x, TC_DIMS(tc_size(x, 0), n, tc_size(x, 1) / n));
  if (tc_size(h, -1) % 3) return NULL;
  return tc_mul_s(tc_exp(h), 1 / sqrt((double)tc_size(h, -1)));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  show(heads(x, 2));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: remark: 'heads' compiled: {{[0-9]+}} ops in 1 kernel [
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: heads {{.*}} 1 0 0 
