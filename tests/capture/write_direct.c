// A write in place is stored into the operand itself though kernels behind it read what was, can fail, or show
// things: those run in front, or the value is stored apart where they need it.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_EFFECT static void look(const tc_tensor *x, int step) {
  printf("step %d: %.3f\n", step, (double)((const float *)tc_cdata(x))[1]);
}

// Rows are picked by indices that may be wrong: before anything is written.
TC_COMPILE_WITH("fullgraph") tc_tensor *picked(tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *t TC_SHAPE("f32[V,M]"),
                                               const tc_tensor *i TC_SHAPE("i64[K]")) {
  tc_mul_s_(x, 2);
  return tc_index_select(t, 0, i);
}
// ... of what was written: it is stored apart until they were checked.
TC_COMPILE_WITH("fullgraph") tc_tensor *picked_of_new(tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *i TC_SHAPE("i64[K]")) {
  tc_mul_s_(x, 2);
  return tc_index_select(tc_flip(x, TC_AXES(1)), 0, i);
}
// Columns of what was, which is no array of its own.
TC_COMPILE_WITH("fullgraph") tc_tensor *columns(tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *y TC_SHAPE("f32[N,M]")) {
  tc_tensor *old = tc_cumsum(tc_transpose(x, 0, 1), 1);
  tc_add_(x, y);
  return tc_add(old, tc_cumsum(tc_transpose(x, 0, 1), 1));
}
// The order of effects stays, and each sees what was there.
TC_COMPILE_WITH("fullgraph") tc_tensor *shown(tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *t TC_SHAPE("f32[V,M]"),
                                              const tc_tensor *i TC_SHAPE("i64[K]")) {
  look(x, 1);
  tc_mul_s_(x, 2);
  look(x, 2);
  tc_tensor *y = tc_index_select(t, 0, i);
  tc_add_s_(x, 1);
  look(x, 3);
  return y;
}

static void say(const tc_tensor *y, const tc_tensor *x) {
  show(y);
  show(x);
  printf("%s\n", tc_error() ? "failed" : "fine");
  tc_clear_error();
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32), *y = tc_randn(TC_DIMS(4, 6), 2, TC_F32);
  tc_tensor *t = tc_randn(TC_DIMS(9, 6), 3, TC_F32), *i = tc_arange(3, 0, 1, TC_I64);
  for (int wrong = 0; wrong < 2; wrong++) {
    tc_tensor *at = tc_mul_s(i, wrong ? 50 : 1);
    say(picked(x, t, at), x);
    say(picked_of_new(x, at), x);
    say(columns(x, y), x);
    say(shown(x, t, at), x);
  }
  return finish();
}
// CHECK-DAG: remark: 'picked' compiled: 2 ops in 2 kernels
// CHECK-DAG: remark: 'picked_of_new' compiled: 3 ops in 3 kernels
// CHECK-DAG: remark: 'columns' compiled: {{.*}} in 4 kernels
// CHECK-DAG: picked {{.*}} 1 0 1 
