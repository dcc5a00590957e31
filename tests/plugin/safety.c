// A place that takes no call of kernels: the new text is tried before it is used, and what does not read
// as before stays as it is.  (A declaration of labels has to come first in its block.)
// RUN: %tc -c %s -o %t.o -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %not %tc -c %s -o %t.o -DFULL 2>&1 | %check --check-prefix=FULL %s
// RUN: %tc -O1 %s -o %t %run && %t | %check --check-prefix=OUTPUT %s
#include <stdio.h>
#include <tcompile.h>

#ifdef FULL
#undef TC_COMPILE
#define TC_COMPILE TC_COMPILE_WITH("fullgraph")
#endif
TC_COMPILE tc_tensor *labels(const tc_tensor *x TC_SHAPE("f32[N]")) {
  __label__ out;
  tc_tensor *h = tc_exp(x);
  tc_tensor *y = tc_neg(h);
  puts("between");
  if (!y) goto out;
  return y;
out:
  return NULL;
}
// CHECK: safety.c:[[#@LINE-10]]:23: remark: 'labels' not compiled: calls of kernels cannot be put between its statements (expected expression); write one statement a line, without macros and labels of the block [-Rpass-missed=tc]
// FULL: safety.c:[[#@LINE-7]]:3: error: 'labels' not compiled: 'puts' is called

TC_COMPILE tc_tensor *beside(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
// CHECK: safety.c:[[#@LINE-1]]:23: remark: 'beside' compiled: 1 ops in 1 kernel

int main(void) {
  tc_tensor *y = labels(tc_zeros(TC_DIMS(2), TC_F32)), *z = beside(y);
  printf("%g %g, %d hits\n", tc_item(tc_select(y, 0, 1)), tc_item(tc_select(z, 0, 0)), (int)tc_stats_of(NULL).hits);
  // OUTPUT: between
  // OUTPUT-NEXT: -1 0.367879, 1 hits
  return 0;
}
