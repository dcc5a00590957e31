// Numbers in bit-fields.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct flags { unsigned scale : 3, on : 1; };
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), struct flags s) { return tc_mul_s(tc_exp(x), s.scale * s.on); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, (struct flags){5, 1}));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 2 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
