// Pointers to local variables and to elements of local arrays.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static void twice(tc_tensor **t) { *t = tc_add(*t, *t); }
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *t[2] = {tc_exp(x), tc_neg(x)}, **p = t;
  twice(&t[1]);
  twice(p);
  return tc_sub(p[0], *(p + 1));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 5 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
