// Ways that break: the others are compiled to their ends, and what stands in front and behind for all.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *traced(tc_tensor *x, int verbose) {
  if (verbose) printf("%g\n", tc_at(x, TC_INTS(0, 0)));
  return tc_mul_s(x, 2);
}
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int verbose) {
  tc_tensor *y TC_SHAPE("f32[N,M]") = tc_add_s(x, 1);
  y = traced(y, verbose);
  return tc_exp(y);
}

// An axis that depends on the way is not known behind a break.
static int axis_of(int n) {
  if (n > 0) return 0;
  return 1;
}
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N,N]"), int n) {
  int axis = axis_of(n);
  tc_tensor *y = tc_sum(tc_exp(x), TC_AXES(axis), true);
  printf("%g\n", tc_at(y, TC_INTS(0, 0)));
  return tc_sub(x, tc_sum(x, TC_AXES(axis), true));
}

// NULL is no operand: that way is an error of the program, and none of the build.
static tc_tensor *checked(tc_tensor *x, int n) {
  if (n < 0) return NULL;
  return tc_mul_s(x, n);
}
TC_COMPILE_WITH("fullgraph") tc_tensor *h(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) { return tc_exp(checked(tc_add_s(x, 1), n)); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(6, 6), 1, TC_F32);
  for (int n = -1; n < 2; n++) {
    show(f(x, n));
    show(g(x, n));
    if (n >= 0) show(h(x, n));
  }
  return finish();
}
// CHECK: remark: 'f' compiled for !verbose: 3 ops in 1 kernel
// CHECK: remark: graph break in 'f': 'printf' is called
// CHECK: remark: graph break in 'g': 'printf' is called
// CHECK: remark: 'h' compiled for !(n < 0): 3 ops in 1 kernel [
// CHECK-DAG: f [!verbose] {{.*}} 1 0 0 
// CHECK-DAG: h [!(n < 0)] {{.*}} 2 0 0 
