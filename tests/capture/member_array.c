// An array of structs with an index known at run time.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct layer { tc_tensor *w TC_SHAPE("f32[I,O]"); };
struct model { int n; struct layer layer[4]; };
TC_COMPILE tc_tensor *f(const struct model *m, const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_relu(x);
  for (int i = 0; i < m->n; i++)
    h = tc_tanh(tc_matmul(h, m->layer[i].w));
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  struct model m = {3, {{0}}};
  for (int i = 0; i < 3; i++) m.layer[i].w = tc_randn(TC_DIMS(6, 6), 7 + i, TC_F32);
  show(f(&m, x));
  return finish();
}
// CHECK: remark: 'f' compiled: 3 ops in 2 kernels, 2 segments 
// CHECK: remark: graph break in 'f': the number of rounds
// CHECK-DAG: f {{.*}} 3 0 0 
