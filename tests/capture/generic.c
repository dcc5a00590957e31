// _Generic chooses by type.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

#define SCALE(x, s) _Generic((s), int: tc_add_s, double: tc_mul_s)(x, s)
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return SCALE(SCALE(tc_exp(x), 3), 0.5); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
