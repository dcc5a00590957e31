// A called function with a loop of run-time count costs that call alone: what is in front of it and
// behind it is compiled, and what it returns is a guess that guards check.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *smoothed(tc_tensor *h, int rounds) {
  for (int i = 0; i < rounds; i++) h = tc_tanh(tc_mul_s(h, 0.5));
  return h;
}

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *w TC_SHAPE("f32[M,K]"), int rounds) {
  tc_tensor *h = tc_relu(tc_matmul(x, w));
  h = smoothed(h, rounds);
  tc_tensor *g = smoothed(tc_neg(h), 2); // known: inlined
  return tc_softmax(tc_add(h, g), -1);
}

// As the remark says: its parts are compiled, and the call stays.
TC_COMPILE static tc_tensor *marked(const tc_tensor *x TC_SHAPE("f32[N,M]"), int rounds) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < rounds; i++) h = tc_tanh(tc_mul_s(h, 0.5));
  return tc_exp(h);
}
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N,M]"), int rounds) {
  tc_tensor *h = tc_exp(x);
  h = marked(h, rounds);
  return tc_add(h, x);
}

// As the other remedy says.
TC_COMPILE TC_SPECIALIZE("rounds=3") tc_tensor *unrolled(const tc_tensor *x TC_SHAPE("f32[N,M]"), int rounds) {
  return tc_exp(smoothed(tc_neg(x), rounds));
}

// Until data say that it is enough.
static tc_tensor *settled(tc_tensor *h) {
  while (tc_item(tc_max(h, TC_ALL, false)) > 1) {
    if (tc_error()) return NULL;
    h = tc_mul_s(h, 0.5);
  }
  return h;
}
TC_COMPILE tc_tensor *until(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = settled(tc_exp(x));
  return tc_mul(h, tc_add(h, x));
}

// A guess that is wrong: the body runs.
static tc_tensor *shrunk(tc_tensor *h, int n) {
  for (int i = 0; i < n; i++) h = tc_sum(h, TC_AXES(0), false);
  return h;
}
TC_COMPILE tc_tensor *wrong(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = shrunk(tc_exp(x), n);
  return tc_neg(tc_exp(h));
}

// What is around the loop alone is said to be compiled.
TC_COMPILE tc_tensor *nothing(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n, int *count) {
  for (int i = 0; i < n; i++) *count += i;
  return tc_exp(x);
}
static tc_tensor *either(const tc_tensor *x, int n) {
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < n; i++) h = tc_exp(h);
  return h;
}
TC_COMPILE tc_tensor *sides(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n, int m) {
  if (n > 3) return either(x, n);
  else return either(x, m);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32), *w = tc_randn(TC_DIMS(6, 3), 2, TC_F32);
  int count = 0;
  for (int n = 0; n < 4; n++) {
    show(f(x, w, n));
    show(g(x, n));
    show(unrolled(x, n));
    show(nothing(x, n, &count));
    show(sides(x, n, 2));
  }
  show(until(x));
  for (int n = 0; n < 3; n++) show(wrong(x, n));
  printf("%d\n", count);
  return finish();
}
// CHECK: remark: 'f' compiled: {{[0-9]+}} ops in {{[0-9]+}} kernels, 2 segments
// CHECK: call_loop.c:7:{{[0-9]+}}: remark: graph break in 'f': the number of rounds of the loop depends on a value that is not known at build time; TC_SPECIALIZE("rounds=...") compiles for a value of it
// CHECK: remark: 'marked' compiled: 4 ops in {{[0-9]+}} kernels, 3 segments
// CHECK: remark: 'g' compiled: 2 ops in 2 kernels, 2 segments
// CHECK: remark: 'unrolled' compiled for rounds=3: 8 ops in 1 kernel
// CHECK: remark: 'until' compiled: 2 ops in 1 kernel, 1 segment
// CHECK: remark: graph break in 'until': the number of rounds of the loop depends on a value that is not known at build time; mark 'settled' TC_COMPILE, with TC_SHAPE at the tensors: parts are compiled then, and the call stays
// CHECK: remark: 'nothing' compiled: 1 ops in 1 kernel, 1 segment
// CHECK: remark: graph break in 'nothing': the number of rounds of the loop depends on a value that is not known at build time; TC_SPECIALIZE("n=...") compiles for a value of it [
// CHECK: remark: 'sides' not compiled: the number of rounds of the loop
// CHECK-DAG: f {{.*}} 4 0 0 
// CHECK-DAG: g {{.*}} 4 0 0 
// CHECK-DAG: unrolled [rounds=3] {{.*}} 1 0 0 
// CHECK-DAG: until {{.*}} 1 0 0 
