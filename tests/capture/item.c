// A number read from a tensor goes on in the graph and comes back with the segment.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE double f(const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor **out) {
  double m = tc_item(tc_mean(x, TC_ALL, false));
  *out = tc_sub_s(x, m);
  return 2 * m + 1;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *o;
  printf("%.4f\n", f(x, &o));
  show(o);
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 3 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
