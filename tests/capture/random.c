// Random numbers: streams are taken from generators that are parameters, members of structs, and the thread's.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct model { tc_tensor *w TC_SHAPE("f32[D,D]"); tc_generator g; tc_tensor *v TC_SHAPE("f32[D,D]"); };
TC_COMPILE tc_tensor *mlp(struct model *m, const tc_tensor *x TC_SHAPE("f32[N,D]"), double p) {
  tc_tensor *h = tc_dropout(tc_matmul(x, m->w), p, true, &m->g);
  return tc_dropout(tc_matmul(h, m->v), p, true, &m->g);
}
// The mask is part of the product's kernel.
// CHECK-DAG: remark: 'mlp' compiled: 10 ops in 2 kernels

TC_COMPILE tc_tensor *noise(const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_generator *g) {
  tc_tensor *scale = tc_uniform(TC_DIMS(tc_size(x, 0), 1), 0.5, 2, TC_F32, g);
  return tc_add(tc_mul(x, scale), tc_normal(tc_shape(x), 0, 0.5, TC_F32, g));
}
// CHECK-DAG: remark: 'noise' compiled for g != 0: {{[0-9]+}} ops in {{[12]}} kernel
// CHECK-DAG: remark: 'noise' compiled for !(g != 0): {{[0-9]+}} ops in {{[12]}} kernel

TC_COMPILE tc_tensor *own(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return tc_dropout(x, 0.25, true, NULL); }
// CHECK-DAG: remark: 'own' compiled: 4 ops in 1 kernel

TC_COMPILE tc_tensor *shuffled(const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_generator *g) {
  tc_tensor *order TC_SHAPE("i64[N]") = tc_randperm(tc_size(x, 0), tc_next_seed(g));
  return tc_index_select(x, 0, order);
}

int main(void) {
  tc_manual_seed(3);
  tc_tensor *x = tc_randn(TC_DIMS(8, 8), 1, TC_F32);
  struct model m = {x, tc_generator_of(1), x};
  tc_generator g = tc_generator_of(2);
  for (int i = 0; i < 2; i++) {
    show(mlp(&m, x, 0.5));
    show(noise(x, &g));
    show(noise(x, NULL));
    show(own(x));
    show(shuffled(x, &g));
    printf("%d %d %d\n", (int)m.g.offset, (int)g.offset, (int)tc_default_generator.offset);
  }
  return finish();
}
// CHECK-DAG: {{^}}mlp {{.*}} 2 0 0
// CHECK-DAG: {{^}}noise [g != 0] {{.*}} 2 0 0
// CHECK-DAG: {{^}}own {{.*}} 2 0 0
