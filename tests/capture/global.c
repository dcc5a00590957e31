// Globals: tensors and numbers.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *table TC_SHAPE("f32[M]");
static double rate = 0.25;
static int calls;
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  calls++;
  return tc_mul_s(tc_add(x, table), rate);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  table = tc_randn(TC_DIMS(6), 5, TC_F32);
  show(f(x));
  rate = 2;
  show(f(x));
  printf("%d\n", calls);
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 2 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 2 0 0 
