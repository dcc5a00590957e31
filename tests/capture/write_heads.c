// A tensor is written through a view of it whose axis was split in sizes that only the number of elements relates to it:
// three, heads and their width, of 3*C.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE void gradients(tc_tensor *d TC_SHAPE("f32[B,T,3*C]"), const tc_tensor *q TC_SHAPE("f32[B,H,T,W]"), int64_t heads,
                          int64_t width) {
  tc_tensor *parts = tc_permute(tc_reshape(d, TC_DIMS(tc_size(d, 0), tc_size(d, 1), 3, heads, width)), TC_AXES(2, 0, 3, 1, 4));
  tc_add_(tc_select(parts, 0, 2), q);
  tc_add_(tc_select(parts, 0, 0), tc_mul_s(q, 2));
}

/* The same of one layer of many, with the width of a head computed. */
TC_COMPILE void layer(tc_tensor *d TC_SHAPE("f32[L,B,T,3*C]"), const tc_tensor *q TC_SHAPE("f32[B,H,T,W]"), int c, int heads, int i) {
  tc_tensor *one = tc_select(d, 0, i);
  tc_tensor *parts = tc_reshape(one, TC_DIMS(tc_size(d, 1), tc_size(d, 2), 3, heads, c / heads));
  tc_mul_(tc_permute(tc_select(parts, 2, 1), TC_AXES(0, 2, 1, 3)), q);
}

int main(void) {
  tc_tensor *d = tc_randn(TC_DIMS(2, 5, 36), 1, TC_F32), *q = tc_randn(TC_DIMS(2, 3, 5, 4), 2, TC_F32);
  tc_tensor *many = tc_randn(TC_DIMS(3, 2, 5, 36), 3, TC_F32), *none = tc_zeros(TC_DIMS(0, 5, 36), TC_F32);
  gradients(d, q, 3, 4);
  show(d);
  layer(many, q, 12, 3, 1);
  show(many);
  gradients(none, tc_zeros(TC_DIMS(0, 3, 5, 4), TC_F32), 3, 4);
  show(none);
  gradients(tc_transpose(tc_zeros(TC_DIMS(36, 5, 2), TC_F32), 0, 2), q, 3, 4); /* copied by the reshape: nothing is written */
  layer(many, q, 12, 5, 1);                                                    /* 5 does not divide 12 */
  puts(tc_error());
  tc_clear_error();
  return finish();
}
// CHECK-NOT: graph break
// CHECK-NOT: not compiled
// CHECK-DAG: gradients {{.*}} 2 0 1
// CHECK-DAG: layer {{.*}} 1 0 1
