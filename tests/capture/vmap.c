// tc_vmap: the body of a function of one example is captured where the call stands, and becomes operations on all of them.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

// Weights that are the same for all: one product of matrices.
static bool layer(tc_tensor *const *x, void *context, tc_tensor **y) {
  (void)context;
  y[0] = tc_tanh(tc_add(tc_matmul(x[0], x[1]), x[2]));
  return y[0] != NULL;
}
TC_COMPILE tc_tensor *rows(const tc_tensor *x TC_SHAPE("f32[B,D]"), const tc_tensor *w TC_SHAPE("f32[D,H]"), const tc_tensor *b TC_SHAPE("f32[H]")) {
  const tc_tensor *in[] = {x, w, b};
  const int axes[] = {0, TC_UNMAPPED, TC_UNMAPPED};
  tc_tensor *y;
  return tc_vmap(layer, NULL, 3, in, axes, 1, &y) ? y : NULL;
}

// Per-example gradients.
static tc_tensor *loss(tc_tensor *const *p, void *context) {
  tc_tensor *const *example = context;
  tc_tensor *h = tc_relu(tc_add(tc_matmul(example[0], p[0]), p[1]));
  return tc_cross_entropy(tc_matmul(h, p[2]), example[1], TC_MEAN);
}
static bool gradients(tc_tensor *const *x, void *context, tc_tensor **y) {
  y[0] = tc_value_and_grad(loss, (void *)x, 3, (tc_tensor *const *)context, y + 1);
  return y[0] != NULL;
}
TC_COMPILE tc_tensor *each(const tc_tensor *x TC_SHAPE("f32[B,D]"), const tc_tensor *t TC_SHAPE("i64[B]"), const tc_tensor *w TC_SHAPE("f32[D,H]"),
                           const tc_tensor *b TC_SHAPE("f32[H]"), const tc_tensor *v TC_SHAPE("f32[H,C]"), tc_tensor **gb, tc_tensor **gv) {
  const tc_tensor *in[] = {x, t}, *p[] = {w, b, v};
  tc_tensor *y[4];
  if (!tc_vmap(gradients, p, 2, in, NULL, 4, y)) return NULL;
  *gb = y[2];
  *gv = y[3];
  return tc_sum(tc_square(y[1]), TC_AXES(1, 2), false); // of each example, the norm
}

// A Jacobian: its rows, one for each cotangent.
static bool row(tc_tensor *const *x, void *context, tc_tensor **y) {
  tc_tensor *const *of = context;
  return tc_grad_with(of[0], x[0], 1, of + 1, TC_RETAIN_GRAPH, y);
}
TC_COMPILE tc_tensor *jacobian(tc_tensor *x TC_SHAPE("f64[N]")) {
  const tc_tensor *unit = tc_eye(tc_size(x, 0), tc_size(x, 0), TC_F64);
  tc_tensor *of[] = {tc_mul(tc_sin(x), tc_cumsum(x, 0)), x}, *y;
  return tc_vmap(row, of, 1, &unit, NULL, 1, &y) ? y : NULL;
}

// All distances, by a function in a function; other axes.
static bool distance(tc_tensor *const *x, void *context, tc_tensor **y) {
  y[0] = tc_norm(tc_sub(x[0], context), 2, TC_ALL, false);
  return true;
}
static bool distances(tc_tensor *const *x, void *context, tc_tensor **y) {
  const tc_tensor *b = context;
  return tc_vmap(distance, x[0], 1, &b, (int[]){1}, 1, y);
}
TC_COMPILE tc_tensor *pairs(const tc_tensor *a TC_SHAPE("f32[N,D]"), const tc_tensor *b TC_SHAPE("f32[D,M]")) {
  tc_tensor *y;
  return tc_vmap(distances, (void *)b, 1, &a, (int[]){-2}, 1, &y) ? y : NULL;
}

// Sizes are those of an example; what does not depend on one is repeated; buffers of the function's own are written.
static bool mixed(tc_tensor *const *x, void *context, tc_tensor **y) {
  tc_tensor *sum = tc_zeros(TC_DIMS(tc_size(x[0], 0)), TC_F32);
  for (int i = 0; i < tc_rank(x[0]); i++) tc_add_(sum, tc_mul_s(x[0], (double)tc_size(x[0], 0)));
  y[0] = sum;
  y[1] = x[1];
  y[2] = tc_exp(context);
  return true;
}
TC_COMPILE tc_tensor *several(const tc_tensor *x TC_SHAPE("f32[3,B]"), tc_tensor *s TC_SHAPE("f32[B]"), tc_tensor *w TC_SHAPE("f32[4]"), tc_tensor **copy, tc_tensor **all) {
  const tc_tensor *in[] = {x, s};
  tc_tensor *y[3];
  if (!tc_vmap(mixed, w, 2, in, (int[]){1, 0}, 3, y)) return NULL;
  *copy = tc_mul_s_(y[1], 2); // is no view of s
  *all = y[2];
  return y[0];
}

static tc_tensor *leaf(tc_tensor *x) { return tc_requires_grad_(x, true); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(7, 5), 1, TC_F32), *w = tc_randn(TC_DIMS(5, 4), 2, TC_F32), *b = tc_randn(TC_DIMS(4), 3, TC_F32);
  tc_tensor *v = tc_randn(TC_DIMS(4, 3), 4, TC_F32), *t = tc_remainder_s(tc_arange(7, 0, 1, TC_I64), 3), *gb, *gv;
  show(rows(x, w, b)), show(tc_tanh(tc_add(tc_matmul(x, w), b)));
  show(each(x, t, w, b, v, &gb, &gv)), show(gb), show(gv);
  tc_tensor *d = leaf(tc_arange(4, 0.5, 0.25, TC_F64));
  show(jacobian(d));
  show(pairs(x, tc_randn(TC_DIMS(5, 6), 5, TC_F32)));
  show(several(tc_randn(TC_DIMS(3, 6), 6, TC_F32), tc_ones(TC_DIMS(6), TC_F32), b, &gb, &gv)), show(gb), show(gv);
  // no example: the body says so
  show(rows(tc_ones(TC_DIMS(0, 5), TC_F32), w, b)), puts(tc_error()), tc_clear_error();
  return finish();
}
// CHECK: remark: 'rows' compiled: 4 ops in 1 kernel [
// CHECK: fused 3 operations into kernel {{.*}}: matmul, add, tanh
// CHECK: remark: 'each' compiled: {{[0-9]+}} ops in
// CHECK: remark: 'jacobian' compiled:
// CHECK: remark: 'pairs' compiled: {{[0-9]+}} ops in 1 kernel [
// CHECK: remark: 'several' compiled:
// CHECK-DAG: rows {{.*}} 1 0 1 below a range 1
// CHECK-DAG: each {{.*}} 1 0 0 
// CHECK-DAG: jacobian {{.*}} 1 0 0 
// CHECK-DAG: pairs {{.*}} 1 0 0 
// CHECK-DAG: several {{.*}} 1 0 0 
