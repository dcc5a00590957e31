// TC_FUNCTION_SCOPE: a scope up to the end of the function.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

// The whole body: the scope leaves no trace.
TC_COMPILE tc_tensor *whole(const tc_tensor *x TC_SHAPE("f32[N]")) {
  TC_FUNCTION_SCOPE;
  tc_tensor *h = tc_exp(x);
  return tc_keep(tc_add(h, tc_neg(h)));
}

// No jump leads over it: what is behind it is compiled.
TC_COMPILE tc_tensor *broken(const tc_tensor *x TC_SHAPE("f32[N]")) {
  TC_FUNCTION_SCOPE;
  tc_tensor *h = tc_exp(x);
  printf("break\n");
  return tc_keep(tc_add(h, tc_abs(h)));
}

TC_COMPILE void nothing(tc_tensor *x TC_SHAPE("f32[N]")) {
  TC_FUNCTION_SCOPE;
  tc_copy_(x, tc_exp(tc_neg(x)));
}

static tc_tensor *helper(const tc_tensor *x) {
  TC_FUNCTION_SCOPE;
  return tc_keep(tc_tanh(tc_neg(x)));
}

TC_COMPILE tc_tensor *nested(const tc_tensor *x TC_SHAPE("f32[N]"), int n) {
  TC_FUNCTION_SCOPE;
  tc_tensor *h = helper(x);
  for (int i = 0; i < n; i++) {
    TC_FUNCTION_SCOPE;
    h = tc_keep(tc_add(helper(h), x));
  }
  return tc_keep(h);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(24), 1, TC_F32);
  show(whole(x));
  show(broken(x));
  nothing(x);
  show(x);
  show(nested(x, 3));
  return finish();
}
// CHECK-NOT: frees nothing
// CHECK-DAG: remark: 'whole' compiled: 3 ops in 1 kernel [
// CHECK-DAG: remark: 'broken' compiled: 3 ops in 2 kernels, 2 segments
// CHECK-DAG: remark: 'nothing' compiled: 3 ops in 1 kernel [
// CHECK-DAG: remark: 'nested' compiled: {{.*}} 2 segments
