// A group of functions is marked by a region of the file.
// RUN: %tc -c %s -o %t.o -Rpass=tc 2>&1 | %check %s
// RUN: %tc -c -x c++ %s -o %t.o -Rpass=tc 2>&1 | %check %s
#include <tcompile.h>

tc_tensor *before(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
// CHECK-NOT: 'before'
#pragma clang attribute push(__attribute__((tc_compile("fullgraph"))), apply_to = function)
tc_tensor *first(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
// CHECK: region.c:[[#@LINE-1]]:12: remark: 'first' compiled
tc_tensor *second(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_neg(x); }
// CHECK: region.c:[[#@LINE-1]]:12: remark: 'second' compiled
#pragma clang attribute pop
tc_tensor *after(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
// CHECK-NOT: 'after'
