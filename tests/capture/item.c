// Numbers read from tensors go on in the graph and come back with the segment.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE double f(const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor **out) {
  double m = tc_item(tc_mean(x, TC_ALL, false));
  *out = tc_sub_s(x, m);
  return 2 * m + 1;
}

/* Functions of numbers, comparisons and ?: go on as well. */
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N,M]"), double most) {
  double norm = sqrt(tc_item(tc_sum(tc_square(x), TC_ALL, false))), first = tc_at(x, TC_INTS(0, 0));
  double sign = first >= 0 ? -1 : 1;
  tc_tensor *clipped = tc_mul_s(x, norm > most ? most / norm : 1);
  return tc_div_s(tc_add_s(clipped, sign), fmax(fabs(first), 1e-3f) + fmin(norm, NAN));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  tc_tensor *o;
  printf("%.4f\n", f(x, &o));
  show(o);
  show(g(x, 1));
  show(g(tc_neg(x), 1000));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 3 ops in 1 kernel 
// CHECK: remark: 'g' compiled: {{[0-9]+}} ops in {{[0-9]}} kernel{{s?}} 
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: g {{.*}} 2 0 0 
