// A tensor is stored in a struct.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct state { tc_tensor *h TC_SHAPE("f32[R,C]"); int steps; };
TC_COMPILE void f(struct state *s, const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  s->h = tc_tanh(tc_add(s->h, x));
  s->steps++;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  struct state s = {x, 0};
  f(&s, x);
  f(&s, x);
  show(s.h);
  printf("%d\n", s.steps);
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 2 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 2 0 0 
