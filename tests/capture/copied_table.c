// Tensors made of constant tables that are declared behind other statements, or in a function that is called.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *weighted(const tc_tensor *x) {
  static const float weights[] = {0.1f, 0.7f, -3e-9f, 1e30f};
  return tc_mul(x, tc_from(TC_DIMS(4), weights, TC_F32));
}

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,4]")) {
  tc_tensor *h = weighted(tc_exp(x));
  static const float offset[] = {1, 2, 3, 4};
  static const int64_t order[][2] = {{0, 1}, {1, 0}};
  h = tc_add(h, tc_from(TC_DIMS(4), offset, TC_F32));
  return tc_index_select(h, 0, tc_from(TC_DIMS(2), order[1], TC_I64));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(3, 4), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK: remark: 'f' compiled: 7 ops in
// CHECK-NOT: segments
