// More ways than are compiled: the call is a break, as it is in a loop or with what kernels compute.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *bits(tc_tensor *x, unsigned set) {
  for (int i = 0; i < 4; i++)
    if (set >> i & 1) x = tc_add_s(tc_abs(x), i);
  return x;
}
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), unsigned set) {
  tc_tensor *y TC_SHAPE("f32[N,M]") = tc_neg(x);
  y = bits(y, set);
  return tc_exp(tc_neg(y));
}

static tc_tensor *times(tc_tensor *x, int n) {
  if (n <= 0) return x;
  return times(tc_mul_s(x, 0.5), n - 1);
}
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *y TC_SHAPE("f32[N,M]") = tc_neg(x);
  y = times(y, n);
  return tc_exp(tc_neg(y));
}

static tc_tensor *by_data(tc_tensor *x) { return tc_item(tc_sum(x, TC_ALL, false)) > 0 ? x : tc_neg(x); }
TC_COMPILE tc_tensor *h(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *y TC_SHAPE("f32[N,M]") = by_data(tc_neg(x));
  return tc_exp(tc_neg(y));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  for (unsigned n = 0; n < 16; n += 5) {
    show(f(x, n));
    show(g(x, (int)n / 5));
  }
  show(h(x));
  return finish();
}
// CHECK: remark: graph break in 'f': the branch depends on a value that is not known at build time; TC_SPECIALIZE(
// CHECK: remark: graph break in 'g': the branch depends on a value that is not known at build time; TC_SPECIALIZE(
// CHECK: remark: graph break in 'h': the choice depends on a value that is not known at build time
