// Lists whose length is known at run time only: the remark says what to write, and that is compiled.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *stacked(const tc_tensor *const *x TC_SHAPE("f32[N]"), int n) {
  return tc_exp(tc_stack(x, n, 0));
}
TC_COMPILE TC_SPECIALIZE("n=3") tc_tensor *stacked_three(const tc_tensor *const *x TC_SHAPE("f32[N]"), int n) {
  return tc_exp(tc_stack(x, n, 0));
}
TC_COMPILE tc_tensor *stacked_so(const tc_tensor *const *x TC_SHAPE("f32[N]"), int n) {
  tc_tensor *y TC_SHAPE("f32[K,N]") = tc_empty(TC_DIMS(n, tc_size(x[0], 0)), TC_F32);
  for (int i = 0; i < n; i++) tc_copy_(tc_select(y, 0, i), x[i]);
  return tc_exp(y);
}
TC_COMPILE tc_tensor *concatenated(const tc_tensor *const *x TC_SHAPE("f32[N]"), int n) {
  return tc_exp(tc_concat(x, n, 0));
}
TC_COMPILE tc_tensor *concatenated_so(const tc_tensor *const *x TC_SHAPE("f32[N]"), int n) {
  const int size = (int)tc_size(x[0], 0);
  tc_tensor *y TC_SHAPE("f32[K]") = tc_empty(TC_DIMS(n * size), TC_F32);
  for (int i = 0; i < n; i++) tc_copy_(tc_slice(y, 0, i * size, i * size + size, 1), x[i]);
  return tc_exp(y);
}

int main(void) {
  const tc_tensor *x[4];
  for (int i = 0; i < 4; i++) x[i] = tc_randn(TC_DIMS(5), i, TC_F32);
  for (int n = 1; n < 5; n++) {
    show(stacked(x, n));
    show(stacked_three(x, n));
    show(stacked_so(x, n));
    show(concatenated(x, n));
    show(concatenated_so(x, n));
  }
  return finish();
}
// CHECK: remark: 'stacked' not compiled: the length of the list has to be known at build time; TC_SPECIALIZE("n=...") compiles for a value of it, or write its parts, one in each round of a loop, to a tensor made by tc_empty: tc_copy_(tc_select(y, 0, i), x[i])
// CHECK: remark: 'stacked_three' compiled for n=3: 2 ops in 1 kernel
// CHECK: remark: 'stacked_so' compiled: {{.*}} segments
// CHECK: remark: 'concatenated' not compiled: the length of the list has to be known at build time; TC_SPECIALIZE("n=...") compiles for a value of it, or write its parts, one in each round of a loop, to a tensor made by tc_empty: tc_copy_(tc_slice(y, 0, from, to, 1), x[i])
// CHECK: remark: 'concatenated_so' compiled: {{.*}} segments
// CHECK-DAG: stacked_three [n=3] {{.*}} 1 0 0 
// CHECK-DAG: stacked_so {{.*}} 10 0 0 
// CHECK-DAG: concatenated_so {{.*}} 10 0 0 
