// Gradients inside of functions that tc_vmap is given, and through it.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

#define X const tc_tensor *x TC_SHAPE("f32[B,N]")
// with respect to weights, of each example's loss
static bool of_weights(tc_tensor *const *x, void *context, tc_tensor **y) {
  tc_tensor *w = context, *h = tc_exp(w);
  y[0] = tc_sum(tc_square(tc_mul(x[0], h)), TC_ALL, false);
  return tc_grad(y[0], 1, &w, y + 1);
}
TC_COMPILE tc_tensor *weights(X, tc_tensor *w TC_SHAPE("f32[N]"), tc_tensor **g) {
  tc_tensor *y[2];
  if (!tc_vmap(of_weights, w, 1, &x, NULL, 2, y)) return NULL;
  *g = y[1];
  return y[0];
}
// with respect to the example: the body runs
static bool of_example(tc_tensor *const *x, void *context, tc_tensor **y) {
  (void)context;
  return tc_grad(tc_sum(tc_exp(tc_square(x[0])), TC_ALL, false), 1, x, y);
}
TC_COMPILE tc_tensor *examples(tc_tensor *x TC_SHAPE("f32[B,N]")) { tc_tensor *y; return tc_vmap(of_example, NULL, 1, &x, NULL, 1, &y) ? y : NULL; }
// the whole batch, of which one example is a part
static bool of_all(tc_tensor *const *x, void *context, tc_tensor **y) {
  tc_tensor *all = context;
  return tc_grad(tc_sum(tc_mul(tc_square(x[0]), tc_sum(all, TC_AXES(0), false)), TC_ALL, false), 1, &all, y);
}
TC_COMPILE tc_tensor *whole(tc_tensor *x TC_SHAPE("f32[B,N]")) { tc_tensor *y; return tc_vmap(of_all, x, 1, &x, NULL, 1, &y) ? y : NULL; }
// gradients through, to operands, weights and a context, higher order
static bool inner(tc_tensor *const *x, void *context, tc_tensor **y) { return (y[0] = tc_sum(tc_mul(tc_sin(x[0]), context), TC_ALL, false)) != NULL; }
TC_COMPILE tc_tensor *through(tc_tensor *x TC_SHAPE("f32[B,N]"), tc_tensor *w TC_SHAPE("f32[N]"), tc_tensor **g2) {
  tc_tensor *y, *p[] = {x, w}, *g[2];
  if (!tc_vmap(inner, w, 1, (tc_tensor *const *)p, NULL, 1, &y)) return NULL;
  if (!tc_grad_with(tc_sum(tc_square(y), TC_ALL, false), NULL, 2, p, TC_CREATE_GRAPH, g)) return NULL;
  if (!tc_grad(tc_sum(tc_mul(g[0], g[0]), TC_ALL, false), 2, p, g)) return NULL;
  *g2 = g[1];
  return g[0];
}
// in a part that is computed again
static bool scaled(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; y[0] = tc_tanh(tc_mul(x[0], x[1])); return true; }
static tc_tensor *block(tc_tensor *const *p, void *context) {
  tc_tensor *y;
  (void)context;
  return tc_vmap(scaled, NULL, 2, p, (int[]){0, TC_UNMAPPED}, 1, &y) ? y : NULL;
}
TC_COMPILE tc_tensor *check(tc_tensor *x TC_SHAPE("f32[B,N]"), tc_tensor *w TC_SHAPE("f32[N]")) {
  tc_tensor *p[] = {x, w}, *g;
  return tc_grad(tc_sum(tc_checkpoint(block, NULL, 2, p), TC_ALL, false), 1, &w, &g) ? g : NULL;
}
static tc_tensor *leaf(tc_tensor *x) { return tc_requires_grad_(x, true); }
int main(void) {
  tc_tensor *x = leaf(tc_randn(TC_DIMS(5, 4), 1, TC_F32)), *w = leaf(tc_randn(TC_DIMS(4), 2, TC_F32)), *g = NULL;
  show(weights(tc_detach(x), w, &g)), show(g), show(examples(x)), show(whole(x)), show(through(x, w, &g)), show(g), show(check(tc_detach(x), w));
  return finish();
}
// CHECK: remark: 'weights' compiled:
// CHECK: remark: 'examples' not compiled:
// CHECK: remark: 'whole' not compiled: a function that tc_vmap applies to each example takes gradients with respect to what the examples are computed from
// CHECK: remark: 'through' compiled:
// CHECK: remark: 'check' compiled:
// CHECK-DAG: weights {{.*}} 1 0 0 
// CHECK-DAG: through {{.*}} 1 0 0 
// CHECK-DAG: check {{.*}} 1 0 0 
