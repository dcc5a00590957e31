// Functions handed over: their bodies are captured where values with gradients, or parts to be computed again, are asked
// for; forward mode.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

typedef struct { const tc_tensor *x, *y; } batch;

static tc_tensor *loss(tc_tensor *const *p, void *context) {
  const batch *b = context;
  return tc_mse(tc_tanh(tc_add(tc_matmul(b->x, p[0]), p[1])), b->y, TC_MEAN);
}

// No leaves: gradients are what the call returns.
TC_COMPILE tc_tensor *values(const tc_tensor *w TC_SHAPE("f32[D,1]"), const tc_tensor *c TC_SHAPE("f32[1]"),
                             const tc_tensor *x TC_SHAPE("f32[B,D]"), const tc_tensor *y TC_SHAPE("f32[B,1]"), tc_tensor **gw) {
  batch b = {x, y};
  const tc_tensor *p[] = {w, c};
  tc_tensor *g[2], *v = tc_value_and_grad(loss, &b, 2, p, g);
  if (!v) return NULL;
  *gw = g[0];
  return tc_add(v, g[1]);
}

// Weights that the program updates, one step after the other.
TC_COMPILE tc_tensor *steps(tc_tensor *w TC_SHAPE("f32[D,1]"), tc_tensor *c TC_SHAPE("f32[1]"), const tc_tensor *x TC_SHAPE("f32[B,D]"),
                            const tc_tensor *y TC_SHAPE("f32[B,1]")) {
  batch b = {x, y};
  tc_tensor *p[] = {w, c}, *g[2], *v = NULL;
  for (int k = 0; k < 3; k++) {
    v = tc_value_and_grad(loss, &b, 2, p, g);
    if (!v) return NULL;
    for (int i = 0; i < 2; i++) tc_sub_(p[i], tc_mul_s(g[i], 0.5));
  }
  return v;
}

static tc_tensor *of_first(tc_tensor *const *p, void *context) { (void)context; return tc_sum(tc_square(p[0]), TC_ALL, false); }
static tc_tensor *writes(tc_tensor *const *p, void *context) { (void)context; return tc_sum(tc_add_s_(p[0], 1), TC_ALL, false); }

TC_COMPILE tc_tensor *unused(const tc_tensor *x TC_SHAPE("f64[N]"), const tc_tensor *z TC_SHAPE("bf16[M]")) {
  const tc_tensor *p[] = {x, z};
  tc_tensor *g[2];
  return tc_value_and_grad(of_first, NULL, 2, p, g) ? tc_concat((const tc_tensor *[]){g[0], tc_cast(g[1], TC_F64)}, 2, 0) : NULL;
}

TC_COMPILE tc_tensor *written(tc_tensor *x TC_SHAPE("f64[N]")) {
  tc_tensor *g;
  return tc_value_and_grad(writes, NULL, 1, &x, &g);
}

static tc_tensor *block(tc_tensor *const *p, void *context) {
  tc_tensor *h = p[0];
  for (int i = 0; i < 3; i++) h = tc_tanh(tc_mul(h, p[1]));
  return context ? tc_add(h, context) : h;
}

TC_COMPILE tc_tensor *again(tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor *w TC_SHAPE("f32[N]"), tc_tensor **gw) {
  tc_tensor *h = x, *wrt[] = {x, w}, *g[2];
  for (int i = 0; i < 2; i++) {
    tc_tensor *p[] = {h, w};
    h = tc_checkpoint(block, w, 2, p);
  }
  if (!tc_grad(tc_sum(h, TC_ALL, false), 2, wrt, g)) return NULL;
  *gw = g[1];
  return g[0];
}

TC_COMPILE tc_tensor *forward(tc_tensor *x TC_SHAPE("f64[N]"), tc_tensor *w TC_SHAPE("f64[N]"), const tc_tensor *t TC_SHAPE("f64[N]")) {
  tc_tensor *y = tc_mul(tc_sin(x), tc_exp(w)), *wrt[] = {x, w};
  const tc_tensor *along[] = {t, x};
  return tc_jvp(y, 2, wrt, along);
}

// J^T J v, the product of Gauss-Newton
TC_COMPILE tc_tensor *normal(tc_tensor *x TC_SHAPE("f64[N]"), const tc_tensor *v TC_SHAPE("f64[N]")) {
  tc_tensor *r = tc_mul(tc_sin(x), tc_cumsum(x, 0)), *g;
  return tc_vjp(r, tc_jvp(r, 1, &x, &v), 1, &x, &g) ? g : NULL;
}

static tc_tensor *leaf(tc_tensor *x) { return tc_requires_grad_(x, true); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(9, 4), 1, TC_F32), *y = tc_sum(tc_mul_s(x, 0.5), TC_AXES(1), true);
  tc_tensor *w = tc_randn(TC_DIMS(4, 1), 2, TC_F32), *c = tc_zeros(TC_DIMS(1), TC_F32), *side = NULL;
  show(values(w, c, x, y, &side)), show(side);
  for (int k = 0; k < 3; k++) show(steps(w, c, x, y));
  show(w);
  tc_tensor *d = tc_arange(3, 0.5, 0.25, TC_F64);
  show(unused(d, tc_ones(TC_DIMS(2), TC_BF16)));
  show(written(d)), printf("%d\n", tc_error() != NULL), tc_clear_error();
  show(again(leaf(tc_ones(TC_DIMS(3), TC_F32)), leaf(tc_arange(3, 0.5, 0.25, TC_F32)), &side)), show(side);
  tc_tensor *e = leaf(tc_arange(3, 1, 0.5, TC_F64));
  show(forward(leaf(d), e, tc_ones(TC_DIMS(3), TC_F64)));
  show(normal(e, tc_arange(3, 1, 1, TC_F64)));
  // neither is a leaf: the body says what is wrong
  TC_NO_GRAD { show(forward(tc_detach(d), tc_detach(e), e)); }
  printf("%d\n", tc_error() != NULL), tc_clear_error();
  return finish();
}
// CHECK: remark: 'values' compiled: {{[0-9]+}} ops in {{[0-9]+}} kernels [
// CHECK: remark: 'steps' compiled: {{[0-9]+}} ops in
// CHECK: remark: 'unused' compiled:
// CHECK: remark: 'written' not compiled: a tensor that gradients are taken with respect to is written
// CHECK: remark: 'again' compiled:
// CHECK: remark: 'forward' compiled: {{[0-9]+}} ops in 1 kernel [
// CHECK: remark: 'normal' compiled:
// CHECK-DAG: values {{.*}} 1 0 0 
// CHECK-DAG: steps {{.*}} 3 0 0 
// CHECK-DAG: unused {{.*}} 1 0 0 
// CHECK-DAG: again {{.*}} 1 0 0 
// CHECK-DAG: forward {{.*}} 1 0 1 
// CHECK-DAG: normal {{.*}} 1 0 0 
