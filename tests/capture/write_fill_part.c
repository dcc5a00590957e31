// A column is filled.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *x TC_SHAPE("f32[N,M]"), double v) {
  tc_fill_(tc_select(x, 1, 2), v);
  return tc_exp(x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 0.25));
  show(x);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
