// A local struct and a local array of tensors across a break.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct pair { tc_tensor *t[2]; int n; };
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  struct pair p = {{tc_exp(x), tc_sin(x)}, 7};
  puts("between");
  return tc_add_s(tc_mul(p.t[0], p.t[1]), p.n);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK: 'f' compiled: 4 ops in {{.*}} 2 segments
// CHECK-DAG: f {{.*}} 1 0 0 
