// Members as sizes of a variant: loops over them are unrolled, choices made.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct layer { tc_tensor *w TC_SHAPE("f32[M,M]"); short repeats; };
struct config { int mode; unsigned char depth; };
struct model { struct layer layer[3]; int n; struct config *config; };

TC_COMPILE TC_SPECIALIZE("m->n=3, m->layer[0].repeats=1,m->layer[2].repeats=2") TC_SPECIALIZE("m->n=2")
tc_tensor *f(const struct model *m, const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_mul_s(x, 0.5);
  for (int i = 0; i < m->n; i++) h = tc_tanh(tc_matmul(h, m->layer[i].w));
  for (int i = 0; i < m->layer[0].repeats; i++) h = tc_neg(h);
  for (int i = 0; i < m->layer[2].repeats; i++) h = tc_exp(h);
  return h;
}

TC_COMPILE TC_SPECIALIZE("c.mode=1") TC_SPECIALIZE("c.mode=2,m->config->depth=2")
tc_tensor *g(struct config c, const struct model *m, const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  struct config own = *m->config;
  tc_tensor *h = c.mode == 1 ? tc_exp(x) : tc_neg(x);
  for (int i = 0; i < own.depth; i++) h = tc_add(h, x);
  return h;
}

static struct config settings = {1, 2};
TC_COMPILE TC_SPECIALIZE("settings.depth=2")
tc_tensor *of_global(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < settings.depth; i++) h = tc_exp(h);
  return h;
}

int main(void) {
  tc_tensor *x = tc_mul_s(tc_randn(TC_DIMS(4, 5), 1, TC_F32), 0.1);
  struct model m = {{{0}}, 0, &settings};
  for (int i = 0; i < 3; i++) m.layer[i] = (struct layer){tc_randn(TC_DIMS(5, 5), 2 + i, TC_F32), (short)(i ? i : 1)};
  for (m.n = 1; m.n < 4; m.n++) show(f(&m, x));
  for (int mode = 0; mode < 3; mode++)
    for (settings.depth = 1; settings.depth < 4; settings.depth++) {
      show(g((struct config){mode, 1}, &m, x));
      show(of_global(x));
    }
  return finish();
}
// CHECK: remark: 'f' compiled for m->n=3,m->layer[0].repeats=1,m->layer[2].repeats=2: 10 ops in
// CHECK: remark: 'f' compiled for m->n=2: {{[0-9]+}} ops in
// CHECK: remark: 'g' compiled for c.mode=2,m->config->depth=2: 3 ops in 1 kernel
// CHECK: remark: 'of_global' compiled for settings.depth=2: 3 ops in 1 kernel
// CHECK-DAG: f [m->n=3,m->layer[0].repeats=1,m->layer[2].repeats=2] {{.*}} 1 0 0 
// CHECK-DAG: g [c.mode=2,m->config->depth=2] {{.*}} 1 0 0 
// CHECK-DAG: of_global [settings.depth=2] {{.*}} 3 0 0 
