// A view taken before a break and written behind it.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *y TC_SHAPE("f32[N,M]")) {
  tc_tensor *row = tc_select(x, 0, 1);
  printf("now\n");
  tc_copy_(row, tc_exp(tc_select(y, 0, 0)));
  return tc_neg(x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *y = tc_randn(TC_DIMS(4, 6), 2, TC_F32);
  show(f(x, y));
  show(x);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 4 ops in {{[0-9]+}} kernel{{s?}}, 1 segment
// CHECK-DAG: remark: graph break in 'f': 'printf' is called, whose body is not visible in this file
// CHECK-DAG: f {{.*}} 0 0 1 
