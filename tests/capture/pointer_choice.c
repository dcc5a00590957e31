// An object that may be missing: each side of ?: is a way; a check of an argument in a called function is a condition.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct settings { double rate; int64_t calls; };
static struct settings standard = {0.5, 0};

static tc_tensor *scaled(const tc_tensor *x, double by, struct settings *s) {
  if (!(by > 0)) return (tc_tensor *)tc_fail_as(TC_ERROR_ARGUMENT, "scaled: by %g", by);
  struct settings *here = s ? s : &standard;
  here->calls++;
  return tc_mul_s(x, by * here->rate);
}
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), double a, double b, double c, double d, struct settings *s) {
  return scaled(scaled(scaled(scaled(x, a, s), b, s), c, s), d, s);
}
static tc_tensor *rated(const tc_tensor *x, const struct settings *s) { return tc_mul_s(x, (s ? s : &standard)->rate); }
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N,M]"), struct settings *r, struct settings *s, struct settings *t, struct settings *u) {
  return rated(rated(rated(rated(x, r), s), t), u); // too many ways: they are taken to be there
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  struct settings own = {2, 0};
  show(f(x, 1, 2, 3, 4, &own));
  show(f(x, 1, 2, 3, 4, NULL));
  show(f(x, 1, 2, -3, 4, NULL));
  puts(tc_error());
  tc_clear_error();
  show(g(x, &own, &own, &own, &own));
  show(g(x, NULL, &own, NULL, &own));
  printf("%d %d\n", (int)own.calls, (int)standard.calls);
  return finish();
}
// CHECK-NOT: graph break
// CHECK-DAG: remark: 'f' compiled for s != 0: 4 ops in 1 kernel
// CHECK-DAG: remark: 'f' compiled for !(s != 0): 4 ops in 1 kernel
// CHECK-DAG: remark: 'g' compiled: 4 ops in 1 kernel
// CHECK-DAG: {{^}}f [s != 0] {{.*}} 1 0 0
// CHECK-DAG: {{^}}f [!(s != 0)] {{.*}} 1 0 0
// CHECK-DAG: {{^}}g {{.*}} 1 0 0
