// tc_item_int
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE int64_t f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  int64_t best = tc_item_int(tc_argmax(x, TC_ALL, false));
  return best + 1;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  printf("%d\n", (int)f(x));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 2 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
