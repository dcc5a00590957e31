// Empty tensors.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return tc_add(tc_softmax(x, -1), tc_sum(x, TC_AXES(1), true)); }

// A size is known to be 0: addresses have no strides, and loops have axes all the same.
static tc_tensor *either(const tc_tensor *x) { return tc_size(x, -1) == tc_size(x, 0) ? tc_mul(x, tc_sigmoid(x)) : tc_silu(x); }
TC_COMPILE tc_tensor *none(const tc_tensor *x TC_SHAPE("f64[M,7,7,2*M]"), const tc_tensor *c TC_SHAPE("f64[7]")) {
  tc_tensor *h = either(x);
  h = tc_mul_s(h, tc_item(tc_tanh(tc_sum(h, TC_ALL, false))));
  return tc_neg(tc_batch_norm(h, c, c, NULL, c, 1e-3));
}

int main(void) {
  show(f(tc_zeros(TC_DIMS(0, 3), TC_F32)));
  show(f(tc_zeros(TC_DIMS(3, 0), TC_F32)));
  for (int m = 0; m < 2; m++) show(none(tc_zeros(TC_DIMS(m, 7, 7, 2 * m), TC_F64), tc_ones(TC_DIMS(7), TC_F64)));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 1 
