// A number that is known behind a segment since a size or a variant is: later segments ask for it again.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

// The size of x is not what was declared: its segment falls back, and what stands behind has to see 9.
TC_COMPILE tc_tensor *size(const tc_tensor *x TC_SHAPE("f32[M,7]"), const tc_tensor *y TC_SHAPE("f32[N]")) {
  int columns = (int)tc_size(x, 1);
  tc_tensor *z = tc_neg(x);
  printf("between\n");
  show(z);
  return tc_mul_s(y, columns);
}

// The segment in front of the break has code for n = 1, that behind it too; n is asked for by both.
TC_COMPILE TC_SPECIALIZE("n=1") tc_tensor *number(const tc_tensor *x TC_SHAPE("f32[N]"), int n) {
  tc_tensor *y = tc_mul_s(x, n);
  printf("sum %g\n", tc_item(tc_sum(y, TC_ALL, false)));
  return tc_sub_s(y, n);
}

// Members of a struct, and a pointer that is NULL.
TC_COMPILE tc_tensor *members(const tc_tensor *x TC_SHAPE("f32[M,7]"), const tc_tensor *bias TC_SHAPE("f32[M]")) {
  struct {
    int rows, columns;
    const tc_tensor *bias;
  } o = {2, (int)tc_size(x, 1), NULL};
  tc_tensor *h = tc_exp(x);
  printf("between\n");
  tc_tensor *y = tc_div_s(tc_mul_s(bias, o.columns), o.rows);
  show(h);
  return o.bias ? tc_add(y, o.bias) : y;
}

int main(void) {
  tc_tensor *v = tc_randn(TC_DIMS(3), 1, TC_F32), *x[2] = {tc_randn(TC_DIMS(3, 7), 2, TC_F32), tc_randn(TC_DIMS(3, 9), 3, TC_F32)};
  for (int i = 0; i < 2; i++) show(size(x[i], v)), show(members(x[i], v));
  for (int n = 0; n < 4; n++) show(number(v, n));
  return finish();
}
// CHECK: remark: 'number' compiled for n=1:
// CHECK-DAG: number [n=1] {{.*}} 1 1 1 0 0
