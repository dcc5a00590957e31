// A struct that is copied behind a write to one of its members, also through another pointer.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct setting { int count; double gain[2]; };

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]"), struct setting *s, struct setting *other) {
  tc_tensor *h = tc_exp(x);
  s->count = 5;
  s->gain[1] = 3;
  struct setting copy = *other;
  return tc_mul_s(h, copy.count + copy.gain[1]);
}

/* The copy is of what was there before. */
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N]"), struct setting *s) {
  struct setting copy = *s;
  s->count = 7;
  return tc_mul_s(tc_exp(x), copy.count + copy.gain[1] + s->count);
}

int main(void) {
  struct setting a = {1, {1, 2}}, b = {2, {3, 4}};
  tc_tensor *x = tc_randn(TC_DIMS(24), 1, TC_F32);
  show(f(x, &a, &a));
  show(f(x, &a, &b));
  show(g(x, &b));
  printf("%d %d\n", a.count, b.count);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: {{.*}}, 2 segments
// CHECK-DAG: remark: 'g' compiled: 2 ops in 1 kernel
