// Tensors and numbers of a struct.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct layer { tc_tensor *w TC_SHAPE("f32[O,I]"), *b TC_SHAPE("f32[O]"); float scale; };
TC_COMPILE tc_tensor *f(const struct layer *l, const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  return tc_mul_s(tc_linear(x, l->w, l->b), l->scale);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  struct layer l = {tc_randn(TC_DIMS(3, 6), 2, TC_F32), tc_randn(TC_DIMS(3), 3, TC_F32), 0.5f};
  show(f(&l, x));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 2 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
