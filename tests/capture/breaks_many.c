// Several breaks: each is reported, and all between them is compiled.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *a = tc_exp(x);
  puts("1");
  tc_tensor *b = tc_sin(a), *c = tc_cos(a);
  puts("2");
  tc_tensor *d = tc_add(b, c);
  puts("3");
  return tc_mul(d, a);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK: remark: 'f' compiled: 5 ops in 4 kernels, 4 segments 
// CHECK: remark: graph break in 'f': 'puts'
// CHECK: remark: graph break in 'f': 'puts'
// CHECK: remark: graph break in 'f': 'puts'
// CHECK-DAG: f {{.*}} 1 0 0 
