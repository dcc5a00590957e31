// A struct is copied, and the copy changed.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct pair { tc_tensor *a, *b; };
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  struct pair p = {tc_exp(x), tc_neg(x)}, q = p;
  q.a = tc_relu(p.b);
  return tc_add(tc_add(p.a, q.a), q.b);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 5 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
