// The largest element of several axes of which the innermost is short: no accumulator is lost, wherever the element is.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[6,4,8]")) {
  return tc_argmax(tc_permute(x, TC_AXES(0, 2, 1)), TC_ALL, false);
}
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[A,7]"), tc_tensor **index) {
  return tc_min_with_index(x, TC_ALL, false, index);
}

int main(void) {
  for (int at = 0; at < 192; at += 5) TC_SCOPE {
      float element[192] = {0};
      element[at] = 1;
      const tc_tensor *x = tc_from(TC_DIMS(6, 4, 8), element, TC_F32);
      const tc_tensor *least = tc_slice(tc_reshape(tc_neg(x), TC_DIMS(24, 8)), -1, 0, 7, 1);
      tc_tensor *index;
      show(f(x));
      show(g(least, &index));
      show(index);
    }
  return finish();
}
// CHECK-DAG: f {{.*}} 39 0
// CHECK-DAG: g {{.*}} 39 39
