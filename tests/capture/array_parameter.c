// Arrays of tensors and their lengths as parameters: constant, and known at run time only.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *mean3(const tc_tensor *const g[3] TC_SHAPE("f32[N,M]")) {
  tc_tensor *sum = tc_concat(g, 3, 0);
  for (int i = 0; i < 3; i++) sum = tc_add(sum, tc_sum(g[i], TC_AXES(0), false));
  return tc_div_s(sum, 3);
}

TC_COMPILE void decay(tc_tensor **p TC_SHAPE("f32[N]"), tc_tensor *const *g TC_SHAPE("f32[N]"), int n, float rate) {
  for (int i = 0; i < n; i++) tc_sub_(p[i], tc_mul_s(g[i], rate));
}

TC_COMPILE tc_tensor *ends(tc_tensor **x TC_SHAPE("f32[N]"), int n) {
  return tc_add(tc_exp(x[0]), tc_exp(x[n - 1]));
}

TC_COMPILE TC_SPECIALIZE("n=2") tc_tensor *join(tc_tensor *const *x TC_SHAPE("f32[N]"), int n) {
  return tc_exp(tc_concat((const tc_tensor *const *)x, n, 0));
}
int main(void) {
  tc_tensor *g[3], *p[3];
  for (int i = 0; i < 3; i++) g[i] = tc_randn(TC_DIMS(4, 6), 3 + i, TC_F32);
  show(mean3((const tc_tensor *const *)g));
  g[1] = g[0];
  show(mean3((const tc_tensor *const *)g));
  g[2] = tc_randn(TC_DIMS(5, 6), 1, TC_F32); // equal names are equal sizes: the body
  show(mean3((const tc_tensor *const *)g));
  tc_clear_error();
  for (int i = 0; i < 3; i++) g[i] = tc_randn(TC_DIMS(7 + i), 3 + i, TC_F32), p[i] = tc_randn(TC_DIMS(7 + i), 9 + i, TC_F32);
  decay(p, g, 3, 0.5f);
  for (int i = 0; i < 3; i++) show(p[i]);
  p[1] = g[1]; // the same memory
  decay(p, g, 3, 0.5f);
  for (int i = 0; i < 3; i++) show(p[i]);
  show(ends(p, 1));
  p[0] = p[1] = p[2] = g[0];
  for (int n = 1; n < 4; n++) show(join(p, n));
  return finish();
}
// CHECK: remark: 'mean3' compiled: {{[0-9]+}} ops in {{[0-9]+}} kernels [
// CHECK: remark: 'decay' compiled: 2 ops in 1 kernel, 1 segment 
// CHECK: remark: graph break in 'decay': the number of rounds
// CHECK: remark: 'ends' compiled: 3 ops in 1 kernel [
// CHECK: remark: 'join' compiled for n=2: 2 ops
// CHECK: remark: {{.*}}'join'{{.*}}: the length of the list has to be known at build time; TC_SPECIALIZE("n=...") compiles for
// CHECK-NEXT: tc_concat((const tc_tensor *const *)x, n, 0)
// CHECK-NEXT: {{^ +(\| +)?}}^
// CHECK-DAG: join [n=2] {{.*}} 1 0 0 
// CHECK-DAG: ends {{.*}} 1 0 0 
// CHECK-DAG: decay {{.*}} 5 0 1 {{.*}}overlap 1
// CHECK-DAG: mean3 {{.*}} 2 0 1 
