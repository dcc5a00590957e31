// A view of which every element is written shows what was written: no gradient leads to what it was, which would be
// 0 times an infinite derivative.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *slope(tc_tensor *y, tc_tensor *x) {
  tc_tensor *g;
  y = tc_add(tc_sum(y, TC_ALL, false), tc_sum(x, TC_ALL, false));
  return tc_grad(y, 1, &x, &g) ? g : NULL;
}

// A part at a position of the run, through a view that shows all of it.
TC_COMPILE tc_tensor *turned(tc_tensor *x TC_SHAPE("f64[N,K,M]"), int n) {
  tc_tensor *v = tc_select(tc_sqrt(x), 2, n);
  tc_zero_(tc_transpose(v, 0, 1));
  return slope(v, x);
}

// In the opposite direction, by what depends on x.
TC_COMPILE tc_tensor *reversed(tc_tensor *x TC_SHAPE("f64[N,K,M]")) {
  tc_tensor *v = tc_slice(tc_sqrt(x), 1, 0, 2, 1);
  tc_copy_(tc_flip(v, TC_AXES(0, 1)), tc_mul_s(tc_slice(x, 1, 0, 2, 1), 3));
  return slope(tc_mul(v, tc_slice(x, 1, 1, 3, 1)), x);
}

// Steps over an axis of one element.
TC_COMPILE tc_tensor *stepped(tc_tensor *x TC_SHAPE("f64[1,K,M]")) {
  tc_tensor *y = tc_sqrt(x);
  tc_fill_(tc_slice(y, 0, -1, INT64_MIN, -2), 2);
  return slope(tc_mul(y, x), x);
}

// Through a reshape, and then a part of that again.
TC_COMPILE tc_tensor *reshaped(tc_tensor *x TC_SHAPE("f64[N,K,M]"), int n) {
  tc_tensor *v = tc_select(tc_sqrt(x), 0, n);
  tc_zero_(tc_reshape(v, TC_DIMS(-1)));
  return slope(tc_slice(v, 0, 1, INT64_MAX, 2), x);
}

// Of the rest, the gradient is that of before.
TC_COMPILE tc_tensor *part(tc_tensor *x TC_SHAPE("f64[N,K,M]"), int n) {
  tc_tensor *y = tc_square(x), *v = tc_slice(y, 1, n, n + 2, 1);
  tc_zero_(tc_select(v, 2, 0));
  return slope(tc_mul(v, tc_slice(x, 1, 0, 2, 1)), x);
}

// Written again and again: it stays a view, which others overlap.
TC_COMPILE tc_tensor *again(const tc_tensor *x TC_SHAPE("f64[N,K,M]"), int n) {
  tc_tensor *y = tc_square(x), *v = tc_slice(y, 1, n, n + 2, 1);
  tc_add_s_(tc_abs_(v), 1);
  tc_tensor *row = tc_select(v, 1, 0), *w = tc_slice(y, 2, n, n + 1, 1);
  tc_mul_(row, row);
  tc_add_(w, w);
  tc_add_(v, tc_slice(y, 1, 0, 2, 1));
  return tc_add(tc_mul(v, v), tc_unsqueeze(row, 1));
}

int main(void) {
  tc_tensor *x = tc_requires_grad_(tc_reshape(tc_arange(24, 0, 0.25, TC_F64), TC_DIMS(2, 3, 4)), true);
  tc_tensor *one = tc_requires_grad_(tc_reshape(tc_arange(12, 0, 0.5, TC_F64), TC_DIMS(1, 3, 4)), true);
  show(turned(x, 0)), show(reversed(x)), show(stepped(one)), show(reshaped(x, 0)), show(part(x, 1)), show(again(tc_detach(x), 1));
  return finish();
}
// CHECK-NOT: graph break
// CHECK-NOT: nan
// CHECK-DAG: turned {{.*}} 1 0 0 
// CHECK-DAG: reversed {{.*}} 1 0 0 
// CHECK-DAG: stepped {{.*}} 1 0 0 
// CHECK-DAG: reshaped {{.*}} 1 0 0 
// CHECK-DAG: part {{.*}} 1 0 0 
// CHECK-DAG: again {{.*}} 1 0 0 
