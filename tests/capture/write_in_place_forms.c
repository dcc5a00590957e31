// The forms in place: with C scalars, of one operand, with masks; of whole tensors and of parts.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE void scalars(tc_tensor *x TC_SHAPE("f32[N,M]"), double s) {
  tc_mul_s_(x, s);
  tc_add_s_(x, 1);
  tc_rsub_s_(x, 4);
  tc_sub_s_(x, 0.25);
  tc_div_s_(x, 3);
  tc_rdiv_s_(tc_add_s_(tc_square_(x), 1), s);
  tc_pow_s_(x, 2);
  tc_maximum_s_(tc_minimum_s_(x, 0.9), 0.1);
}

TC_COMPILE void unary(tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *mask TC_SHAPE("bool[M]")) {
  tc_relu_(x);
  tc_exp_(tc_neg_(x));
  tc_masked_fill_(x, mask, -2);
  tc_clamp_(x, -1, 0.5);
  tc_lerp_(x, tc_cast(mask, TC_F32), 0.25);
}

TC_COMPILE void parts(tc_tensor *x TC_SHAPE("f32[N,M]"), int row) {
  tc_zero_(tc_select(x, 0, row));
  tc_mul_s_(tc_slice(x, 1, 0, 3, 2), 10);
  tc_sigmoid_(tc_select(x, 1, 1));
  tc_maximum_(x, tc_scalar(-1));
}

TC_COMPILE tc_tensor *integers(tc_tensor *x TC_SHAPE("i32[N]"), const tc_tensor *y TC_SHAPE("i64[N]")) {
  tc_mul_s_(x, 3.7); // by 3
  tc_bit_xor_(x, y);
  tc_div_s_(x, 2); // a float, cut off
  tc_shl_(x, tc_scalar(1));
  return tc_floor_div_(x, tc_add_s(y, 1));
}

// A new tensor: nothing is written.
TC_COMPILE tc_tensor *own(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  return tc_tanh_(tc_mul_s_(tc_add_s(x, 1), 2));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 5), 1, TC_F32);
  tc_tensor *mask = tc_gt_s(tc_randn(TC_DIMS(5), 2, TC_F32), 0);
  show(own(x));
  scalars(x, 0.5);
  show(x);
  unary(x, mask);
  show(x);
  parts(x, 2);
  show(x);
  tc_tensor *n = tc_arange(6, -7, 3, TC_I32);
  show(integers(n, tc_arange(6, 3, 5, TC_I64)));
  show(n);
  tc_masked_fill_(x, mask, 7), tc_log_(x), tc_fmod_(n, tc_scalar(4)); // eagerly
  show(x);
  show(n);
  printf("%s %s\n", tc_mul_s_(NULL, 2) ? "" : "NULL", tc_error());
  tc_clear_error();
  printf("%d %s\n", tc_exp_(tc_expand(tc_zeros(TC_DIMS(1), TC_F32), TC_DIMS(3))) == NULL, tc_error());
  tc_clear_error();
  printf("%d %s\n", tc_lerp_(x, tc_zeros(TC_DIMS(3), TC_F32), 2) == NULL, tc_error());
  tc_clear_error();
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'scalars' compiled: 11 ops in 1 kernel
// CHECK: remark: 'unary' compiled: 7 ops in 1 kernel
// CHECK: remark: 'parts' compiled: {{[0-9]+}} ops in
// CHECK: remark: 'integers' compiled: {{[0-9]+}} ops in 1 kernel
// CHECK: remark: 'own' compiled: 3 ops in 1 kernel
// CHECK-DAG: scalars {{.*}} 1 0 0 
// CHECK-DAG: unary {{.*}} 1 0 0 
// CHECK-DAG: parts {{.*}} 1 0 0 
// CHECK-DAG: integers {{.*}} 1 0 0 
