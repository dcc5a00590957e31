// tc_contiguous and tc_reshape of what is not in row-major order copy, in a kernel; where the body would share memory
// after all, so does the result.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *rows(tc_tensor *x TC_SHAPE("f32[N,M]")) { return tc_contiguous(tc_transpose(x, 0, 1)); }

TC_COMPILE tc_tensor *heads(tc_tensor *x TC_SHAPE("f32[B,T,H,4]")) {
  tc_tensor *p = tc_permute(x, TC_AXES(0, 2, 1, 3));
  return tc_reshape(p, TC_DIMS(tc_size(x, 0) * tc_size(x, 2), -1, 4));
}

TC_COMPILE tc_tensor *merged(tc_tensor *x TC_SHAPE("f32[B,T,H,4]")) {
  return tc_flatten(tc_permute(x, TC_AXES(0, 2, 1, 3)), 1, -1);
}

TC_COMPILE tc_tensor *part(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  return tc_slice(tc_contiguous(tc_slice(x, 1, 0, 2, 1)), 0, 0, 1, 1);
}

TC_COMPILE tc_tensor *before(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *y = tc_contiguous(tc_transpose(x, 0, 1));
  tc_mul_(x, x);
  return y;
}

TC_COMPILE tc_tensor *made(tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor **all) {
  tc_tensor *y = tc_mul_s(x, 2);
  tc_tensor *turned = tc_reshape(tc_flip(y, TC_AXES(0)), TC_DIMS(-1));
  tc_add_(y, x);
  *all = y;
  return turned;
}

TC_COMPILE tc_tensor *passed_on(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *y = tc_contiguous(tc_transpose(x, 0, 1));
  printf("between\n");
  tc_add_(y, y);
  return tc_exp(x);
}

// Nothing to copy: a view of the operand, made behind no kernel.
TC_COMPILE tc_tensor *plain(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  return tc_contiguous(tc_reshape(tc_unsqueeze(x, 1), TC_DIMS(-1)));
}

// The result before and behind a write to the operand: it shows it or not.
static void look(tc_tensor *f(tc_tensor *), tc_tensor *x) {
  tc_tensor *y = f(x);
  show(y), show(x);
  tc_fill_(x, 3);
  show(y);
  tc_fill_(y, 4);
  show(x);
}

static tc_tensor *made_twice(tc_tensor *x) {
  tc_tensor *all, *y = made(x, &all);
  show(all);
  tc_fill_(all, 7);
  return y;
}

int main(void) {
  tc_tensor *(*matrix[])(tc_tensor *) = {rows, part, before, made_twice, passed_on, plain};
  for (int i = 0; i < 6; i++) {
    look(matrix[i], tc_randn(TC_DIMS(3, 5), 1, TC_F32));
    look(matrix[i], tc_randn(TC_DIMS(1, 5), 2, TC_F32));
    look(matrix[i], tc_randn(TC_DIMS(4, 1), 3, TC_F32));
    look(matrix[i], tc_transpose(tc_randn(TC_DIMS(2, 5), 4, TC_F32), 0, 1));
    look(matrix[i], tc_zeros(TC_DIMS(2, 0), TC_F32));
  }
  tc_tensor *(*four[])(tc_tensor *) = {heads, merged};
  for (int i = 0; i < 2; i++) {
    look(four[i], tc_randn(TC_DIMS(2, 3, 2, 4), 1, TC_F32));
    look(four[i], tc_randn(TC_DIMS(2, 1, 2, 4), 2, TC_F32));
    look(four[i], tc_randn(TC_DIMS(2, 3, 1, 4), 3, TC_F32));
    look(four[i], tc_transpose(tc_randn(TC_DIMS(2, 2, 3, 4), 4, TC_F32), 1, 2));
  }
  return finish();
}
// CHECK-DAG: 'rows' compiled: 2 ops in 1 kernel
// CHECK-DAG: 'heads' compiled: 2 ops in 1 kernel
// CHECK-DAG: 'merged' compiled: 2 ops in 1 kernel
// CHECK-DAG: 'part' compiled: 3 ops in 1 kernel
// CHECK-DAG: 'before' compiled: 3 ops
// CHECK-DAG: 'made' compiled: 4 ops
// CHECK-DAG: 'plain' not compiled: there is nothing to compile
// CHECK: rows {{.*}} 5 {{ *}}1 {{ *}}0
