// Kernels beside each other whose sizes differ: each has index guards over its own.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"
TC_COMPILE tc_tensor *bags(const tc_tensor *a TC_SHAPE("i64[B,L]"), const tc_tensor *b TC_SHAPE("i64[B,M]"), const tc_tensor *w TC_SHAPE("f32[V,D]"), const tc_tensor *u TC_SHAPE("f32[U,D]"), const tc_tensor *h TC_SHAPE("f32[D,D]")) {
  tc_tensor *x = tc_sum(tc_embedding(w, a), TC_AXES(1), false), *y = tc_sum(tc_embedding(u, b), TC_AXES(1), false);
  return tc_matmul(tc_concat((const tc_tensor *[]){x, y}, 2, 0), h);
}
int main(void) {
  tc_tensor *w = tc_randn(TC_DIMS(5, 4), 1, TC_F32), *u = tc_randn(TC_DIMS(3, 4), 2, TC_F32), *h = tc_randn(TC_DIMS(4, 4), 3, TC_F32);
  tc_tensor *a = tc_arange(5, 0, 1, TC_I64), *b = tc_arange(3, 0, 1, TC_I64);
  show(bags(tc_unsqueeze(a, 0), tc_unsqueeze(b, 0), w, u, h));
  show(bags(tc_unsqueeze(a, 0), tc_zeros(TC_DIMS(1, 0), TC_I64), w, tc_zeros(TC_DIMS(0, 4), TC_F32), h));
  show(bags(tc_unsqueeze(a, 0), tc_zeros(TC_DIMS(1, 1), TC_I64), w, tc_zeros(TC_DIMS(0, 4), TC_F32), h));
  return finish();
}
// CHECK: remark: fused {{.*}}: embedding, sum, 2 times beside each other
// CHECK: bags {{.*}} 2 0 1 index out of range 1
