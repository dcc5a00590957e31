// A number known at run time only, beside integers: kernels run where it is a value of their dtype, and otherwise the body
// says what it means: nothing (an error), or what is compared with.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *add(const tc_tensor *x TC_SHAPE("u8[N,M]"), double s) { return tc_add_s(x, s); }
TC_COMPILE tc_tensor *bound(const tc_tensor *x TC_SHAPE("u8[N,M]"), double lo, double hi) { return tc_clamp(x, lo, hi); }
TC_COMPILE tc_tensor *less(const tc_tensor *x TC_SHAPE("i32[N,M]"), double s) { return tc_lt_s(x, s); }
TC_COMPILE tc_tensor *equal(const tc_tensor *x TC_SHAPE("i32[N,M]"), double s) { return tc_eq_s(x, s); }
TC_COMPILE tc_tensor *fill(const tc_tensor *x TC_SHAPE("i8[N,M]"), double s) { return tc_add(x, tc_full_like(x, s)); }
TC_COMPILE tc_tensor *count(const tc_tensor *x TC_SHAPE("u8[N,M]"), int n) { return tc_add(x, tc_scalar(n)); }

static void show_or_error(tc_tensor *y) {
  if (y) show(tc_cast(y, TC_F32));
  else printf("%s\n", strrchr(tc_error(), ':'));
  tc_clear_error();
}

int main(void) {
  tc_tensor *x = tc_cast(tc_mul_s(tc_rand(TC_DIMS(4, 6), 1, TC_F32), 256), TC_U8), *i = tc_cast(x, TC_I32), *c = tc_cast(x, TC_I8);
  show_or_error(add(x, 100));
  show_or_error(add(x, 300));
  show_or_error(add(x, -0.5));
  show_or_error(add(x, 0.0 / (tc_size(x, 0) - 4)));
  show_or_error(bound(x, -1, 1e30));
  show_or_error(bound(x, 20, 1.0 / (tc_size(x, 0) - 4)));
  show_or_error(less(i, 99.5));
  show_or_error(less(i, 3e9));
  show_or_error(equal(i, 99));
  show_or_error(equal(i, 99.5));
  show_or_error(fill(c, -128));
  show_or_error(fill(c, 128));
  show_or_error(count(x, 255));
  show_or_error(count(x, 256));
  return finish();
}
// CHECK-DAG: add {{.*}} 2 {{ *}}0 {{ *}}0
// CHECK-DAG: bound {{.*}} 2 {{ *}}0 {{ *}}0
// CHECK-DAG: less {{.*}} 1 {{ *}}0 {{ *}}0
// CHECK-DAG: equal {{.*}} 1 {{ *}}0 {{ *}}0
// CHECK-DAG: fill {{.*}} 1 {{ *}}0 {{ *}}0
// CHECK-DAG: count {{.*}} 1 {{ *}}0 {{ *}}0
