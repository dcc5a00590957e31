// A view that is handed on to code that looks at its layout lies as the body makes it: tc_contiguous copies what
// is flipped or transposed, and shares what is not.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static int rounds;
static __attribute__((noinline)) void note(void) { __asm__ volatile("" : "+m"(rounds)); rounds++; }

TC_COMPILE tc_tensor *flipped(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *y = tc_flip(tc_mul_s(x, 2), TC_AXES(0));
  while (n-- > 0) {
    tc_tensor *z = tc_contiguous(y);
    note();
    tc_add_(z, x); // y where it has one row
  }
  return y;
}
TC_COMPILE tc_tensor *transposed(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *y = tc_transpose(tc_mul_s(x, 2), 0, 1);
  while (n-- > 0) {
    tc_tensor *z = tc_flatten(y, 0, 1);
    note();
    tc_fill_(z, n);
  }
  return y;
}

int main(void) {
  tc_tensor *wide = tc_randn(TC_DIMS(3, 4), 1, TC_F32), *row = tc_randn(TC_DIMS(1, 4), 1, TC_F32);
  show(flipped(wide, 2));
  show(flipped(row, 2));
  show(transposed(wide, 2));
  show(transposed(row, 2));
  return finish();
}
// CHECK-DAG: transposed {{.*}} 4 {{ *}}0 {{ *}}0
// CHECK-DAG: flipped {{.*}} 4 {{ *}}0 {{ *}}0
