// isnan and its kin of <math.h>, of numbers that the program has and of such as kernels compute.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE_WITH("fullgraph") tc_tensor *given(const tc_tensor *x TC_SHAPE("f32[N,M]"), double a, float b) {
  double s = isnan(a) || isinf(a) ? 2.0 : a, t = isfinite(b) && isnormal(b) ? (double)b : 3.0;
  return tc_add_s(tc_mul_s(x, s), signbit(b) ? -t : t);
}

TC_COMPILE_WITH("fullgraph") tc_tensor *computed(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  double sum = tc_item(tc_sum(x, TC_ALL, false));
  return tc_mul_s(x, isnan(sum) ? 0.0 : isfinite(sum) ? sum : 4.0);
}

TC_COMPILE int branch(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  double sum = tc_item(tc_sum(x, TC_ALL, false));
  if (isnan(sum)) return -1;
  return isinf(sum) ? 1 : 2;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(3, 5), 1, TC_F32), *y = tc_clone(x);
  const double a[] = {0.5, NAN, -INFINITY};
  const float b[] = {-2, INFINITY, 1e-42f};
  for (int i = 0; i < 3; i++) show(given(x, a[i], b[i]));
  const double first[] = {1, NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 4; i++) {
    tc_fill_(tc_slice(y, 0, 0, 1, 1), first[i]);
    show(computed(y));
    printf("%d\n", branch(y));
  }
  tc_free(x), tc_free(y);
  return finish();
}
// CHECK-NOT: whose body is not visible
// CHECK-DAG: remark: 'given' compiled: 
// CHECK-DAG: remark: 'computed' compiled: 
// CHECK-DAG: given {{.*}} 3 0 0 
// CHECK-DAG: computed {{.*}} 4 0 0 
