// A written operand that is strided: kernels work on a copy of it, which goes back.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE void f(tc_tensor *x TC_SHAPE("f32[N,3<=M]"), const tc_tensor *y TC_SHAPE("f32[N,3<=M]")) {
  tc_add_(tc_slice(x, 1, 0, 2, 1), tc_slice(y, 1, 1, 3, 1));
}

// What shares memory with x only where x is contiguous: the statements run otherwise.
TC_COMPILE tc_tensor *reshaped(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *rows = tc_contiguous(x);
  tc_neg_(x);
  return tc_add(rows, x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *y = tc_randn(TC_DIMS(4, 6), 2, TC_F32);
  f(tc_transpose(tc_clone(tc_transpose(x, 0, 1)), 0, 1), y);
  tc_tensor *t = tc_transpose(x, 0, 1);
  f(t, tc_transpose(y, 0, 1));
  show(x);
  show(reshaped(x));
  show(reshaped(t));
  show(x);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 2 2 0 
// CHECK-DAG: reshaped {{.*}} 1 0 1 
