// A write to a part of what tc_contiguous surely copied, since sizes and order of its operand are known: one graph, and
// the operand stays.  Where it is a view of what is in order, the write is seen.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[3,4]"), tc_tensor **turned) {
  tc_tensor *a = tc_mul_s(x, 2), *p = tc_permute(a, TC_AXES(1, 0)), *c = tc_contiguous(p), *s = tc_select(c, 1, 0);
  tc_add_s_(s, 2);
  tc_copy_(tc_select(c, 1, 1), s);
  *turned = tc_exp(p);
  return tc_mul_s(c, 0.5);
}

TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[1,4]"), tc_tensor **turned) {
  tc_tensor *a = tc_mul_s(x, 2), *p = tc_permute(a, TC_AXES(1, 0)), *c = tc_contiguous(p);
  tc_add_s_(tc_select(c, 0, 1), 2);
  *turned = tc_exp(p);
  return tc_mul_s(c, 0.5);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(3, 4), 1, TC_F32), *y = tc_randn(TC_DIMS(1, 4), 2, TC_F32), *turned;
  show(f(x, &turned));
  show(turned);
  show(g(y, &turned));
  show(turned);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: {{[0-9]+}} ops in {{[0-9]+}} kernels [-Rpass=tc]
// CHECK-DAG: remark: 'g' compiled: {{[0-9]+}} ops in {{[0-9]+}} kernels [-Rpass=tc]
// CHECK-NOT: graph break
// CHECK-DAG: f {{.*}} 1 0 0
// CHECK-DAG: g {{.*}} 1 0 0
