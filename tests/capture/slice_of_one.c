// A slice of one element broadcasts, at a position known at run time, or in an axis that may be too short; where it
// is cut off, the statements run.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *scaled(const tc_tensor *x TC_SHAPE("f32[N,4]"), const tc_tensor *w TC_SHAPE("f32[N,K]"), int n) {
  return tc_mul(x, tc_slice(w, 1, n, n + 1, 1));
}
TC_COMPILE tc_tensor *filled(const tc_tensor *x TC_SHAPE("f32[7]"), const tc_tensor *w TC_SHAPE("f32[K]"), int n) {
  tc_tensor *y = tc_clone(x);
  tc_copy_(y, tc_slice(w, 0, n, n + 1, 1));
  return tc_add(y, x);
}
TC_COMPILE tc_tensor *each(const tc_tensor *x TC_SHAPE("f32[N,K]"), const tc_tensor *w TC_SHAPE("f32[N,K]")) {
  tc_tensor *y = tc_clone(x);
  for (int i = 0; i < 4; i++) y = tc_add(y, tc_mul(w, tc_slice(x, 0, i, i + 1, 1)));
  return y;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(3, 4), 1, TC_F32), *w = tc_randn(TC_DIMS(3, 5), 2, TC_F32);
  tc_tensor *row = tc_randn(TC_DIMS(7), 3, TC_F32), *list = tc_randn(TC_DIMS(5), 4, TC_F32);
  for (int n = -1; n < 6; n++) {
    show(scaled(x, w, n));
    show(filled(row, list, n));
    tc_clear_error();
  }
  for (int n = 0; n < 7; n++) {
    show(each(tc_randn(TC_DIMS(n, 3), 5, TC_F32), tc_randn(TC_DIMS(n, 3), 6, TC_F32)));
    tc_clear_error();
  }
  return finish();
}
// CHECK-DAG: remark: 'scaled' compiled: 2 ops
// CHECK-DAG: remark: 'filled' compiled: 4 ops
// CHECK-DAG: scaled {{.*}} 5 {{ *}}0 {{ *}}2 {{ *}}below a range 2
// CHECK-DAG: filled {{.*}} 5 {{ *}}0 {{ *}}2 {{ *}}below a range 2
// CHECK-DAG: remark: 'each' compiled: 13 ops
// CHECK-DAG: each {{.*}} 3 {{ *}}0 {{ *}}4
