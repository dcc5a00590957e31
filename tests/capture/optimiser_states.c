// States of optimisers in arrays, whose elements have no TC_SHAPE of their own: they are taken for what
// their parameters are, and the update is kernels with the rest.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

#include <tcompile/optim.h>

enum { N = 3 };
struct net {
  tc_tensor *w TC_SHAPE("f32[I,O]"), *b TC_SHAPE("f32[O]"), *v TC_SHAPE("bf16[O,2]");
};
struct states {
  tc_tensor *mean[N], *square[N];
  int64_t step;
};

static tc_tensor *loss_of(const struct net *m, const tc_tensor *x) {
  tc_tensor *h = tc_tanh(tc_add(tc_matmul(x, m->w), m->b));
  return tc_mean(tc_square(tc_matmul(h, tc_cast(m->v, TC_F32))), TC_ALL, false);
}

TC_COMPILE_WITH("fullgraph") tc_tensor *adam(const struct net *m, struct states *s, const tc_tensor *x TC_SHAPE("f32[B,I]")) {
  tc_tensor *p[N] = {m->w, m->b, m->v}, *g[N], *loss = loss_of(m, x);
  if (!tc_grad(loss, N, p, g)) return NULL;
  s->step++;
  if (!tc_adamw(N, p, g, s->mean, s->square, s->step, tc_adam_defaults(0.125))) return NULL;
  return loss;
}

TC_COMPILE_WITH("fullgraph") tc_tensor *momentum(const struct net *m, tc_tensor **velocity, const tc_tensor *x TC_SHAPE("f32[B,I]")) {
  tc_tensor *p[N] = {m->w, m->b, m->v}, *g[N], *loss = loss_of(m, x);
  if (!tc_grad(loss, N, p, g)) return NULL;
  if (!tc_sgd(N, p, g, velocity, (tc_sgd_options){.rate = 0.25, .momentum = 0.5})) return NULL;
  return loss;
}

int main(void) {
  TC_SCOPE {
    struct net m = {tc_randn(TC_DIMS(4, 6), 1, TC_F32), tc_zeros(TC_DIMS(6), TC_F32), tc_randn(TC_DIMS(6, 2), 2, TC_BF16)};
    tc_tensor *p[N] = {m.w, m.b, m.v}, *x = tc_randn(TC_DIMS(5, 4), 3, TC_F32);
    struct states s = {.step = 0};
    for (int i = 0; i < N; i++) tc_requires_grad_(p[i], true);
    tc_optim_zeros(N, p, s.mean), tc_optim_zeros(N, p, s.square);
    for (int i = 0; i < 3; i++) show(adam(&m, &s, x));
    show(s.mean[1]);
    for (int i = 0; i < 2; i++) show(momentum(&m, s.mean, x));
    show(m.w);
    // another dtype than is expected: the body runs
    s.mean[0] = tc_zeros(TC_DIMS(4, 6), TC_F64);
    show(momentum(&m, s.mean, x));
    show(m.w);
  }
  return finish();
}
// CHECK-NOT: graph break
// CHECK-DAG: remark: 'adam' compiled: 
// CHECK-DAG: remark: 'momentum' compiled for velocity != 0: 
// CHECK-DAG: adam {{.*}} 3 0 0 
// CHECK-DAG: momentum [velocity != 0] {{.*}} 2 0 1 
