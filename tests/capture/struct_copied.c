// A copy of a struct that nobody has looked at is handed on.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct config { int mode; unsigned char depth; float scale[3]; struct { int rounds; tc_tensor *w TC_SHAPE("f32[M]"); } part; };

TC_COMPILE tc_tensor *f(const struct config *c, struct config *other, const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  struct config own = *c, looked_at = *c;
  tc_tensor *h = tc_mul_s(x, looked_at.scale[1]);
  *other = *c;
  printf("%d %d %g\n", own.mode, own.depth, own.scale[2]);
  h = tc_add(h, own.part.w);
  printf("%d %d %g %d\n", looked_at.mode, looked_at.part.rounds, looked_at.scale[2], other->mode);
  return h;
}

TC_COMPILE tc_tensor *assigned(const struct config *c, const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  struct config own = {0};
  printf("first %d\n", own.mode);
  own = *c;
  tc_tensor *h = tc_exp(x);
  printf("then %d\n", own.mode);
  return tc_mul_s(h, own.scale[0]);
}

int main(void) {
  struct config c = {3, 4, {0.5f, 2, 3}, {7, tc_randn(TC_DIMS(5), 2, TC_F32)}}, other;
  tc_tensor *x = tc_randn(TC_DIMS(4, 5), 1, TC_F32);
  show(f(&c, &other, x));
  show(assigned(&c, x));
  return finish();
}
// CHECK: remark: 'f' compiled: 2 ops in 2 kernels, 2 segments
// CHECK: remark: 'assigned' compiled: 2 ops in 2 kernels, 2 segments
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: assigned {{.*}} 1 0 0 
