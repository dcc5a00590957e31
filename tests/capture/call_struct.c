// Functions that return a struct of tensors and numbers, or write one.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct stats { tc_tensor *mean, *var; };
static struct stats of(const tc_tensor *x) { return (struct stats){tc_mean(x, TC_AXES(-1), true), tc_var(x, TC_AXES(-1), 0, true)}; }
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  struct stats s = of(x);
  return tc_mul(tc_sub(x, s.mean), tc_rsqrt(tc_add_s(s.var, 1e-3)));
}

struct parts { struct stats of[2]; double norm; int64_t n; };
static struct parts both(const tc_tensor *x, double scale) {
  return (struct parts){{of(x), of(tc_mul_s(x, scale))}, .norm = sqrt(tc_item(tc_sum(tc_square(x), TC_ALL, false))), .n = tc_size(x, 0)};
}
TC_COMPILE struct parts g(const tc_tensor *x TC_SHAPE("f32[N,M]"), double scale) { return both(x, scale); }

/* From one place to another: what was there before. */
TC_COMPILE void h(const tc_tensor *x TC_SHAPE("f32[N,M]"), struct stats *s) {
  struct stats first = s[0];
  s[0] = s[1];
  s[1] = first;
  s[0].var = tc_exp(x);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x));
  struct parts p = g(x, 3);
  show(p.of[0].mean);
  show(p.of[1].var);
  printf("%.4f %d\n", p.norm, (int)p.n);
  h(x, p.of);
  show(p.of[0].var);
  show(p.of[0].mean);
  show(p.of[1].var);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 6 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: remark: 'g' compiled: {{[0-9]+}} ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: remark: 'h' compiled: 1 ops in 1 kernel [
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: g {{.*}} 1 0 0 
// CHECK-DAG: h {{.*}} 1 0 0 
