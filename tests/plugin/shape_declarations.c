// What declarations of one function say of its operands, and what calls of functions that are only declared say.
// RUN: %not %tc -c %s -o %t.o 2>&1 | %check %s
// RUN: %plain -c %s -o %t.o
#include <tcompile.h>

tc_tensor *size(const tc_tensor *x TC_SHAPE("f32[N,8]"));
// CHECK-DAG: shape_declarations.c:[[#@LINE-1]]:45: note: 'x' is declared as f32[N,8] here
TC_COMPILE tc_tensor *size(const tc_tensor *x TC_SHAPE("f32[N,4]")) { return tc_relu(x); }
// CHECK-DAG: shape_declarations.c:[[#@LINE-1]]:56: error: parameter 'x' of 'size' is declared as f32[N,4], which contradicts f32[N,8]

tc_tensor *kind(const tc_tensor *x TC_SHAPE("f32[N]"));
TC_COMPILE tc_tensor *kind(const tc_tensor *x TC_SHAPE("f16[N]")) { return tc_relu(x); }
// CHECK-DAG: shape_declarations.c:[[#@LINE-1]]:56: error: parameter 'x' of 'kind' is declared as f16[N], which contradicts f32[N]

tc_tensor *range(const tc_tensor *x TC_SHAPE("f32[N<=64]"));
TC_COMPILE tc_tensor *range(const tc_tensor *x TC_SHAPE("f32[100]")) { return tc_relu(x); }
// CHECK-DAG: shape_declarations.c:[[#@LINE-1]]:57: error: parameter 'x' of 'range' is declared as f32[100], which contradicts f32[N<=64]

tc_tensor *equal(const tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *y TC_SHAPE("f32[N]"));
TC_COMPILE tc_tensor *equal(const tc_tensor *x TC_SHAPE("f32[3]"), const tc_tensor *y TC_SHAPE("f32[4]")) { return tc_relu(x); }
// CHECK-DAG: shape_declarations.c:[[#@LINE-1]]:96: error: parameter 'y' of 'equal' is declared as f32[4], which contradicts f32[N]

// Other names, and fewer of them, say the same.
tc_tensor *fine(const tc_tensor *x TC_SHAPE("f32[A,B]"), const tc_tensor *y TC_SHAPE("f32[C,8]"));
TC_COMPILE tc_tensor *fine(const tc_tensor *x TC_SHAPE("f32[N,N]"), const tc_tensor *y TC_SHAPE("f32[2*M,K]")) { return tc_relu(x); }

tc_tensor *layer(const tc_tensor *x TC_SHAPE("f32[B,784]"), const tc_tensor *y TC_SHAPE("f32[B]"));
// CHECK-DAG: shape_declarations.c:[[#@LINE-1]]:46: note: 'x' is declared as f32[B,784] here
TC_COMPILE tc_tensor *network(const tc_tensor *x TC_SHAPE("f32[N,100]"), const tc_tensor *y TC_SHAPE("f32[N]")) {
  tc_tensor *h = tc_relu(x);
  return tc_exp(layer(h, y));
  // CHECK-DAG: shape_declarations.c:[[#@LINE-1]]:23: error: argument 'x' of 'layer' is f32[N,100], declared as f32[B,784]
}

// Maybe right.
TC_COMPILE tc_tensor *open(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *y TC_SHAPE("f32[K]")) {
  return layer(tc_relu(x), y);
}
// CHECK-NOT: error: {{.*}}of 'fine'
