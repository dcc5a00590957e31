// Branches on run-time numbers in functions that are called: a segment for each way through them.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct config { int act; float slope; bool square; };

static tc_tensor *activate(tc_tensor *x, const struct config *c) {
  if (c->act == 1) return tc_relu(x);
  if (c->act == 2) return tc_maximum(x, tc_mul_s(x, c->slope));
  return x;
}

// One question however often it is asked.
TC_COMPILE tc_tensor *layers(const tc_tensor *x TC_SHAPE("f32[N,M]"), const struct config *c) {
  tc_tensor *h = tc_add_s(x, 0.5);
  for (int i = 0; i < 3; i++) h = activate(tc_mul_s(h, 0.9), c);
  return tc_exp(h);
}

// Of the number that the caller passes, whatever becomes of it on the way.
TC_COMPILE tc_tensor *shifted(const tc_tensor *x TC_SHAPE("f32[N,M]"), struct config c, int by) {
  c.act = by - 1;
  tc_tensor *h = activate(tc_add_s(x, by), &c);
  by += 2;
  c.act = by;
  return activate(tc_mul_s(h, by), &c);
}

static void scale(tc_tensor **x, const struct config *c, double *by) {
  *by = 1;
  if (c->square) {
    *x = tc_mul(*x, *x);
    *by = 2;
  }
}
TC_COMPILE tc_tensor *through(const tc_tensor *x TC_SHAPE("f32[N,M]"), const struct config *c, double *by) {
  tc_tensor *h = tc_sub_s(x, 1);
  scale(&h, c, by);
  return tc_mul_s(h, 3);
}

// What was asked in the called function is known to its caller.
static int grow(tc_tensor **x, int by) {
  if (by < 0) return by;
  *x = tc_mul_s(*x, by);
  return by;
}
TC_COMPILE tc_tensor *known(const tc_tensor *x TC_SHAPE("f32[N,M]"), int by) {
  tc_tensor *h = tc_exp(x);
  if (grow(&h, by) < 0) return tc_neg(h);
  return tc_add_s(h, by);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  for (int act = 0; act < 4; act++) {
    struct config c = {act, 0.1f, act % 2};
    double by = 0;
    show(layers(x, &c));
    show(shifted(x, c, act));
    show(through(x, &c, &by));
    printf("%g\n", by);
    show(known(x, act - 1));
  }
  return finish();
}
// CHECK: remark: 'layers' compiled for c->act == 1: 8 ops in 1 kernel [
// CHECK: remark: 'layers' compiled for !(c->act == 1) && c->act == 2: 11 ops in 1 kernel [
// CHECK: remark: 'layers' compiled for !(c->act == 1) && !(c->act == 2): 5 ops in 1 kernel [
// CHECK: remark: 'through' compiled for c->square: 3 ops in 1 kernel [
// CHECK: remark: 'through' compiled for !c->square: 2 ops in 1 kernel [
// CHECK: remark: 'known' compiled for by < 0: 2 ops in 1 kernel [
// CHECK: remark: 'known' compiled for !(by < 0): 3 ops in 1 kernel [
// CHECK-NOT: graph break
// CHECK-DAG: layers [c->act == 1] {{.*}} 1 0 0 
// CHECK-DAG: layers [!(c->act == 1) && !(c->act == 2)] {{.*}} 2 0 0 
