// Structs in structs, by value and by pointer.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct weights { tc_tensor *w TC_SHAPE("f32[A,B]"); };
struct block { struct weights *p; struct weights q; };
struct model { struct block block; };
TC_COMPILE tc_tensor *f(const struct model *m, const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  return tc_add(tc_matmul(x, m->block.p->w), tc_matmul(x, m->block.q.w));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  struct weights w = {tc_randn(TC_DIMS(6, 3), 2, TC_F32)};
  struct model m = {{&w, {tc_randn(TC_DIMS(6, 3), 3, TC_F32)}}};
  show(f(&m, x));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: 'f' compiled: 3 ops
// CHECK-DAG: f {{.*}} 1 0 0 
