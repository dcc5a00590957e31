// TC_SHAPE that is not understood: the caret inside of the string, and the function stays eager.
// RUN: %tc -c %s -o %t.o -Rpass-missed=tc 2>&1 | %check %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-fullgraph 2>/dev/null
#include <tcompile.h>

TC_COMPILE tc_tensor *a(const tc_tensor *x TC_SHAPE("float32[N]")) { return tc_exp(x); }
// CHECK: shapes.c:[[#@LINE-1]]:54: warning: TC_SHAPE: {{.*}}; did you mean 'f32'?
// CHECK-NEXT: TC_SHAPE("float32[N]")
// CHECK-NEXT: {{^ +(\| +)?}}^~~~~~~
// CHECK-NEXT: {{^ +(\| +)?}}f32
// CHECK: shapes.c:[[#@LINE-5]]:42: remark: 'a' not compiled: the shape of parameter 'x' is not understood
TC_COMPILE tc_tensor *b(const tc_tensor *x TC_SHAPE("f32[N,]")) { return tc_exp(x); }
// CHECK: shapes.c:[[#@LINE-1]]:60: warning: TC_SHAPE: this is not a size
TC_COMPILE tc_tensor *c(const tc_tensor *x TC_SHAPE("f32[N")) { return tc_exp(x); }
// CHECK: shapes.c:[[#@LINE-1]]:59: warning: TC_SHAPE:
TC_COMPILE tc_tensor *d(const tc_tensor *x TC_SHAPE("")) { return tc_exp(x); }
// CHECK: shapes.c:[[#@LINE-1]]:54: warning: TC_SHAPE:
TC_COMPILE tc_tensor *e(const tc_tensor *x TC_SHAPE("f32[-1]")) { return tc_exp(x); }
// CHECK: shapes.c:[[#@LINE-1]]:58: warning: TC_SHAPE:
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[1,2,3,4,5,6,7,8,9]")) { return tc_exp(x); }
// CHECK: shapes.c:[[#@LINE-1]]:74: warning: TC_SHAPE:
TC_COMPILE tc_tensor *any(const tc_tensor *x TC_SHAPE("f32[N,...]")) { return tc_exp(x); }
// CHECK: shapes.c:[[#@LINE-1]]:62: warning: TC_SHAPE: this is not a size; the rank has to be known at build time: write a number or a name for each axis
// CHECK-NEXT: TC_SHAPE("f32[N,...]")
// CHECK-NEXT: {{^ +(\| +)?}}^
TC_COMPILE tc_tensor *g(const tc_tensor *x) { return tc_exp(x); }
// CHECK: shapes.c:[[#@LINE-1]]:42: remark: 'g' not compiled: parameter 'x' has no TC_SHAPE, so its rank is not known
TC_COMPILE tc_tensor *h(const tc_tensor *x TC_SHAPE("f32[N*M]")) { return tc_exp(x); }
// CHECK: shapes.c:[[#@LINE-1]]:23: remark: 'h' not compiled: size 'N' stands only inside of expressions
