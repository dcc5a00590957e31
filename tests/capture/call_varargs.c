// A function with a variable number of arguments is a break.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

#include <stdarg.h>
static double sum(int n, ...) {
  va_list list;
  double s = 0;
  va_start(list, n);
  while (n-- > 0) s += va_arg(list, double);
  va_end(list);
  return s;
}
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  double s = sum(2, 0.5, 0.25);
  return tc_mul_s(tc_exp(x), s);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 2 ops in {{[0-9]+}} kernel{{s?}}, 1 segment
// CHECK-DAG: remark: graph break in 'f': a function with a variable number of arguments is called
// CHECK-DAG: f {{.*}} 1 0 0 
