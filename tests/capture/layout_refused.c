// Layouts that cannot be operands, each with the reason: the rest is compiled.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct matrix { float *data; int rows, cols; long reads; };
static tc_layout counted(struct matrix *m) {
  m->reads++;
  return tc_row_major(TC_DIMS(m->rows, m->cols), m->data, TC_F32);
}
static tc_layout layout_of(const struct matrix *m) { return tc_row_major(TC_DIMS(m->rows, m->cols), m->data, TC_F32); }

TC_COMPILE tc_tensor *unknown(const struct matrix *m) {
  return tc_exp(tc_wrap_layout(layout_of(m)));
}
// CHECK: layout_refused.c:[[#@LINE-2]]:17: remark: 'unknown' not compiled: the rank of this tensor is not known; write TC_SHAPE("f32[N,M]") behind
// CHECK-NEXT: tc_exp(tc_wrap_layout(layout_of(m)))
// CHECK-NEXT: {{^ +(\| +)?}}^
static tc_tensor *shorter(struct matrix *m, const tc_tensor *x) {
  m->rows = 2;
  return tc_exp(x);
}
TC_COMPILE tc_tensor *written(struct matrix *m TC_SHAPE("f32[R,C]"), const tc_tensor *x TC_SHAPE("f32[C]")) {
  tc_tensor *y = shorter(m, x);
  return tc_add(shorter(m, y), tc_wrap_layout(layout_of(m)));
}
// CHECK: layout_refused.c:[[#@LINE-4]]:23: remark: 'written' compiled: 1 ops in 1 kernel, 1 segment
// CHECK: layout_refused.c:[[#@LINE-3]]:47: remark: graph break in 'written': a layout is read behind a write to 'm->rows', which may be part of it
// CHECK-NEXT: tc_wrap_layout(layout_of(m))
// CHECK-NEXT: {{^ +(\| +)?}}^
TC_COMPILE tc_tensor *perhaps(const struct matrix *m TC_SHAPE("f32[R,C]"), const tc_tensor *x TC_SHAPE("f32[C]"), int n) {
  tc_tensor *y = tc_exp(x);
  int rows = n > 0 && tc_size(tc_wrap_layout(layout_of(m)), 0) > 1;
  return tc_add_s(y, rows);
}
// CHECK: layout_refused.c:[[#@LINE-3]]:31: remark: graph break in 'perhaps': whether this layout is read is not known at build time
// CHECK-NEXT: tc_wrap_layout(layout_of(m))
// CHECK-NEXT: {{^ +(\| +)?}}^
// A function that does more than read is followed like any other.
TC_COMPILE tc_tensor *counting(struct matrix *m TC_SHAPE("f32[R,C]")) {
  return tc_exp(tc_wrap_layout(counted(m)));
}
// CHECK: layout_refused.c:[[#@LINE-3]]:23: remark: 'counting' compiled: 1 ops
// Where it does not know what it wraps either, the reason is its own.
TC_COMPILE tc_tensor *depends(const struct matrix *m TC_SHAPE("f32[R,C]"), enum tc_dtype dtype) {
  return tc_exp(tc_wrap_layout((tc_layout){m->data, dtype, 1, {2}, {(int64_t)tc_dtype_size(dtype)}, false}));
}
// CHECK: layout_refused.c:[[#@LINE-2]]:78: remark: 'depends' not compiled: the dtype has to be known at build time
// CHECK-NEXT: tc_dtype_size(dtype)
// CHECK-NEXT: {{^ +(\| +)?}}^
static tc_layout elsewhere(const float *p, int64_t n) { return tc_row_major(TC_DIMS(n), (float *)p, TC_F32); }
TC_COMPILE tc_tensor *late(const float *p TC_SHAPE("f32[N]"), const tc_tensor *n TC_SHAPE("i64[]")) {
  return tc_exp(tc_wrap_layout(elsewhere(p, tc_item_int(n))));
}
// CHECK: layout_refused.c:[[#@LINE-2]]:45: remark: 'late' not compiled: where a tensor lies is read from a tensor
// CHECK-NEXT: tc_wrap_layout(elsewhere(p, tc_item_int(n)))
// CHECK-NEXT: {{^ +(\| +)?}}^

int main(void) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  struct matrix m = {data, 3, 2, 0};
  tc_tensor *x = tc_randn(TC_DIMS(2), 1, TC_F32);
  show(unknown(&m));
  show(perhaps(&m, x, 0));
  show(perhaps(NULL, x, 0));
  show(written(&m, x));
  show(counting(&m));
  show(late(data, tc_full(TC_SCALAR_SHAPE, 4, TC_I64)));
  show(depends(&m, TC_F32));
  show(depends(&m, TC_I32));
  printf("%ld\n", m.reads);
  return finish();
}
