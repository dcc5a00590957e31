// Indices are checked also where the element that they choose is known: along an axis of one element, and along one
// that repeats.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *computed(const tc_tensor *x TC_SHAPE("f32[1,7]"), const tc_tensor *i TC_SHAPE("i64[1,7]")) {
  return tc_gather(tc_exp(x), 0, i);
}
TC_COMPILE tc_tensor *sliced(const tc_tensor *x TC_SHAPE("f32[1,7]"), const tc_tensor *i TC_SHAPE("i64[1,7]"), int n) {
  return tc_gather(tc_slice(x, 0, 0, n, 1), 0, i);
}
TC_COMPILE tc_tensor *repeated(const tc_tensor *x TC_SHAPE("f32[1,7]"), const tc_tensor *i TC_SHAPE("i64[K]")) {
  return tc_index_select(tc_expand(tc_exp(x), TC_DIMS(3, 7)), 0, i);
}
TC_COMPILE tc_tensor *unsqueezed(const tc_tensor *x TC_SHAPE("f32[7]"), const tc_tensor *i TC_SHAPE("i64[1,7]")) {
  return tc_neg(tc_gather(tc_unsqueeze(x, 0), 0, i));
}

// Indices that are looked at one by one, as places to write are.
TC_COMPILE tc_tensor *counted(const tc_tensor *i TC_SHAPE("i32[K]"), int64_t bins) {
  return tc_scatter_add(tc_zeros(TC_DIMS(bins), TC_I64), 0, i, tc_ones(tc_shape(i), TC_I64));
}

static void say(const tc_tensor *x) {
  show(x);
  printf("%s\n", tc_error() ? strchr(tc_error(), ' ') : "fine");
  tc_clear_error();
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(1, 7), 1, TC_F32), *row = tc_flatten(x, 0, -1);
  for (int index = 0; index < 4; index++) {
    tc_tensor *i = tc_full(TC_DIMS(1, 7), index, TC_I64), *list = tc_flatten(i, 0, -1);
    say(computed(x, i));
    say(sliced(x, i, 1));
    say(sliced(x, i, 0));
    say(repeated(x, list));
    say(unsqueezed(row, i));
  }
  const int32_t numbers[] = {0, 4, -1, INT32_MIN, INT32_MAX, 3};
  for (int k = 0; k < 6; k++) {
    const int32_t i[] = {1, numbers[k], 3};
    say(counted(tc_from(TC_DIMS(3), i, TC_I32), 4));
  }
  return finish();
}
// CHECK-DAG: remark: 'computed' compiled: 2 ops in 1 kernel
// CHECK-DAG: remark: 'sliced' compiled: 2 ops in 1 kernel
// CHECK-DAG: remark: 'repeated' compiled: 3 ops in
// CHECK-DAG: remark: 'unsqueezed' compiled: 3 ops in 1 kernel
// CHECK-DAG: counted {{.*}} 2 0 4 index out of range 4
