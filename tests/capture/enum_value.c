// Enumerators, and a switch on one.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum act { RELU, TANH, NONE };
static tc_tensor *act(const tc_tensor *x, enum act a) {
  switch (a) {
  case RELU: return tc_relu(x);
  case TANH: return tc_tanh(x);
  default: return tc_clone(x);
  }
}
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) { return act(act(tc_neg(x), RELU), TANH); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 3 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: f {{.*}} 1 0 0 
