// "Not given" means a failed operation where an error is pending: then the statements run.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *w TC_SHAPE("f32[K,M]")) {
  return tc_linear(x, w, NULL);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32), *w = tc_randn(TC_DIMS(3, 6), 2, TC_F32);
  show(f(x, w));
  tc_tensor *failed = tc_matmul(x, w);
  tc_tensor *y = f(x, w);
  printf("%d %d\n", !failed, !y);
  tc_clear_error();
  show(f(x, w));
  return finish();
}
// CHECK: remark: 'f' compiled: 1 ops
// CHECK-DAG: f {{.*}} 2 0 0 
