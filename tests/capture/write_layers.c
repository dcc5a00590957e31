// A cache of keys and values of all layers in one tensor: parts of it are written and read in turn, and it
// stays where it is.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum { LAYERS = 3, LENGTH = 6 };

TC_COMPILE_WITH("fullgraph", "max_workspace=16K")
tc_tensor *step(tc_tensor *cache TC_SHAPE("f32[3,2,L<=64,D]"), const tc_tensor *x TC_SHAPE("f32[1,D<=64]"), int pos) {
  tc_tensor *h = tc_mul_s(x, 0.5);
  for (int l = 0; l < LAYERS; l++) {
    tc_tensor *keys = tc_select(tc_select(cache, 0, l), 0, 0), *values = tc_select(tc_select(cache, 0, l), 0, 1);
    tc_copy_(tc_slice(keys, 0, pos, pos + 1, 1), tc_sin(h));
    tc_copy_(tc_slice(values, 0, pos, pos + 1, 1), tc_cos(h));
    tc_tensor *weight = tc_softmax(tc_matmul(h, tc_transpose(tc_slice(keys, 0, 0, pos + 1, 1), 0, 1)), -1);
    h = tc_add(h, tc_matmul(weight, tc_slice(values, 0, 0, pos + 1, 1)));
  }
  return h;
}

int main(void) {
  tc_tensor *cache = tc_zeros(TC_DIMS(LAYERS, 2, LENGTH, 8), TC_F32);
  for (int pos = 0; pos < LENGTH; pos++) show(step(cache, tc_randn(TC_DIMS(1, 8), (uint64_t)pos, TC_F32), pos));
  show(cache);
  return finish();
}
// CHECK-DAG: remark: 'step' compiled: 52 ops in 6 kernels
// CHECK-DAG: step {{.*}} 6 0 0 
