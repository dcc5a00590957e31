// Error paths that jump forward: a label that only those lead to belongs to the statements before, and
// what lies in front of it need not exist behind it.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE int f(const tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor *out TC_SHAPE("f32[N]")) {
  int status = -1;
  tc_tensor *g = NULL, *h = tc_exp(x);
  if (!h) goto done;
  g = tc_neg(h);
  if (!tc_copy_(out, g)) goto failed;
  status = 0;
failed:
  tc_free(g);
done:
  tc_free(h);
  return status;
}

TC_COMPILE int g(const tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor *out TC_SHAPE("f32[N]"), int mode) {
  int status = -1, rounds = 0;
  if (mode == 2) goto again;
  TC_SCOPE {
    tc_tensor *h = tc_exp(x);
    if (!tc_copy_(out, tc_neg(h))) goto again;
  }
  status = 0;
again: // control comes here from the branch, too, and from below
  tc_add_(out, tc_scalar(1));
  if (++rounds < 3) goto again;
  return status;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(24), 1, TC_F32), *o = tc_zeros_like(x);
  printf("%d\n", f(x, o));
  show(o);
  printf("%d\n", g(x, o, 0));
  show(o);
  printf("%d\n", g(x, o, 2));
  show(o);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in 1 kernel [-Rpass
// CHECK-DAG: remark: 'g' compiled: {{.*}}, 2 segments [-Rpass
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: g {{.*}} 6 0 0 
