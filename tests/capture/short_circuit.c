// && and || decide at build time what runs.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *g(const tc_tensor *x, int n) { return n > 0 && tc_rank(x) == 2 ? tc_exp(x) : tc_neg(x); }
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = NULL;
  if (!h || tc_numel(h) > 3) h = g(x, 1);
  return tc_add(h, g(x, 0));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
