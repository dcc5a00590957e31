// A helper that counts its calls in a global.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static int calls;
static tc_tensor *counted(const tc_tensor *x) { calls++; return tc_exp(x); }
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return tc_neg(counted(counted(x))); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  printf("%d\n", calls);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
