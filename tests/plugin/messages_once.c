// A branch that stops what stands in front of it, and whose sides are compiled, is told of once; errors
// of functions that are called say what these are given.
// RUN: %tc -fopenmp -w -fsyntax-only %s -Rpass-missed=tc 2>&1 | %check %s
#include <tcompile/nn.h>

#define M const tc_tensor *x TC_SHAPE("f32[N,M]")

TC_COMPILE tc_tensor *until(M, double eps, int *rounds) {
  tc_tensor *y = tc_exp(x);
  for (*rounds = 0; *rounds < 50; ++*rounds) {
    tc_tensor *z = tc_mul_s(tc_sin(y), 0.5), *change = tc_sub(z, y);
    y = z;
    if (tc_item(tc_max(tc_abs(change), TC_ALL, false)) < eps) break;
  }
  return y;
}
// CHECK: messages_once.c:[[#@LINE-4]]:56: remark: graph break in 'until': the branch depends on a value that is not known at build time; its sides are compiled, each for itself; compute with tc_where
// CHECK-NOT: messages_once.c:[[#@LINE-5]]:

TC_COMPILE tc_tensor *two_of_three(const tc_tensor *x TC_SHAPE("f32[N,H,W]")) {
  return tc_pad_reflect(x, TC_INTS(1, 1), TC_INTS(1, 1));
}
// CHECK: messages_once.c:[[#@LINE-2]]:10: remark: 'two_of_three' not compiled: this is an error: tc_pad_reflect: 2 and 2 numbers for 3 axes
// CHECK: {{.*}}resample.h:{{.*}} note: in 'tc_pad_by', here

// The statement that calls the function again stays: a break of its own, though for the same branch.
TC_COMPILE tc_tensor *power(M, int n) {
  if (n == 0) return tc_ones(tc_shape(x), TC_F32);
  return tc_mul(x, power(x, n - 1));
}
// CHECK: messages_once.c:[[#@LINE-3]]:9: remark: graph break in 'power': the branch depends on a value that is not known at build time; its sides are compiled, each for itself
// CHECK: messages_once.c:[[#@LINE-4]]:9: remark: graph break in 'power': the branch depends on a value that is not known at build time; TC_SPECIALIZE("n=...")
// CHECK: messages_once.c:[[#@LINE-4]]:20: note: 'power' is called here

// A loop that is met as a part of its scope, where the count is known to be a size, and by itself, where it is a number.
TC_COMPILE void halved(tc_tensor *x TC_SHAPE("f32[N]")) {
  TC_SCOPE {
    int64_t size = tc_size(x, 0);
    while (size > 1) {
      tc_add_s_(x, 1);
      size /= 2;
    }
  }
}
// CHECK: messages_once.c:[[#@LINE-6]]:17: remark: graph break in 'halved': the number of rounds of the loop {{.*}} its body is compiled, {{.*}} TC_SPECIALIZE("N=...")
// CHECK-NOT: messages_once.c:[[#@LINE-7]]:
