// The sizes of one tensor, all at once, are those of others: symbolic, and a list that can be changed.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *like(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *y TC_SHAPE("f32[N*M]")) {
  tc_tensor *zero = tc_zeros(tc_shape(x), TC_F32);
  return tc_add(tc_add(x, zero), tc_mul(tc_reshape(y, tc_shape(x)), tc_rand(tc_shape(zero), 3, TC_F32)));
}

TC_COMPILE tc_tensor *changed(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_ints dims = tc_shape(x);
  dims.v[1] = 2 * dims.v[1] + dims.n;
  return tc_mul_s(tc_ones(dims, TC_F32), (double)(tc_shape(x).v[0] - tc_shape(x).n));
}

TC_COMPILE tc_tensor *scalar(const tc_tensor *x TC_SHAPE("f32[]")) { return tc_add(tc_full(tc_shape(x), 2, TC_F32), x); }

TC_COMPILE tc_tensor *not_known(const tc_tensor *x) { return tc_zeros(tc_shape(x), TC_F32); }

int main(void) {
  TC_SCOPE {
    show(like(tc_randn(TC_DIMS(4, 6), 1, TC_F32), tc_randn(TC_DIMS(24), 2, TC_F32)));
    show(like(tc_randn(TC_DIMS(0, 6), 1, TC_F32), tc_randn(TC_DIMS(0), 2, TC_F32)));
    show(changed(tc_randn(TC_DIMS(5, 3), 1, TC_F32)));
    show(scalar(tc_full(TC_SCALAR_SHAPE, 5, TC_F32)));
    show(not_known(tc_randn(TC_DIMS(5, 3), 1, TC_F32)));
  }
  return finish();
}
// CHECK-DAG: remark: 'like' compiled: {{[0-9]+}} ops in 1 kernel [
// CHECK-DAG: remark: 'changed' compiled: 2 ops in 1 kernel [
// CHECK-DAG: remark: 'scalar' compiled: 2 ops in 1 kernel [
// CHECK-DAG: like {{.*}} 2 0 0
// CHECK-DAG: changed {{.*}} 1 0 0
// CHECK-DAG: scalar {{.*}} 1 0 0
