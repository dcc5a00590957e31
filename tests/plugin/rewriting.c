// Text that cannot be rewritten, or would not mean the same afterwards: the function stays as it is, and the
// program does the same with and without the plugin.
// RUN: %tc -O0 -w %s -I %inputs -o %t %run -fplugin-arg-tc-backend=openmp -Rpass-missed=tc 2>&1 | %check %s
// RUN: %plain -O0 -w %s -I %inputs -o %t.eager %run
// RUN: %t > %t.out && %t.eager > %t.expected && diff %t.expected %t.out
#include <stdio.h>
#include <tcompile.h>

#define X tc_tensor *x TC_SHAPE("f32[N]")
#define TAKE(n) _Static_assert((n) >= 0, "")

// ---- places
TC_COMPILE tc_tensor *spread(X)
#include "body.h"
  return x;
}
// CHECK-DAG: rewriting.c:[[#@LINE-4]]:23: remark: 'spread' not compiled: its body spreads over two files
#define LOUD(s) { puts("a"); _Pragma("clang diagnostic push") s; puts("b"); _Pragma("clang diagnostic pop") }
TC_COMPILE tc_tensor *pragma(X) { LOUD(x = tc_exp(x)) return x; }
// CHECK-DAG: rewriting.c:[[#@LINE-1]]:23: remark: 'pragma' not compiled: it comes out of a macro that contains _Pragma or __COUNTER__; write its braces and statements in the file
#define COUNTED(s) { puts("a"); TAKE(__COUNTER__); s; puts("b"); }
TC_COMPILE tc_tensor *counter(X) { COUNTED(x = tc_exp(x)) return x; }
// CHECK-DAG: rewriting.c:[[#@LINE-1]]:23: remark: 'counter' not compiled: it comes out of a macro that contains _Pragma or __COUNTER__; write its braces and statements in the file
#define UNROLLED(s) { puts("a"); _Pragma("unroll") for (int i = 0; i < 3; i++) s; puts("b"); }
TC_COMPILE tc_tensor *unrolled(X) { UNROLLED(x = tc_exp(x)) return x; }
// CHECK-DAG: rewriting.c:[[#@LINE-1]]:23: remark: 'unrolled' not compiled: its text cannot be found in what a macro expands to; write its braces and statements in the file

// ---- what the new text would do: jumps are counted
#define goto TAKE(__COUNTER__); goto
TC_COMPILE tc_tensor *number(X) {
  x = tc_exp(x);
  puts("between");
  printf("%d\n", __COUNTER__);
  return tc_neg(x);
}
// CHECK-DAG: rewriting.c:[[#@LINE-6]]:23: remark: 'number' not compiled: calls of kernels cannot be put between its statements (line [[#@LINE-3]] would read differently); write one statement a line, without macros and labels of the block
#if __COUNTER__ == 2
TC_COMPILE tc_tensor *vanishes(X) {
  x = tc_exp(x);
  puts("between");
  return tc_neg(x);
}
#else
#define vanishes number
#endif
// CHECK-DAG: rewriting.c:[[#@LINE-8]]:23: remark: 'vanishes' not compiled: calls of kernels cannot be put between its statements (it would not be found there); write one statement a line, without macros and labels of the block

int main(void) {
  tc_tensor *(*all[])(tc_tensor *) = {spread, pragma, counter, unrolled, number, vanishes};
  for (int i = 0; i < 6; i++) printf("%g\n", tc_item(tc_mean(all[i](tc_ones(TC_DIMS(3), TC_F32)), TC_ALL, false)));
  return 0;
}
