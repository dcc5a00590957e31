// A view of what may be a copy, both living behind the segment: they share memory, as the statements say.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *local(const tc_tensor *a TC_SHAPE("f32[M,N,M]")) {
  tc_tensor *x = tc_transpose(tc_abs(a), 2, 1);
  tc_tensor *rows = tc_flatten(x, 1, -1);
  tc_tensor *most = tc_slice(rows, 0, 0, -1, 1);
  tc_mul_(most, most);
  return tc_maximum_s(rows, 0.5);
}

TC_COMPILE tc_tensor *operand(tc_tensor *a TC_SHAPE("f32[M,N]")) {
  tc_tensor *flat = tc_reshape(a, TC_DIMS(-1));
  tc_tensor *most = tc_slice(flat, 0, 0, -1, 1);
  printf("between\n");
  tc_mul_(most, most);
  return tc_maximum_s(flat, 0.5);
}

int main(void) {
  show(local(tc_randn(TC_DIMS(3, 2, 3), 1, TC_F32)));
  tc_tensor *a = tc_randn(TC_DIMS(3, 4), 2, TC_F32);
  show(operand(a)), show(a);
  show(operand(tc_transpose(a, 0, 1))), show(a);
  return finish();
}
// CHECK: remark: 'local' compiled
// CHECK: view_of_copy.c:14:3: remark: {{.*}}: several values that are used from here on share what tc_contiguous, tc_reshape or tc_flatten may have copied; write tc_clone in its place where it need not be a view
