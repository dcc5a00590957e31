// A block in a loop over layers: unrolled where the count is known, and each kernel is made once, of
// whatever layer; a loop of unknown count calls one segment.  What twelve layers take to compile, and the
// size of the object, are printed.
// RUN: %capture > %t.txt && %check < %t.txt
// RUN: %python %S/Inputs/repeated.py %compiler %plugin %include %explain %s %t > %t.sizes && %check --check-prefix=SIZES < %t.sizes
#include "capture.h"

#ifndef LAYERS
#define LAYERS 3
#endif

struct layer {
  tc_tensor *up TC_SHAPE("f32[32,F]"), *down TC_SHAPE("f32[F,32]"), *norm TC_SHAPE("f32[32]"); // each layer has its F
};
struct model {
  int count;
  struct layer layer[12];
};

static tc_tensor *block(const struct layer *l, const tc_tensor *x) {
  tc_tensor *h = tc_gelu(tc_matmul(tc_rms_norm(x, 1, l->norm, 1e-5), l->up));
  return tc_add(x, tc_matmul(h, l->down));
}

TC_COMPILE tc_tensor *known(const struct model *m, const tc_tensor *x TC_SHAPE("f32[T,32]")) {
  tc_tensor *h = tc_mul_s(x, 1);
  for (int i = 0; i < LAYERS; i++) h = block(&m->layer[i], h);
  return h;
}

#ifndef KNOWN_ONLY
TC_COMPILE tc_tensor *unknown(const struct model *m, const tc_tensor *x TC_SHAPE("f32[T,32]")) {
  tc_tensor *h = tc_mul_s(x, 1);
  for (int i = 0; i < m->count; i++) h = block(&m->layer[i], h);
  return h;
}

int main(void) {
  struct model m = {.count = LAYERS};
  for (int i = 0; i < LAYERS; i++)
    m.layer[i] = (struct layer){tc_mul_s(tc_randn(TC_DIMS(32, 64), 3 * i + 1, TC_F32), 0.1),
                                tc_mul_s(tc_randn(TC_DIMS(64, 32), 3 * i + 2, TC_F32), 0.1),
                                tc_randn(TC_DIMS(32), 3 * i + 3, TC_F32)};
  tc_tensor *x = tc_randn(TC_DIMS(5, 32), 100, TC_F32);
  show(known(&m, x));
  show(unknown(&m, x));
  return finish();
}
#endif
// CHECK: remark: 'known' compiled: 16 ops in {{[0-9]+}} kernels {{\[}}
// CHECK: remark: 'unknown' compiled: 6 ops in {{[0-9]+}} kernels, 2 segments
// CHECK-DAG: known {{.*}} 1 0 0 
// CHECK-DAG: unknown {{.*}} 3 0 0 

// SIZES: 4 layers: [[KERNELS:[0-9]+]] distinct kernels
// SIZES: 12 layers: [[KERNELS]] distinct kernels
