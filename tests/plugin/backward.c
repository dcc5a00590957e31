// Which functions bring kernels for their gradients, what they save, and what is said where there are none.
// RUN: %not %tc -c %s -o %t.o -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tc -w -c %s -DAUTO -o %t.o -Rpass=tc -Rpass-missed=tc 2>&1 | %check --check-prefix=AUTO %s
// RUN: %tc -w -c %s -DAUTO -DCALLS -o %t.o -Rpass=tc -Rpass-missed=tc 2>&1 | %check --check-prefix=CALLS %s
// RUN: %tc -w -c %s -DAUTO -fplugin-arg-tc-grad=on -o %t.o -Rpass=tc 2>&1 | %check --check-prefix=CALLS %s
// RUN: %tc -w -c %s -DAUTO -DCALLS -fplugin-arg-tc-grad=off -o %t.o -Rpass=tc 2>&1 | %check --check-prefix=AUTO %s
#include <tcompile.h>
#define X const tc_tensor *x TC_SHAPE("f32[N]")

#ifdef AUTO
TC_COMPILE tc_tensor *f(X) { return tc_exp(x); }
// AUTO-NOT: gradients
// CALLS: backward.c:[[#@LINE-2]]:23: remark: 'f' compiled with its gradients: 1 kernel forward, 1 backward; saves 0 tensors [
#ifdef CALLS
bool step(const tc_tensor *x) { return tc_backward(f(x)); }
#endif
#else

#define GRAD TC_COMPILE_WITH("grad=on")
GRAD tc_tensor *product(X, const tc_tensor *w TC_SHAPE("f32[N,N]")) { return tc_tanh(tc_square(tc_matmul(w, tc_exp(x)))); }
// CHECK-DAG: backward.c:[[#@LINE-1]]:17: remark: 'product' compiled with its gradients: {{[0-9] kernels? forward, [0-9]}} backward; saves 1 tensor, 4*N bytes; {{[0-9]}} value{{s?}} computed again [
GRAD tc_tensor *written(X, tc_tensor *m TC_SHAPE("f32[N]")) { tc_add_(m, x); return tc_exp(x); }
// CHECK-DAG: backward.c:[[#@LINE-1]]:17: remark: 'written' has no kernels for its gradients: an operand is written with what gradients may lead to [-Rpass-missed=tc]
GRAD tc_tensor *position(X) { return tc_argmax(x, TC_AXES(0), false); }
// CHECK-NOT: 'position' has no
TC_COMPILE_WITH("grad=on", "max_saved=1K") tc_tensor *few(const tc_tensor *x TC_SHAPE("f32[512,8]"), const tc_tensor *w TC_SHAPE("f32[8,8]")) {
// CHECK-DAG: backward.c:[[#@LINE-1]]:55: error: 'few' saves 16384 bytes for its gradients, and max_saved=1024
  return tc_tanh(tc_square(tc_matmul(x, w)));
}
TC_COMPILE_WITH("grad=maybe") tc_tensor *g(X) { return tc_exp(x); }
// CHECK-DAG: backward.c:[[#@LINE-1]]:17: warning: option 'grad' cannot be 'maybe'; it can be auto, on or off
TC_COMPILE_WITH("max_saved=12Q") tc_tensor *h(X) { return tc_exp(x); }
// CHECK-DAG: backward.c:[[#@LINE-1]]:17: warning: option 'max_saved' cannot be '12Q'; it can be a number of bytes such as 4096, 64K, 8M or 1G
#endif
