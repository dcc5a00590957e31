// The first n rows, n an int: a size that is known at run time only, and clamps as slices do.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[L,M]"), const tc_tensor *w TC_SHAPE("f32[M,K]"), int n) {
  tc_tensor *rows = tc_slice(x, 0, 0, n, 1);
  return tc_div_s(tc_softmax(tc_matmul(rows, w), 0), (double)tc_size(rows, 0));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(9, 4), 1, TC_F32), *w = tc_randn(TC_DIMS(4, 3), 2, TC_F32);
  for (int n = 1; n <= 11; n++) show(f(x, w, n));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 4 ops in {{[0-9]+}} kernels
// CHECK-DAG: f {{.*}} 11 0 0 
