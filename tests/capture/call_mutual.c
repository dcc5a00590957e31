// Two functions that call each other, unwound by a constant.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *odd(const tc_tensor *x, int n);
static tc_tensor *even(const tc_tensor *x, int n) { return n ? odd(tc_exp(x), n - 1) : tc_clone(x); }
static tc_tensor *odd(const tc_tensor *x, int n) { return n ? even(tc_tanh(x), n - 1) : tc_neg(x); }
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return even(x, 5); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 6 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
