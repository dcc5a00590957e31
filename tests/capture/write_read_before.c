// A view taken before a write shows what was written.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *y TC_SHAPE("f32[N,M]")) {
  tc_tensor *t = tc_transpose(x, 0, 1), *row = tc_select(x, 0, 1);
  tc_add_(x, y);
  tc_copy_(row, tc_select(y, 0, 0));
  return tc_mul_s(t, 2);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *y = tc_randn(TC_DIMS(4, 6), 2, TC_F32);
  show(f(x, y));
  show(x);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 6 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
