// Axes of unknown length that may be shorter than a vector: other lanes below a width, and the same results on both sides of it.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *rows(const tc_tensor *x TC_SHAPE("f32[R,C]"), const tc_tensor *w TC_SHAPE("f32[C]")) {
  return tc_add(tc_softmax(x, -1), tc_rms_norm(x, 1, w, 1e-5));
}
TC_COMPILE tc_tensor *narrow(const tc_tensor *x TC_SHAPE("bf16[R,C]")) { return tc_log_softmax(x, -1); }
TC_COMPILE tc_tensor *points(const tc_tensor *x TC_SHAPE("f32[R,C]"), const tc_tensor *w TC_SHAPE("f32[C]")) {
  return tc_add(tc_mul(tc_tanh(x), w), x);
}
TC_COMPILE tc_tensor *picked(const tc_tensor *x TC_SHAPE("f32[R,C]"), const tc_tensor *i TC_SHAPE("i64[N]")) {
  return tc_mul_s(tc_embedding(x, i), 2);
}
TC_COMPILE tc_tensor *turned(const tc_tensor *x TC_SHAPE("f32[R,C]")) { return tc_mul_s(tc_transpose(x, 0, 1), 0.5); }

static double total(const tc_tensor *y) { return tc_item(tc_sum(tc_square(tc_cast(y, TC_F64)), TC_ALL, false)); }

int main(void) {
  static const int64_t size[] = {1, 2, 7, 8, 15, 16, 17, 40, 300};
  const int n = sizeof size / sizeof *size;
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++) TC_SCOPE {
        tc_tensor *x = tc_randn(TC_DIMS(size[r], size[c]), 1, TC_F32), *w = tc_randn(TC_DIMS(size[c]), 2, TC_F32);
        tc_tensor *i = tc_remainder(tc_arange(size[c] + 20, 0, 7, TC_I64), tc_full(TC_DIMS(1), (double)size[r], TC_I64));
        tc_tensor *bytes = tc_cast(x, TC_BF16);
        printf("%d %d: %.3e %.1e %.4e %.4e %.4e\n", (int)size[r], (int)size[c], total(rows(x, w)), total(narrow(bytes)), total(points(x, w)),
               total(picked(x, i)), total(turned(x)));
      }
  return finish();
}
// CHECK-DAG: rows {{.*}} 81 0 0
// CHECK-DAG: narrow {{.*}} 81 0 0
// CHECK-DAG: points {{.*}} 81 0 0
// CHECK-DAG: picked {{.*}} 81 0 0
// CHECK-DAG: turned {{.*}} 81 0 0
