// Numbers that only one side of a choice may read: the other side has no such memory, or divides by 0.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]"), const int *which, int n, const double *scale) {
  int last = n > 0 ? which[n - 1] : 0;
  double most = MAX(last, n > 1 ? which[n - 2] : -1);
  double s = scale ? 1 : 0;
  if (n > 2 && which[2] / n > 3) s += 1;
  return tc_add_s(tc_mul_s(tc_exp(x), most), s + (n ? 12 / n : 5));
}

TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N]"), int n, const double *scale) {
  double s = n ? tc_item(tc_sum(tc_mul_s(x, *scale), TC_ALL, false)) : 0;
  s += n ? tc_item(tc_sum(tc_add_s(x, 12 / n), TC_ALL, false)) : 1;
  return tc_add_s(tc_exp(x), s);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(24), 1, TC_F32);
  const double scale = 1.5;
  show(f(x, (const int[]){4, 7, 20}, 3, &scale));
  show(f(x, (const int[]){4}, 1, NULL));
  show(f(x, NULL, 0, NULL));
  show(g(x, 2, &scale));
  show(g(x, 0, NULL));
  return finish();
}
// CHECK-NOT: whether this element
// CHECK: remark: 'f' compiled: {{.*}} ops in
// CHECK: remark: 'g' compiled: 2 ops in 1 kernel, 1 segment
