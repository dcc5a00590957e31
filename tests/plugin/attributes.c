// Misused attributes: a warning at the place, and the code around it compiles as it stands.
// RUN: %tc -O1 -c %s -o %t.o -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tc -O1 -c %s -o %t.o -w 2>&1 | %check --allow-empty --check-prefix=QUIET %s
// RUN: %not %tc -O1 -c %s -o %t.o -Werror 2>&1 | %check --check-prefix=ERROR %s
// RUN: %tc -fsyntax-only %s -fdiagnostics-parseable-fixits 2>&1 | %check --check-prefix=FIX %s
// RUN: %plain -O1 -c %s -o %t.o -Wall -Wextra -Werror
#include <tcompile.h>

// QUIET-NOT: warning
// ERROR: error: 'tc_compile' marks functions; here it is ignored [-Werror,-Wbackend-plugin]

TC_COMPILE int variable;
// CHECK-DAG: attributes.c:[[#@LINE-1]]:1: warning: 'tc_compile' marks functions; here it is ignored [-Wbackend-plugin]

TC_DISABLE int disabled;
// CHECK-DAG: attributes.c:[[#@LINE-1]]:1: warning: 'tc_disable' marks functions; here it is ignored

TC_SHAPE("f32[N]") int shaped;
// CHECK-DAG: attributes.c:[[#@LINE-1]]:1: warning: 'tc_shape' describes parameters, members and variables that are tensors; here it is ignored

TC_COMPILE_WITH("fulgraph") tc_tensor *misspelt(const tc_tensor *x TC_SHAPE("f32[N]")) {
  // CHECK-DAG: attributes.c:[[#@LINE-1]]:17: warning: unknown option 'fulgraph'; did you mean 'fullgraph'? (options: fullgraph, disable, backend, dynamic, max_kernels, max_workspace, grad, max_saved, autocast, profile-variants, mode, tune-time, matmul_precision)
  // FIX-DAG: fix-it:"{{.*}}attributes.c":{[[#@LINE-2]]:18-[[#@LINE-2]]:26}:"fullgraph"
  return tc_exp(x);
}

TC_COMPILE_WITH("max_workspce=4K") tc_tensor *misspelt_key(const tc_tensor *x TC_SHAPE("f32[N]")) {
  // CHECK-DAG: attributes.c:[[#@LINE-1]]:17: warning: unknown option 'max_workspce'; did you mean 'max_workspace'?
  // FIX-DAG: fix-it:"{{.*}}attributes.c":{[[#@LINE-2]]:18-[[#@LINE-2]]:30}:"max_workspace"
  return tc_exp(x);
}

TC_COMPILE_WITH("nonsense=1") tc_tensor *unknown_key(const tc_tensor *x TC_SHAPE("f32[N]")) {
  // CHECK-DAG: attributes.c:[[#@LINE-1]]:17: warning: unknown option 'nonsense' (options: fullgraph, disable,
  return tc_exp(x);
}

TC_COMPILE_WITH("fullgraph=maybe") tc_tensor *wrong_flag(const tc_tensor *x TC_SHAPE("f32[N]")) {
  // CHECK-DAG: attributes.c:[[#@LINE-1]]:17: warning: option 'fullgraph' cannot be 'maybe'; it can be true or false
  return tc_exp(x);
}

TC_COMPILE_WITH("backend=abacus") tc_tensor *wrong_value(const tc_tensor *x TC_SHAPE("f32[N]")) {
  // CHECK-DAG: attributes.c:[[#@LINE-1]]:17: warning: option 'backend': there is no backend 'abacus'; it can be all, eager, openmp, cuda
  return tc_exp(x);
}

TC_COMPILE_WITH(3) tc_tensor *number(const tc_tensor *x TC_SHAPE("f32[N]")) {
  // CHECK-DAG: attributes.c:[[#@LINE-1]]:17: warning: arguments of 'tc_compile' are string literals; the attribute is ignored
  return tc_exp(x);
}

TC_COMPILE tc_tensor *no_text(const tc_tensor *x TC_SHAPE()) { return tc_exp(x); }
// CHECK-DAG: attributes.c:[[#@LINE-1]]:50: warning: 'tc_shape' takes one string, such as "f32[N,4]"; it is ignored

TC_COMPILE tc_tensor *shape_of_int(const tc_tensor *x TC_SHAPE("f32[N]"), int n TC_SHAPE("f32[]")) {
  // CHECK-DAG: attributes.c:[[#@LINE-1]]:90: warning: TC_SHAPE stands on 'n', which is not a tensor
  return tc_exp(tc_add_s(x, n));
}

// Declared only, twice, on a redeclaration, with options on both: no complaint.
TC_COMPILE tc_tensor *declared(const tc_tensor *x TC_SHAPE("f32[N]"));
TC_COMPILE TC_COMPILE tc_tensor *twice(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
TC_COMPILE tc_tensor *again(const tc_tensor *x TC_SHAPE("f32[N]"));
TC_COMPILE_WITH("fullgraph") tc_tensor *again(const tc_tensor *x) { return tc_exp(x); }
// CHECK-NOT: 'declared'
// CHECK-NOT: 'twice'
// CHECK-NOT: 'again'
