// Tensors that may be missing: a segment for each way, up to eight. Where that makes more, those of one name are all
// there or all missing, then all of them are; other calls are fallbacks.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct linear { const tc_tensor *w TC_SHAPE("f32[K,M]"), *b TC_SHAPE("f32[M]"); };

static tc_tensor *linear(const tc_tensor *x, const struct linear *l) {
  tc_tensor *y = tc_matmul(x, l->w);
  if (l->b) y = tc_add(y, l->b);
  return y;
}
TC_COMPILE tc_tensor *one(const tc_tensor *x TC_SHAPE("f32[N,K]"), const struct linear *l) { return tc_relu(linear(x, l)); }

TC_COMPILE tc_tensor *top(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *b TC_SHAPE("f32[M]"),
                          const tc_tensor *mask TC_SHAPE("f32[N,M]"), bool masked) {
  tc_tensor *y = tc_exp(x);
  if (b != NULL) y = tc_add(y, b);
  return tc_neg(!masked ? y : tc_mul(y, mask));
}

TC_COMPILE tc_tensor *two(const tc_tensor *x TC_SHAPE("f32[N,K]"), const struct linear *l, const struct linear *k) {
  return tc_add(linear(x, l), linear(x, k));
}

TC_COMPILE tc_tensor *alike(const tc_tensor *x TC_SHAPE("f32[N,N]"), const struct linear *l, const tc_tensor *scale TC_SHAPE("f32[N]")) {
  tc_tensor *y = linear(linear(linear(linear(x, &l[0]), &l[1]), &l[2]), &l[3]);
  return scale ? tc_mul(y, scale) : y;
}

TC_COMPILE tc_tensor *together(const tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *a TC_SHAPE("f32[N]"), const tc_tensor *b TC_SHAPE("f32[N]"),
                               const tc_tensor *c TC_SHAPE("f32[N]"), const tc_tensor *d TC_SHAPE("f32[N]")) {
  tc_tensor *y = tc_exp(x);
  if (a) y = tc_add(y, a);
  if (b) y = tc_mul(y, b);
  if (c) y = tc_sub(y, c);
  return d ? tc_div(y, d) : y;
}

// An operand from there on: to ask whether it is there is no question.
TC_COMPILE tc_tensor *late(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *y = tc_exp(x);
  return x ? tc_neg(y) : y;
}

// Nor is it behind a check that leads out.
TC_COMPILE tc_tensor *checked(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *b TC_SHAPE("f32[M]")) {
  if (!x || !b) return NULL;
  return tc_exp(b ? tc_add(x, b) : x);
}

// Elements behind a pointer that is not NULL are there, whichever it is.
static tc_tensor *biased(const tc_tensor *x, const struct linear *l) { return l ? tc_add(x, l->b) : x ? tc_exp(x) : NULL; }
TC_COMPILE tc_tensor *list(const tc_tensor *x TC_SHAPE("f32[N,M]"), const struct linear *l) {
  tc_tensor *y = tc_mul_s(x, 2);
  for (int i = 0; i < 2; i++) y = biased(y, l ? &l[i] : NULL);
  return y;
}

// No program takes a gradient of what is missing: there is no such way.
TC_COMPILE_WITH("fullgraph") tc_tensor *learned(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *w TC_SHAPE("f32[M]"), const tc_tensor *b TC_SHAPE("f32[M]")) {
  const tc_tensor *wrt[] = {x, w, b};
  tc_tensor *y = tc_relu(x), *g[3];
  if (w) y = tc_mul(y, w);
  if (b) y = tc_add(y, b);
  return tc_vjp(y, tc_cos(y), 3, wrt, g) ? tc_add(g[0], tc_add(g[1], g[2])) : NULL;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32), *w = tc_randn(TC_DIMS(6, 5), 2, TC_F32);
  tc_tensor *b = tc_randn(TC_DIMS(5), 3, TC_F32), *row = tc_randn(TC_DIMS(6), 4, TC_F32);
  struct linear with = {w, b}, without = {w, NULL};
  show(one(x, &with));
  show(one(x, &without));
  show(top(x, row, x, true));
  show(top(x, NULL, NULL, false));
  show(two(x, &with, &with));
  show(two(x, &with, &without));
  tc_tensor *square = tc_randn(TC_DIMS(6, 6), 5, TC_F32);
  struct linear s[4] = {{square, row}, {square, row}, {square, row}, {square, row}}, none[4] = {{square, 0}, {square, 0}, {square, 0}, {square, 0}};
  show(alike(square, s, NULL)), show(alike(square, s, row)), show(alike(square, none, row)), show(alike(square, none, NULL));
  s[2].b = NULL;
  show(alike(square, s, NULL)), show(alike(square, s, row));
  s[0].b = NULL;
  show(alike(square, s, row));
  show(together(row, row, row, row, row)), show(together(row, 0, 0, 0, 0)), show(together(row, 0, row, 0, 0));
  show(late(x));
  show(list(x, (struct linear[]){{w, row}, {w, row}}));
  show(list(x, NULL));
  show(checked(x, tc_ones(TC_DIMS(6), TC_F32))), show(checked(x, NULL));
  show(learned(x, row, tc_ones(TC_DIMS(6), TC_F32)));
  return finish();
}
// CHECK: remark: 'one' compiled for l->b != 0: 3 ops in 1 kernel [
// CHECK: remark: 'one' compiled for !(l->b != 0): 2 ops in 1 kernel [
// CHECK: remark: 'top' compiled for b != 0 && !masked: 3 ops in 1 kernel [
// CHECK: remark: 'two' compiled for l->b != 0 && !(k->b != 0): 4 ops in {{[0-9]+}} kernels [
// CHECK: remark: 'alike' compiled for !(l->b != 0) && scale != 0: 5 ops in {{[0-9]+}} kernels [
// CHECK: remark: 'together' compiled for !(a != 0): 1 ops in 1 kernel [
// CHECK: remark: 'late' compiled: 2 ops in 1 kernel [
// CHECK: remark: 'checked' compiled: 2 ops in 1 kernel [
// CHECK-DAG: remark: 'learned' compiled for w != 0 && b != 0: {{[0-9]+}} ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: remark: 'list' compiled for l != 0: 3 ops in 1 kernel [
// CHECK-DAG: remark: 'list' compiled for !(l != 0): 3 ops in 1 kernel [
// CHECK-DAG: one [!(l->b != 0)] {{.*}} 1 0 0 
// CHECK-DAG: top [!(b != 0) && !masked] {{.*}} 1 0 0 
// CHECK-DAG: two [l->b != 0 && !(k->b != 0)] {{.*}} 1 0 0 
// CHECK-DAG: alike [l->b != 0 && scale != 0] {{.*}} 1 0 3 NULL operand 3
// CHECK-DAG: alike [!(l->b != 0) && scale != 0] {{.*}} 1 0 0 
// CHECK-DAG: together [a != 0] {{.*}} 1 0 1 NULL operand 1
// CHECK-DAG: together [!(a != 0)] {{.*}} 1 0 0 
