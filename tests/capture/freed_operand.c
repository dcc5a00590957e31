// An operand that was freed is none: the guard refuses it, and the body says what is wrong.
// RUN: %capture --unguarded > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *y TC_SHAPE("f32[N,M]")) {
  return tc_exp(tc_add(x, y));
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32), *y = tc_clone(x);
  show(f(x, y));
  tc_free(y);
  tc_tensor *z = f(x, y);
  printf("%s: %s\n", z ? "a tensor" : "NULL", tc_error());
  tc_clear_error();
  return finish();
}
// CHECK: f {{.*}} 1 0 {{ *}}1 {{ *}}another device 1
