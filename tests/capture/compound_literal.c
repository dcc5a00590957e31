// Structs by compound literals and designated initialisers.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct cfg { double scale; int axis; bool keep; };
static tc_tensor *g(const tc_tensor *x, struct cfg c) { return tc_mul_s(tc_sum(x, TC_AXES(c.axis), c.keep), c.scale); }
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return g(x, (struct cfg){.axis = 1, .keep = true, .scale = 0.5}); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 2 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
