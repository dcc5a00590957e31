// Code for certain sizes is tried in front of the code for any; a miss of it is no fallback.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE TC_SPECIALIZE("B=1") TC_SPECIALIZE(" B = 4, T=8 ")
tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[B<=16,T%4,6]"), const tc_tensor *w TC_SHAPE("f32[6,5]")) {
  tc_tensor *h = tc_reshape(tc_relu(tc_matmul(x, w)), TC_DIMS(tc_size(x, 0) * tc_size(x, 1), 5));
  return tc_size(x, 0) == 1 ? tc_mul_s(h, 2) : tc_sum(h, TC_AXES(0), false);
}

// In segments, and with writes to operands.
TC_COMPILE TC_SPECIALIZE("N=3") double g(tc_tensor *acc TC_SHAPE("f32[N]"), const tc_tensor *x TC_SHAPE("f32[N,M]"), int log) {
  tc_add_(acc, tc_sum(x, TC_AXES(1), false));
  if (log) printf("log %d\n", (int)tc_size(acc, 0));
  tc_tensor *n = tc_norm(acc, 2, TC_ALL, false);
  return tc_item(tc_add_s(n, tc_size(acc, 0)));
}

// Statements that do not depend on the size have no code of their own.
TC_COMPILE TC_SPECIALIZE("N=3") tc_tensor *h(const tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *y TC_SHAPE("f32[M]")) {
  tc_tensor *a = tc_exp(y);
  printf("between\n");
  return tc_concat((const tc_tensor *[]){a, tc_exp(x)}, 2, 0);
}

// A size of 1 in the type of an operand alone: a row times a matrix.
TC_COMPILE TC_SPECIALIZE("B=1") tc_tensor *row(const tc_tensor *x TC_SHAPE("f32[B,D]"), const tc_tensor *w TC_SHAPE("f32[D,O]")) {
  return tc_matmul(x, w);
}

int main(void) {
  tc_tensor *w = tc_randn(TC_DIMS(6, 5), 1, TC_F32);
  tc_set_stance(TC_STANCE_FAIL_ON_FALLBACK);
  show(f(tc_randn(TC_DIMS(1, 8, 6), 2, TC_F32), w));
  show(f(tc_randn(TC_DIMS(4, 8, 6), 3, TC_F32), w));
  show(f(tc_randn(TC_DIMS(4, 4, 6), 4, TC_F32), w));
  show(f(tc_randn(TC_DIMS(2, 8, 6), 4, TC_F32), w));
  show(f(tc_randn(TC_DIMS(0, 8, 6), 4, TC_F32), w));
  printf("%s\n", tc_error() ? tc_error() : "none");
  tc_set_stance(TC_STANCE_DEFAULT);
  show(f(tc_randn(TC_DIMS(2, 7, 6), 4, TC_F32), w)); // no code for 7
  for (int n = 2; n < 4; n++) {
    tc_tensor *acc = tc_zeros(TC_DIMS(n), TC_F32), *x = tc_randn(TC_DIMS(n, 9), n, TC_F32);
    printf("%.3f\n", g(acc, x, n));
    show(acc);
    printf("%.3f\n", g(acc, tc_reshape(acc, TC_DIMS(n, 1)), 0)); // the same memory
  }
  show(h(tc_randn(TC_DIMS(3), 1, TC_F32), tc_randn(TC_DIMS(4), 1, TC_F32)));
  for (int n = 1; n < 3; n++) show(row(tc_randn(TC_DIMS(n, 6), 1, TC_F32), w));
  return finish();
}
// CHECK: remark: 'f' compiled for B=1: 4 ops
// CHECK: remark: 'f' compiled for B=4,T=8: 4 ops
// CHECK: remark: fused {{[0-9]+}} operations into kernel {{[a-z_0-9]+}} for B=1:
// CHECK: remark: 'g' compiled for N=3: {{[0-9]+}} ops in {{[0-9]+}} kernels, 2 segments
// CHECK: remark: 'g' compiled: {{[0-9]+}} ops in {{[0-9]+}} kernels, 2 segments
// CHECK: remark: 'h' compiled for N=3: 2 ops in 1 kernel, 1 segment
// CHECK-DAG: f [B=1] {{.*}} 1 0 0 {{.*}}sizes differ
// CHECK-DAG: f [B=4,T=8] {{.*}} 1 0 0 {{.*}}sizes differ
// CHECK-DAG: g [N=3] {{.*}} 1 0 0 {{.*}}overlap 1
// CHECK-DAG: row [B=1] {{.*}} 1 0 0 
