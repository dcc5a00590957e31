// A tensor made here is written in parts.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,6]")) {
  tc_tensor *out = tc_zeros(TC_DIMS(tc_size(x, 0), 12), TC_F32);
  tc_copy_(tc_slice(out, 1, 0, 6, 1), tc_exp(x));
  tc_copy_(tc_slice(out, 1, 6, 12, 1), tc_neg(x));
  return out;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 7 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
