// Captured graphs as files, which tc-opt reads in both forms and compiles.
// RUN: rm -rf %t && mkdir %t && %tc -c %s -o %t/a.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v2 -fplugin-arg-tc-save-graphs=%t/new/graphs
// RUN: %graph_tool --check %t/new/graphs/scaled.tcg | %check --check-prefix=CHECKED %s
// RUN: %graph_tool --binary %t/new/graphs/scaled.tcg > %t/b.tcg && %graph_tool --text %t/b.tcg | %check %s
// RUN: %graph_tool --host %t/b.tcg 2> %t/messages | %check --check-prefix=CODE %s
// RUN: head -c 200 %t/b.tcg > %t/part.tcg && %not %graph_tool %t/part.tcg 2>&1 | %check --check-prefix=PART %s
// RUN: %tc -c %s -o %t/c.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v2 && cmp %t/a.o %t/c.o
// RUN: %tc -c %s -o %t/d.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v2 -fplugin-arg-tc-save-graphs=/dev/null/a 2>&1 | %check --check-prefix=NOWHERE %s
// RUN: %not %tc -c %s -o %t/e.o -fplugin-arg-tc-save-graphs= 2>&1 | %check --check-prefix=EMPTY %s
#include <tcompile.h>

TC_COMPILE TC_SPECIALIZE("B=1") tc_tensor *scaled(const tc_tensor *x TC_SHAPE("f32[B<=64,8]"), double by) {
  return tc_exp(tc_mul_s(x, by));
}

// CHECKED: scaled.tcg: 2 graphs of scaled, verified
// CHECK: tcg 1
// CHECK-NEXT: function "scaled" "{{.*}}save_graphs.c" 12
// CHECK-NEXT: variant "B=1"
// CHECK-NEXT: graph scaled
// CHECK: assume B = 1
// CHECK: variant ""
// CHECK: sym B 0..64
// CHECK: = param f32[B,8] "x"
// CHECK: = exp %
// CHECK: ret %
// CHECK-NEXT: end
// CODE: tc_function_scaled
// PART: error: the file is truncated
// NOWHERE: save_graphs.c:12:44: warning: the graphs of 'scaled' are not saved: /dev/null/a/scaled.tcg: Not a directory
// EMPTY: option 'save-graphs' cannot be ''; it can be a folder
