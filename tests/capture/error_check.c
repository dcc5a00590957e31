// NULL checks of operations are known to pass, and so are questions for errors where none is pending.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_exp(x);
  if (!h) return NULL;
  tc_tensor *g = tc_neg(h);
  if (g == NULL) {
    fprintf(stderr, "failed");
    return NULL;
  }
  return tc_mul(g, h);
}

TC_COMPILE bool done(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_add_s_(x, 1);
  tc_mul_s_(x, 0.5);
  return !tc_error();
}

TC_COMPILE int code(tc_tensor *x TC_SHAPE("f32[N,M]"), const char **why) {
  if (tc_error_count() > 0) return -1;
  tc_exp_(x);
  *why = tc_error();
  if (*why) return tc_error_code();
  tc_neg_(x);
  return tc_error_code() != TC_ERROR_NONE ? -2 : 0;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  const char *why = "?";
  printf("%d %d %d\n", done(x), code(x, &why), why == NULL);
  tc_matmul(x, x); // fails
  printf("%d %d\n", done(x), code(x, &why));
  tc_clear_error();
  show(x);
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 3 ops in 1 kernel 
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: done {{.*}} 1 0 0 
// CHECK-DAG: code {{.*}} 1 0 0 
