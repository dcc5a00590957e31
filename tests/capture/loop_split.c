// What divides a size, and its bounds, are known behind a break as in front of it: 3*C splits into three in the rounds of a loop.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct layers { float *w TC_SHAPE("f32[L,C,3*C]"); int n, width; };
static inline tc_tensor *weights(const struct layers *m) {
  return tc_wrap_layout(tc_row_major(TC_DIMS(m->n, m->width, 3 * m->width), m->w, TC_F32));
}
TC_COMPILE tc_tensor *rounds(const struct layers *m, const tc_tensor *x TC_SHAPE("f32[N,C]")) {
  tc_tensor *w = weights(m), *h = tc_neg(x), *part[3];
  for (int i = 0; i < m->n; i++) {
    tc_split(tc_matmul(h, tc_select(w, 0, i)), 3, -1, part);
    h = tc_add(tc_mul(part[0], part[1]), part[2]);
  }
  return h;
}

int main(void) {
  static float w[2 * 4 * 12];
  for (int i = 0; i < 96; i++) w[i] = sinf((float)i);
  const struct layers m = {w, 2, 4};
  TC_SCOPE {
    show(rounds(&m, tc_randn(TC_DIMS(3, 4), 1, TC_F32)));
  }
  return finish();
}
// CHECK: graph break in 'rounds': the number of rounds of the loop
// CHECK-NOT: graph break
// CHECK-DAG: rounds {{.*}} 2 0 0 
// CHECK-DAG: rounds {{.*}} 1 0 0 
