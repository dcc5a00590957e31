// An index into an axis without elements is out of range: the body says so.  None at all is in range.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("i64[N]"), const tc_tensor *index TC_SHAPE("i64[K]")) {
  return tc_add_s(tc_index_select(x, 0, index), 1);
}

TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("i64[N]"), const tc_tensor *index TC_SHAPE("i64[K]"), int n) {
  return tc_neg(tc_scatter(tc_slice(x, 0, n, n - 2, -1), 0, index, index));
}

int main(void) {
  tc_tensor *x = tc_arange(5, 0, 1, TC_I64), *none = tc_wrap(TC_DIMS(0), NULL, NULL, TC_I64, NULL, NULL);
  tc_tensor *index = tc_arange(2, 0, 1, TC_I64);
  show(f(x, index));
  show(f(none, none));
  show(g(x, index, 3));
  show(g(x, none, 0));
  if (f(none, index) || g(none, index, 3)) return 1;
  tc_clear_error();
  return finish();
}
// CHECK-DAG: remark: 'f' compiled:
// CHECK-DAG: f {{.*}} 2 0 1 
