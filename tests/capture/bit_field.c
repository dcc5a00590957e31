// Numbers in bit-fields.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct flags { unsigned scale : 3, on : 1; };
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), struct flags s) { return tc_mul_s(tc_exp(x), s.scale * s.on); }

// Objects of the function's own keep as many bits as their members have.
struct narrow { int n : 3; int : 2; unsigned u : 2, : 4; _Bool b : 1; };
TC_COMPILE tc_tensor *local(const tc_tensor *x TC_SHAPE("f32[N,M]"), int k) {
  int seven = 7;
  struct narrow made = {seven, seven - 1, 4}, set, counted = {3, 3, 1}, given = {k, k, k};
  set.n = seven + 5;
  int value = set.u = seven;
  counted.n++;
  counted.u += 2;
  x = tc_add_s(tc_mul_s(x, made.n + 10 * made.u), made.b);
  x = tc_add_s(tc_mul_s(x, set.n + 10 * set.u), value);
  x = tc_add_s(tc_mul_s(x, counted.n), counted.u);
  return tc_add_s(tc_mul_s(x, given.n + 10 * given.u), given.b);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, (struct flags){5, 1}));
  show(local(x, 21));
  show(local(x, -2));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 2 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0
// CHECK-DAG: remark: 'local' compiled: {{[0-9]+}} ops in 1 kernel [
// CHECK-DAG: local {{.*}} 2 0 0
