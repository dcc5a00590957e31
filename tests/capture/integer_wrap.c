// Unsigned arithmetic wraps as in C.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), unsigned n, unsigned char c) {
  return tc_add_s(tc_mul_s(x, n - 5u), (unsigned char)(c + 250));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 7, 9));
  show(f(x, 6, 1));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 2 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 2 0 0 
