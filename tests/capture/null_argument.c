// A pointer that is checked first is read only where it is not NULL.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct pair { tc_tensor *a TC_SHAPE("f32[R,C]"); float s; };
TC_COMPILE tc_tensor *f(const struct pair *p) {
  if (!p || !p->a) return NULL;
  return tc_mul_s(p->a, p->s);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  struct pair p = {x, 3};
  show(f(&p));
  show(f(NULL));
  p.a = NULL;
  show(f(&p));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 1 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
