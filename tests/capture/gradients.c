// Gradients are nodes of the graph: a step of training, second derivatives, gradients of values between, cotangents,
// what is detached, and operands that are no leaves.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

typedef struct { tc_tensor *w1 TC_SHAPE("f32[D,H]"), *b1 TC_SHAPE("f32[H]"), *w2 TC_SHAPE("f32[H,C]"), *b2 TC_SHAPE("f32[C]"); } model;

// One step; the loss of the weights before it.
TC_COMPILE tc_tensor *step(const model *m, const tc_tensor *x TC_SHAPE("f32[B,D]"), const tc_tensor *y TC_SHAPE("i64[B]"), double rate) {
  tc_tensor *h = tc_relu(tc_add(tc_matmul(x, m->w1), m->b1));
  tc_tensor *loss = tc_cross_entropy(tc_add(tc_matmul(h, m->w2), m->b2), y, TC_MEAN);
  tc_tensor *p[] = {m->w1, m->b1, m->w2, m->b2}, *g[4];
  if (!tc_grad(loss, 4, p, g)) return NULL;
  TC_NO_GRAD {
    for (int i = 0; i < 4; i++) tc_sub_(p[i], tc_mul_s(g[i], rate));
  }
  return loss;
}

// Twice, with weights that the first step wrote.
TC_COMPILE tc_tensor *two_steps(tc_tensor *w TC_SHAPE("f32[N]"), const tc_tensor *x TC_SHAPE("f32[N]")) {
  tc_tensor *g = NULL;
  for (int i = 0; i < 2; i++) {
    tc_tensor *loss = tc_mean(tc_square(tc_sub(tc_exp(w), x)), TC_ALL, false);
    if (!tc_grad(loss, 1, &w, &g)) return NULL;
    TC_NO_GRAD { tc_sub_(w, tc_mul_s(g, 0.1)); }
  }
  return g;
}

// The Hessian of sum(x^2 sin x), times v.
TC_COMPILE tc_tensor *hessian(const tc_tensor *x TC_SHAPE("f64[N]"), const tc_tensor *v TC_SHAPE("f64[N]")) {
  tc_tensor *y = tc_sum(tc_mul(tc_mul(x, x), tc_sin(x)), TC_ALL, false), *g, *h;
  if (!tc_grad_with(y, NULL, 1, &x, TC_CREATE_GRAPH, &g)) return NULL;
  return tc_vjp(g, v, 1, &x, &h) ? h : NULL;
}

TC_COMPILE tc_tensor *between(tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor **gx) {
  tc_tensor *h = tc_exp(x), *y = tc_sum(tc_square(h), TC_ALL, false);
  tc_tensor *wrt[2] = {x, h}, *g[2];
  if (!tc_grad(y, 2, wrt, g)) return NULL;
  *gx = g[0];
  return g[1];
}

// Used for two losses, the second of which frees the tape.
TC_COMPILE tc_tensor *retained(tc_tensor *x TC_SHAPE("f32[N]")) {
  tc_tensor *h = tc_tanh(x), *a = tc_sum(h, TC_ALL, false), *b = tc_sum(tc_square(h), TC_ALL, false), *g, *k;
  if (!tc_grad_with(a, NULL, 1, &x, TC_RETAIN_GRAPH, &g) || !tc_grad(b, 1, &x, &k)) return NULL;
  return tc_add(g, k);
}

TC_COMPILE tc_tensor *cut(tc_tensor *x TC_SHAPE("f32[N]")) {
  tc_tensor *y, *g;
  TC_NO_GRAD { y = tc_sin(x); }
  y = tc_sum(tc_mul(tc_mul(x, tc_detach(tc_exp(x))), y), TC_ALL, false);
  return tc_grad(y, 1, &x, &g) ? g : NULL;
}

TC_COMPILE tc_tensor *unused(tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor *z TC_SHAPE("f32[M]")) {
  tc_tensor *wrt[] = {x, z}, *g[2];
  if (!tc_grad_with(tc_sum(tc_square(x), TC_ALL, false), NULL, 2, wrt, TC_ALLOW_UNUSED, g)) return NULL;
  return tc_concat((const tc_tensor *[]){g[0], g[1]}, 2, 0);
}

// Numbers that are read are constants.
TC_COMPILE tc_tensor *number(tc_tensor *x TC_SHAPE("f64[N]")) {
  tc_tensor *y = tc_mul_s(tc_square(x), tc_item(tc_sum(tc_tanh(x), TC_ALL, false))), *g;
  y = tc_add_s(tc_mul(y, x), tc_at(x, TC_DIMS(1)));
  return tc_grad(tc_sum(y, TC_ALL, false), 1, &x, &g) ? g : NULL;
}

// One leaf given twice has one gradient.
TC_COMPILE tc_tensor *both(tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor *y TC_SHAPE("f32[N]"), tc_tensor **gy) {
  tc_tensor *wrt[] = {x, y}, *g[2];
  if (!tc_grad(tc_sum(tc_mul(tc_square(x), y), TC_ALL, false), 2, wrt, g)) return NULL;
  *gy = g[1];
  return g[0];
}

static tc_tensor *leaf(tc_tensor *x) { return tc_requires_grad_(x, true); }

int main(void) {
  const model m = {leaf(tc_mul_s(tc_randn(TC_DIMS(6, 8), 1, TC_F32), 0.5)), leaf(tc_zeros(TC_DIMS(8), TC_F32)),
                   leaf(tc_mul_s(tc_randn(TC_DIMS(8, 3), 2, TC_F32), 0.5)), leaf(tc_zeros(TC_DIMS(3), TC_F32))};
  tc_tensor *x = tc_randn(TC_DIMS(9, 6), 3, TC_F32), *y = tc_argmax(tc_slice(x, 1, 0, 3, 1), TC_AXES(1), false);
  for (int i = 0; i < 5; i++) show(step(&m, x, y, 0.5));
  TC_NO_GRAD { show(m.w1), show(m.b2); }
  tc_tensor *w = leaf(tc_arange(4, 0.1, 0.2, TC_F32)), *d = leaf(tc_arange(3, 0.5, 0.25, TC_F64)), *side = NULL;
  show(two_steps(w, tc_ones(TC_DIMS(4), TC_F32)));
  TC_NO_GRAD { show(w); }
  show(hessian(d, tc_arange(3, 1, 1, TC_F64)));
  show(between(w, &side)), show(side);
  show(retained(w)), show(cut(w)), show(unused(w, leaf(tc_ones(TC_DIMS(2), TC_F32))));
  show(number(d));
  show(both(w, leaf(tc_ones(TC_DIMS(4), TC_F32)), &side)), show(side);
  show(both(w, w, &side)), show(side); // not by kernels
  // no leaf, and nothing recorded: the body says what is wrong
  show(cut(tc_ones(TC_DIMS(4), TC_F32)));
  printf("%d\n", tc_error() != NULL), tc_clear_error();
  TC_NO_GRAD { show(cut(w)); }
  printf("%d\n", tc_error() != NULL), tc_clear_error();
  // a result of tracked operands: the body runs, and its gradient goes on
  tc_tensor *z = tc_mul_s(w, 2), *g = NULL;
  show(cut(z)), printf("%d\n", tc_grad(tc_sum(tc_square(z), TC_ALL, false), 1, &w, &g)), show(g);
  return finish();
}
// CHECK: remark: 'step' compiled: 15 ops in {{[0-9]+}} kernels [
// CHECK: remark: 'two_steps' compiled: {{[0-9]+}} ops in {{[0-9]+}} kernel{{s?}} [
// CHECK: remark: 'hessian' compiled: 6 ops in
// CHECK: remark: 'between' compiled: 4 ops in
// CHECK: remark: 'retained' compiled: {{[0-9]+}} ops in
// CHECK: remark: 'cut' compiled: 7 ops in 1 kernel [
// CHECK: remark: 'unused' compiled:
// CHECK: remark: 'number' compiled:
// CHECK: remark: 'both' compiled:
// CHECK-DAG: number {{.*}} 1 0 0 
// CHECK-DAG: both {{.*}} 1 0 1 
// CHECK-DAG: step {{.*}} 5 0 0 
// CHECK-DAG: two_steps {{.*}} 1 0 0 
// CHECK-DAG: hessian {{.*}} 1 0 0 
// CHECK-DAG: between {{.*}} 1 0 0 
// CHECK-DAG: retained {{.*}} 1 0 0 
// CHECK-DAG: cut {{.*}} 1 0 3 gradients 3
// CHECK-DAG: unused {{.*}} 1 0 0 
