// A switch on a run-time number in a function that is called: cases, ranges, falling through, none.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum kind { RELU, TANH, SQUARE };

static tc_tensor *apply(tc_tensor *x, enum kind kind) {
  switch (kind) {
  case RELU: return tc_relu(x);
  case TANH: x = tc_tanh(x); // falls through - and squared
  case SQUARE: x = tc_mul(x, x); break;
  }
  return tc_add_s(x, 1);
}
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), enum kind kind) { return tc_exp(apply(tc_neg(x), kind)); }

static tc_tensor *ranged(tc_tensor *x, long n) {
  switch (n) {
  case -3 ... -1: return tc_neg(x);
  default: return x;
  case 1000000000000: return tc_abs(x);
  }
}
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N,M]"), long n) { return tc_mul_s(ranged(tc_sub_s(x, 2), n), 3); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  for (int kind = 0; kind < 4; kind++) show(f(x, (enum kind)kind));
  for (int n = -4; n < 2; n++) show(g(x, n));
  show(g(x, 1000000000000));
  return finish();
}
// CHECK: remark: 'f' compiled for kind == 2: 4 ops in 1 kernel [
// CHECK: remark: 'f' compiled for !(kind == 2) && kind == 1: 5 ops in 1 kernel [
// CHECK: remark: 'f' compiled for !(kind == 2) && !(kind == 1) && kind == 0: 3 ops in 1 kernel [
// CHECK: remark: 'f' compiled for !(kind == 2) && !(kind == 1) && !(kind == 0): 3 ops in 1 kernel [
// CHECK: remark: 'g' compiled for n == 1000000000000: 3 ops in 1 kernel [
// CHECK: remark: 'g' compiled for !(n == 1000000000000) && n >= -3 && n <= -1: 3 ops in 1 kernel [
// CHECK-NOT: graph break
// CHECK-DAG: g [!(n == 1000000000000) && n >= -3 && n <= -1] {{.*}} 3 0 0 
