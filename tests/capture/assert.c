// assert() and abort(): where they end the program there are no kernels.
// RUN: %capture > %t.txt && %check < %t.txt
#include <assert.h>
#include <stdlib.h>

#include "capture.h"

static tc_tensor *scaled(const tc_tensor *x, int n) {
  assert(n > 0 && n < 100);
  return tc_mul_s(x, n);
}
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n, const int *limit) {
  assert(x && limit);
  if (n > *limit) abort();
  tc_tensor *y = tc_exp(scaled(x, n));
  assert(y != NULL);
  return tc_neg(y);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  int limit = 3;
  show(f(x, 2, &limit));
  show(f(x, 3, &limit));
  return finish();
}
// CHECK: remark: 'f' compiled: 3 ops in 1 kernel [
// CHECK-NOT: graph break
// CHECK-DAG: f {{.*}} 2 0 0 
