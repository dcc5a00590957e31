// tc_print shows what the segment made.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_exp(tc_mul_s(x, 0));
  tc_print(h);
  return tc_neg(h);
}

int main(void) {
  show(f(tc_randn(TC_DIMS(1, 2), 1, TC_F32)));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in {{[0-9]+}} kernel{{s?}}, 2 segments
// CHECK-DAG: remark: graph break in 'f': 'tc_print' works on finished tensors
// CHECK-DAG: f {{.*}} 1 0 0 
