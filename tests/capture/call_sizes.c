// Branches on sizes in functions that are called: a segment for each way, whose sizes are known to be so.
// RUN: %capture > %t.txt && %check < %t.txt
#include <assert.h>
#include <stdlib.h>

#include "capture.h"

// On one side at least 4 rows are there to be taken; on the other the sizes are no number.
static tc_tensor *head(const tc_tensor *x) {
  if (tc_size(x, 0) >= 4) return tc_slice(x, 0, 0, 4, 1);
  return tc_tanh(x);
}
TC_COMPILE tc_tensor *first(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *y = head(tc_add_s(x, 1));
  return tc_mul_s(y, tc_size(y, 0));
}

// Two sizes, and one within an expression.
static tc_tensor *either(const tc_tensor *x, const tc_tensor *w) {
  switch (tc_size(x, -1) - tc_size(w, 0)) {
  case 0: return tc_add(x, w);
  case 1: return tc_mul(tc_slice(x, 1, 0, -1, 1), w);
  default: return tc_neg(x);
  }
}
TC_COMPILE tc_tensor *joined(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *w TC_SHAPE("f32[K]")) {
  return tc_exp(either(x, w));
}

// Asked once, of whatever the caller made.
static tc_tensor *step(tc_tensor *x, int n) {
  if (tc_size(x, 1) > 2 * n) x = tc_relu(x);
  return tc_mul_s(x, 0.5);
}
TC_COMPILE tc_tensor *steps(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = tc_add_s(x, n);
  for (int i = 0; i < 3; i++) h = step(h, n);
  return h;
}

// What ends the program otherwise is a guard, and makes sizes equal.
TC_COMPILE tc_tensor *equal(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *w TC_SHAPE("f32[K]")) {
  if (tc_size(w, 0) != tc_size(x, 1)) abort();
  assert(tc_size(x, 0) < 100);
  return tc_sub(x, w);
}

// K is no operand's size, and is asked for all the same.
static tc_tensor *some(const tc_tensor *x, bool wide) {
  if (!x || tc_size(x, 1) < 1) return NULL;
  return tc_size(x, 1) > 4 && wide ? tc_sum(x, TC_AXES(1), false) : tc_neg(x);
}
TC_COMPILE tc_tensor *doubled(const tc_tensor *x TC_SHAPE("f32[N,2*K]")) {
  return some(tc_exp(x), true);
}

// Of no parts there is no rest, neither where kernels refuse them.
static tc_tensor *parted(const tc_tensor *x, const tc_tensor *w) {
  const int64_t parts = tc_size(w, 0);
  if (parts < 1) return tc_fail_as(TC_ERROR_ARGUMENT, "no parts");
  if (tc_size(x, 0) % parts) return tc_neg(x);
  return tc_mul_s(x, (double)(tc_size(x, 0) / parts > 2 ? 3 : 4));
}
TC_COMPILE tc_tensor *parts(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *w TC_SHAPE("f32[K]")) {
  return parted(tc_exp(x), w);
}
TC_COMPILE tc_tensor *pairs(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *w TC_SHAPE("f32[2*K]")) {
  return parted(tc_exp(x), w);
}

// A check behind something known, of a sum of sizes of which the operand that tells N is met later.
static tc_tensor *first_rows(const tc_tensor *x, int64_t n) {
  if (n > 0 && !(tc_size(x, 0) >= n)) return tc_fail_as(TC_ERROR_ARGUMENT, "too few rows");
  return tc_slice(tc_exp(x), 0, 0, n, 1);
}
TC_COMPILE tc_tensor *summed(const tc_tensor *x TC_SHAPE("f32[M+N,M]"), const tc_tensor *y TC_SHAPE("f32[N]")) {
  return tc_add(first_rows(x, 3), tc_sum(y, TC_ALL, false));
}

int main(void) {
  tc_tensor *w = tc_randn(TC_DIMS(6), 2, TC_F32);
  for (int rows = 2; rows < 6; rows++) {
    tc_tensor *x = tc_randn(TC_DIMS(rows, rows + 3), 1, TC_F32);
    show(first(x));
    show(joined(x, w));
    show(steps(x, 3));
    if (rows == 3) show(equal(x, w));
    show(doubled(tc_randn(TC_DIMS(3, 2 * rows - 4), 1, TC_F32)));
    show(summed(tc_randn(TC_DIMS(rows, 1), 1, TC_F32), tc_randn(TC_DIMS(rows - 1), 1, TC_F32))), tc_clear_error();
    tc_tensor *z = tc_randn(TC_DIMS(2 * rows - 4), 1, TC_F32);
    show(parts(x, z)), tc_clear_error();
    show(pairs(x, z)), tc_clear_error();
  }
  return finish();
}
// CHECK: remark: 'first' compiled for N >= 4: 3 ops in 1 kernel [
// CHECK: remark: 'first' compiled for !(N >= 4): 3 ops in 1 kernel [
// CHECK: remark: 'joined' compiled for (M - K) == 1: 3 ops in 1 kernel [
// CHECK: remark: 'joined' compiled for !((M - K) == 1) && (M - K) == 0: 2 ops in 1 kernel [
// CHECK: remark: 'joined' compiled for !((M - K) == 1) && !((M - K) == 0): 2 ops in 1 kernel [
// CHECK: remark: 'steps' compiled for
// CHECK: remark: 'equal' compiled: 1 ops in 1 kernel [
// CHECK: remark: 'doubled' compiled for
// CHECK: remark: 'parts' compiled for
// CHECK: remark: 'pairs' compiled for
// CHECK: remark: 'summed' compiled: 4 ops in 1 kernel [
// CHECK-NOT: graph break
// CHECK-DAG: first [N >= 4] {{.*}} 2 0 0 
// CHECK-DAG: first [!(N >= 4)] {{.*}} 2 0 0 
// CHECK-DAG: summed {{.*}} 3 0 1 {{.*}}below a range 1
// CHECK-DAG: equal {{.*}} 1 0 0 
