// A layout in row-major order whose rank and dtype stand there needs no TC_SHAPE: two arrays of one struct.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum { BLOCK = 4 };
struct quantised { int rows, cols; int8_t *q; float *scale; };
static inline tc_tensor *codes(const struct quantised *m) {
  return tc_wrap_layout(tc_row_major(TC_DIMS(m->rows, m->cols / BLOCK, BLOCK), m->q, TC_I8));
}
static inline tc_tensor *scales(const struct quantised *m) {
  return tc_wrap_layout(tc_row_major(TC_DIMS(m->rows, m->cols / BLOCK, 1), m->scale, TC_F32));
}

TC_COMPILE tc_tensor *product(const struct quantised *w, const tc_tensor *x TC_SHAPE("f32[B,K]")) {
  tc_tensor *wide = tc_reshape(tc_mul(tc_cast(codes(w), TC_F32), scales(w)), TC_DIMS(w->rows, w->cols));
  return tc_matmul(x, tc_transpose(wide, 0, 1));
}

// Written where it lies.
TC_COMPILE bool scale_by(struct quantised *w, double s) {
  return tc_mul_s_(scales(w), s) != NULL;
}

int main(void) {
  static int8_t q[6][8];
  static float s[6][2];
  for (int i = 0; i < 48; i++) q[i / 8][i % 8] = (int8_t)(i * 37 % 256);
  for (int i = 0; i < 12; i++) s[i / 2][i % 2] = (float)(i + 1) / 16;
  struct quantised w = {6, 8, q[0], s[0]}, half = {3, 8, q[0], s[0]}, none = {6, 8, q[0], NULL};
  tc_tensor *x = tc_randn(TC_DIMS(2, 8), 1, TC_F32);
  show(product(&w, x));
  printf("%d\n", scale_by(&half, 2));
  show(product(&half, x));
  show(product(&w, x));
  show(product(&none, x));
  return finish();
}
// CHECK-DAG: remark: 'product' compiled: 5 ops in 2 kernels
// CHECK-DAG: remark: 'scale_by' compiled: 1 ops in 1 kernel
// CHECK-DAG: product {{.*}} 3 0 1 
// CHECK-DAG: scale_by {{.*}} 1 0 0 
