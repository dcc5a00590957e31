// TC_REPLACES: compiled code is made of the stand-in, bodies run what they call.  Within the stand-in
// the name means the original.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

// Its body looks at elements.
static tc_tensor *flush(const tc_tensor *x, double below) {
  tc_tensor *y = tc_clone(x);
  float *p = tc_data(y);
  for (int64_t i = 0; i < tc_numel(y); i++)
    if (p[i] < below) p[i] = 0;
  return y;
}
TC_REPLACES(flush) static tc_tensor *flush_of_tensors(const tc_tensor *x, double below) {
  return tc_where(tc_lt_s(x, below), tc_zeros_like(x), x);
}

static tc_tensor *twice(const tc_tensor *x) { return tc_mul_s(x, 2); }
TC_REPLACES(twice) static tc_tensor *twice_and_zero(const tc_tensor *x) { return tc_add(twice(x), tc_sub(x, x)); }

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return flush(tc_mul_s(x, 3), 0.5); }
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return tc_sub(twice(x), x); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  show(g(x));
  (void)flush_of_tensors, (void)twice_and_zero;
  return finish();
}
// CHECK-NOT: graph break
// CHECK-DAG: remark: 'f' compiled: 4 ops
// CHECK-DAG: remark: 'g' compiled: 4 ops
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: g {{.*}} 1 0 0 
