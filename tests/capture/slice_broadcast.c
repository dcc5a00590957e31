// A size known at run time only that cannot be the other one is 1 and broadcasts; where it can be either, it is the
// other one, and 1 has a variant where one is asked for.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *one_of_two(const tc_tensor *x TC_SHAPE("f32[N,7]"), const tc_tensor *w TC_SHAPE("f32[N,2]"), int n) {
  return tc_mul(x, tc_slice(w, 1, 0, n, 1));
}
TC_COMPILE tc_tensor *one_at_most(const tc_tensor *x TC_SHAPE("f32[N,7]"), const tc_tensor *w TC_SHAPE("f32[N,1]"), int n) {
  return tc_mul(x, tc_slice(w, 1, 0, n, 1));
}
TC_COMPILE tc_tensor *between(const tc_tensor *x TC_SHAPE("f32[N,7]"), const tc_tensor *w TC_SHAPE("f32[N,2]"), int n, int m) {
  return tc_mul(tc_slice(w, 1, n, m, 1), x);
}
TC_COMPILE tc_tensor *few_rows(const tc_tensor *x TC_SHAPE("f32[N>=3,7]"), const tc_tensor *w TC_SHAPE("f32[K<=2,7]")) {
  return tc_add(x, w);
}
TC_COMPILE tc_tensor *filled(const tc_tensor *x TC_SHAPE("f32[N,7]"), const tc_tensor *w TC_SHAPE("f32[N,2]"), int n) {
  tc_tensor *y = tc_clone(x);
  tc_copy_(y, tc_slice(w, 1, 0, n, 1));
  return tc_add(y, x);
}
TC_COMPILE TC_SPECIALIZE("n=1") tc_tensor *either(const tc_tensor *x TC_SHAPE("f32[N,7]"), const tc_tensor *w TC_SHAPE("f32[N,7]"), int n) {
  return tc_mul(x, tc_slice(w, 1, 0, n, 1));
}
TC_COMPILE TC_SPECIALIZE("K=1") tc_tensor *rows(const tc_tensor *x TC_SHAPE("f32[N,7]"), const tc_tensor *w TC_SHAPE("f32[K,7]")) {
  return tc_mul(x, w);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(3, 7), 1, TC_F32), *w = tc_randn(TC_DIMS(3, 2), 2, TC_F32);
  for (int n = -1; n < 3; n++) {
    show(one_of_two(x, w, n));
    show(one_at_most(x, tc_slice(w, 1, 0, 1, 1), n));
    show(between(x, w, n, n + 1));
    show(filled(x, w, n));
    tc_clear_error();
  }
  for (int k = 1; k < 4; k++) show(few_rows(x, tc_slice(x, 0, 0, k, 1))), tc_clear_error();
  for (int n = 1; n < 8; n += 6) show(either(x, x, n));
  for (int k = 1; k < 4; k += 2) show(rows(x, tc_slice(x, 0, 0, k, 1)));
  return finish();
}
// CHECK-DAG: remark: 'one_of_two' compiled: 2 ops
// CHECK-DAG: remark: 'between' compiled: 2 ops
// CHECK-DAG: remark: 'few_rows' compiled: 1 ops
// CHECK-DAG: remark: 'filled' compiled: 4 ops
// CHECK-DAG: one_of_two {{.*}} 1 {{ *}}0 {{ *}}3
// CHECK-DAG: one_at_most {{.*}} 2 {{ *}}2 {{ *}}2
// CHECK-DAG: between {{.*}} 2 {{ *}}0 {{ *}}2
// CHECK-DAG: few_rows {{.*}} 1 {{ *}}0 {{ *}}2
// CHECK-DAG: either {{.*}} 1 {{ *}}0 {{ *}}0
// CHECK-DAG: either [n=1] {{.*}} 1 {{ *}}0 {{ *}}0
// CHECK-DAG: rows {{.*}} 1 {{ *}}0 {{ *}}0
// CHECK-DAG: rows [K=1] {{.*}} 1 {{ *}}0 {{ *}}0
