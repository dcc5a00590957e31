// What stands in TC_NO_GRAD is recorded by no tape: kernels run on leaves, and write them, while gradients are recorded.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

#include <tcompile/optim.h>

#define W tc_tensor *w TC_SHAPE("f32[N]")
#define G const tc_tensor *g TC_SHAPE("f32[N]")

TC_COMPILE void descend(W, G, double rate) {
  TC_NO_GRAD tc_sub_(w, tc_mul_s(g, rate));
}

// A part, and what is read again of it, as a constant.
TC_COMPILE tc_tensor *part(W, G) {
  tc_tensor *y;
  TC_NO_GRAD {
    tc_mul_s_(tc_slice(w, 0, 0, 4, 1), 0.5);
    y = tc_exp(tc_add(w, g));
  }
  return y;
}

TC_COMPILE bool momentum(W, tc_tensor *v TC_SHAPE("f32[N]"), const tc_tensor *g TC_SHAPE("f32[N]")) {
  tc_tensor *p[] = {w}, *state[] = {v}, *list[] = {(tc_tensor *)g};
  return tc_sgd(1, p, list, state, (tc_sgd_options){.rate = 0.1, .momentum = 0.9});
}

TC_COMPILE tc_tensor *detached(W) { return tc_square(tc_detach(w)); }

TC_COMPILE double number(W) {
  double s = 0;
  TC_NO_GRAD s = tc_item(tc_sum(tc_square(w), TC_ALL, false));
  return s;
}

// Those are recorded: what is read behind the write, one of two uses, a write outside.
TC_COMPILE tc_tensor *behind(W, G) {
  TC_NO_GRAD tc_sub_(w, g);
  return tc_square(w);
}
TC_COMPILE tc_tensor *either(W, G) {
  tc_tensor *y;
  TC_NO_GRAD y = tc_mul(w, g);
  return tc_add(y, w);
}
TC_COMPILE void outside(tc_tensor *h TC_SHAPE("f32[N]"), G) { tc_mul_(h, g); }

int main(void) {
  tc_tensor *w = tc_requires_grad_(tc_randn(TC_DIMS(8), 1, TC_F32), true), *g = tc_randn(TC_DIMS(8), 2, TC_F32);
  tc_tensor *v = tc_zeros(TC_DIMS(8), TC_F32);
  descend(w, g, 0.25);
  show(tc_detach(w));
  tc_tensor *y = part(w, g);
  printf("%d\n", tc_requires_grad(y));
  show(y);
  printf("%d\n", momentum(w, v, g));
  show(v);
  y = detached(w);
  printf("%d %.4f\n", tc_requires_grad(y), number(w));
  y = behind(w, g);
  printf("%d\n", tc_requires_grad(y));
  y = either(w, g);
  printf("%d\n", tc_requires_grad(y));
  tc_tensor *h = tc_mul_s(w, 2);
  outside(h, g);
  tc_backward(tc_sum(h, TC_ALL, false));
  show(tc_grad_of(w));
  return finish();
}
// CHECK-DAG: descend {{.*}} 1 0 0
// CHECK-DAG: part {{.*}} 1 0 0
// CHECK-DAG: momentum {{.*}} 1 0 0
// CHECK-DAG: detached {{.*}} 1 0 0
// CHECK-DAG: number {{.*}} 1 0 0
// CHECK-DAG: behind {{.*}} 0 0 1
// CHECK-DAG: either {{.training.}} {{.*}} 1 0 0
// CHECK-DAG: outside {{.*}} 0 0 1
