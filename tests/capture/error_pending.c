// "Not given" means a failed operation where an error is pending: then the statements run.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *w TC_SHAPE("f32[K,M]")) {
  return tc_linear(x, w, NULL);
}

struct row { float *data; int n; };
static tc_tensor *view(const struct row *r) { return tc_wrap_layout(tc_row_major(TC_DIMS(r->n), r->data, TC_F32)); }

// So it does behind what is no layout of a tensor, though nobody reads that.
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N,M]"), const struct row *r TC_SHAPE("f32[K]")) {
  tc_tensor *unread = view(r), *y = tc_rms_norm(x, 1, NULL, 1e-5);
  (void)unread;
  return y;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32), *w = tc_randn(TC_DIMS(3, 6), 2, TC_F32);
  show(f(x, w));
  tc_tensor *failed = tc_matmul(x, w);
  tc_tensor *y = f(x, w);
  printf("%d %d\n", !failed, !y);
  tc_clear_error();
  show(f(x, w));
  float data[] = {1, 2};
  show(g(x, &(struct row){data, 2}));
  y = g(x, &(struct row){NULL, 2});
  printf("%d\n", !y);
  tc_clear_error();
  return finish();
}
// CHECK: remark: 'f' compiled: 1 ops
// CHECK-DAG: f {{.*}} 2 0 0 
// CHECK-DAG: g {{.*}} 1 0 1 {{ *}}no layout of a tensor 1
