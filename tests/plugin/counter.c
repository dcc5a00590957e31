// What stands behind a function may count on it: __COUNTER__ goes on as without the plugin.
// RUN: %tc -O0 %s -o %t %run -fplugin-arg-tc-backend=openmp -Rpass-missed=tc 2>&1 | %check %s
// RUN: %t | %check --check-prefix=OUTPUT %s
#include <stdio.h>
#include <tcompile.h>

#define goto _Static_assert(__COUNTER__ >= 0, ""); goto
TC_COMPILE tc_tensor *jumps(tc_tensor *x TC_SHAPE("f32[N]")) {
  x = tc_exp(x);
  puts("between");
  return tc_neg(x);
}
// CHECK: counter.c:[[#@LINE-5]]:23: remark: 'jumps' not compiled: calls of kernels cannot be put between its statements (__COUNTER__ would count otherwise)
#undef goto
static const int behind = __COUNTER__;

int main(void) {
  tc_tensor *x = jumps(tc_zeros(TC_DIMS(2), TC_F32));
  printf("%d %g\n", behind, tc_item(tc_select(x, 0, 1)));
  // OUTPUT: 0 -1
  return 0;
}
