// TC_CONST: numbers of functions whose body is not here are asked for in front of the kernels; with an
// expected value, that value is compiled, and something else runs the body.  __attribute__((const)) is
// as good as TC_CONST.
// RUN: %capture %S/Inputs/settings.c > %t.txt && %check < %t.txt
#include "capture.h"
#include "settings.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int i) {
  return tc_mul_s(x, scale_of(i) + offset_of(2, 0.5f));
}

// 3 heads: the loop is unrolled.
TC_COMPILE_WITH("fullgraph") tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *y = tc_neg(x);
  for (int i = 0; i < heads(); i++) y = tc_add(tc_mul_s(y, i), x);
  return y;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 1));
  show(f(x, 4));
  show(g(x));
  set_heads(2);
  show(g(x)); // the condition in front of the call does not hold
  return finish();
}
// CHECK-NOT: graph break
// CHECK-DAG: remark: 'f' compiled: 1 ops in 1 kernel
// CHECK-DAG: remark: 'g' compiled: 7 ops in 1 kernel
// CHECK-DAG: f {{.*}} 2 0 0 
// CHECK-DAG: g {{.*}} 1 0 0 
