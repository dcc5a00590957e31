// Views of what is written share its memory where its strides, which are known, say so: a reshape of an expanded
// size of 1, two views through one tc_contiguous.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *repeated(tc_tensor *x TC_SHAPE("f32[1]"), tc_tensor **out) {
  tc_tensor *twice = tc_reshape(tc_expand(tc_unsqueeze(x, 0), TC_DIMS(2, 1)), TC_DIMS(2));
  tc_add_(x, x);
  *out = twice;
  return tc_neg(twice);
}

TC_COMPILE tc_tensor *contiguous(tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor **out) {
  tc_tensor *whole = tc_contiguous(x), *first = tc_select(whole, 0, 0);
  tc_add_(tc_select(x, 0, 0), first);
  out[0] = whole;
  out[1] = first;
  return tc_neg(first);
}

TC_COMPILE tc_tensor *flat_rows(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *rows = tc_reshape(tc_slice(x, 0, 1, 3, 1), TC_DIMS(-1));
  tc_fill_(rows, 2);
  return tc_neg(x);
}

int main(void) {
  tc_tensor *out[2], *one = tc_randn(TC_DIMS(1), 1, TC_F32), *x = tc_randn(TC_DIMS(4), 2, TC_F32),
                     *wide = tc_randn(TC_DIMS(4, 3), 3, TC_F32);
  show(repeated(one, out));
  show(one);
  tc_fill_(one, 7);
  show(out[0]);
  show(contiguous(x, out));
  show(x);
  tc_fill_(x, 8);
  show(out[0]);
  show(out[1]);
  show(flat_rows(wide));
  show(wide);
  return finish();
}
// CHECK-NOT: graph break
// CHECK-NOT: not compiled
// CHECK-DAG: repeated {{.*}} 1 0 0
// CHECK-DAG: contiguous {{.*}} 1 0 0
// CHECK-DAG: flat_rows {{.*}} 1 0 0
