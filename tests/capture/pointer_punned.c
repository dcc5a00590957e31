// Objects that are read as what they are not, by address, and pointers to structs that are indexed.
// RUN: %capture -fno-strict-aliasing > %t.txt && %check < %t.txt
#include "capture.h"

struct inner { int a, b; };
struct middle { struct inner p, q; };
struct outer { struct middle l, r; };

TC_COMPILE tc_tensor *bits(const tc_tensor *x TC_SHAPE("f32[N]"), float by) {
  float one = 1;
  int read = *(int *)&one;
  return tc_add_s(x, by * (float)(read >> 23));
}
TC_COMPILE tc_tensor *byte(const tc_tensor *x TC_SHAPE("f32[N]")) {
  double d = 3;
  void *p = &d;
  unsigned char *bytes = p;
  return tc_add_s(x, bytes[7]);
}
TC_COMPILE tc_tensor *indexed(const tc_tensor *x TC_SHAPE("f32[N]")) {
  struct outer o = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, *p = &o;
  return tc_add_s(x, p[0].r.q.a + (&o.l)[0].q.b);
}
TC_COMPILE tc_tensor *same_type(const tc_tensor *x TC_SHAPE("f32[N]")) {
  tc_tensor *parts[2] = {tc_exp(x), tc_neg(x)};
  const tc_tensor *const *all = (const tc_tensor *const *)(void *)parts;
  return tc_concat(all, 2, 0);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(5), 1, TC_F32);
  show(bits(x, 2));
  show(byte(x));
  show(indexed(x));
  show(same_type(x));
  return finish();
}
// CHECK-DAG: pointer_punned.c:[[#@LINE-27]]:15: remark: graph break in 'bits': a pointer is taken for one of another type
// CHECK-DAG: pointer_punned.c:[[#@LINE-22]]:26: remark: graph break in 'byte': a pointer is taken for one of another type
// CHECK-DAG: remark: 'indexed' compiled: 1 ops in 1 kernel [
// CHECK-DAG: remark: 'same_type' compiled: 3 ops in 1 kernel [
// CHECK-DAG: same_type {{.*}} 1 0 0 
