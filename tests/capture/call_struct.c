// A function that returns a struct of tensors.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct stats { tc_tensor *mean, *var; };
static struct stats of(const tc_tensor *x) { return (struct stats){tc_mean(x, TC_AXES(-1), true), tc_var(x, TC_AXES(-1), 0, true)}; }
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  struct stats s = of(x);
  return tc_mul(tc_sub(x, s.mean), tc_rsqrt(tc_add_s(s.var, 1e-3)));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 6 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
