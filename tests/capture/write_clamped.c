// What is written has a size that is only assumed to be that of the tensor: of a slice that ends where the axis may.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(tc_tensor *a TC_SHAPE("f32[2*M,M]")) {
  tc_copy_(a, tc_slice(a, 0, 2, 6, 1));
  return tc_neg(tc_slice(a, 1, 0, -1, 1));
}
TC_COMPILE tc_tensor *g(tc_tensor *a TC_SHAPE("f32[2*M,M]")) {
  tc_copy_(a, tc_exp(tc_slice(a, 0, 0, 6, 1)));
  return tc_neg(a);
}

int main(void) {
  tc_tensor *a = tc_randn(TC_DIMS(4, 2), 1, TC_F32), *b = tc_randn(TC_DIMS(8, 4), 2, TC_F32);
  show(f(a)); // refused by both
  show(g(a));
  show(g(b)); // likewise
  show(a);
  show(b);
  return finish();
}
// CHECK: remark: 'f' compiled: 4 ops in {{[0-9]+}} kernel
// CHECK: remark: 'g' compiled: 4 ops in {{[0-9]+}} kernel
// CHECK-DAG: g {{.*}} 1 0 1
