// Everything that is not captured says so, where, and what to do; -Rpass-missed= asks for it.
// RUN: %tc -c %s -o %t.o -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tc -c %s -o %t.o -Werror 2>&1 | %check --allow-empty --check-prefix=QUIET %s
// RUN: %tc -c %s -o %t.o -Rpass-missed=inline 2>&1 | %check --allow-empty --check-prefix=QUIET %s
// QUIET-NOT: not compiled
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[N]")
static jmp_buf place;
tc_tensor *elsewhere(const tc_tensor *x);

TC_COMPILE tc_tensor *variadic(X, ...) { return tc_exp(x); }
// CHECK: [[#@LINE-1]]:23: remark: 'variadic' not compiled: it takes a variable number of arguments [-Rpass-missed=tc]
TC_COMPILE tc_tensor *jumps(X) { goto end; end: return tc_exp(x); }
// CHECK: [[#@LINE-1]]:34: remark: graph break in 'jumps': goto is not captured
TC_COMPILE tc_tensor *assembly(X) { __asm__(""); return tc_exp(x); }
// CHECK: [[#@LINE-1]]:37: remark: graph break in 'assembly': inline assembly is not captured
TC_COMPILE tc_tensor *returns_twice(X) { if (setjmp(place)) return NULL; return tc_exp(x); }
// CHECK: [[#@LINE-1]]:23: remark: 'returns_twice' not compiled: 'setjmp' is called
TC_COMPILE tc_tensor *vla(X, int n) { int a[n]; (void)a; return tc_exp(x); }
// CHECK: [[#@LINE-1]]:43: remark: graph break in 'vla': an array whose length is not constant; give it a constant one, of the most elements that there may be
TC_COMPILE tc_tensor *prints(X) { printf("x"); return tc_exp(x); }
// CHECK: [[#@LINE-1]]:35: remark: graph break in 'prints': 'printf' is called, whose body is not visible
TC_COMPILE tc_tensor *calls(X) { return tc_exp(elsewhere(x)); }
// CHECK: [[#@LINE-1]]:48: remark: 'calls' not compiled: 'elsewhere' is called, whose body is not visible in this file; define it here, or call it outside of the function
TC_COMPILE tc_tensor *pointer(X, tc_tensor *(*f)(const tc_tensor *)) { return f(x); }
// CHECK: [[#@LINE-1]]:79: remark: 'pointer' not compiled: a function is called through a pointer; call it by its name
TC_COMPILE tc_tensor *recursive(X) { return recursive(x); }
// CHECK: [[#@LINE-1]]:45: remark: 'recursive' not compiled: 'recursive' calls itself, and where that ends is not known
TC_COMPILE tc_tensor *same(X) { return (tc_tensor *)x; }
// CHECK: [[#@LINE-1]]:23: remark: 'same' not compiled: there is nothing to compile
TC_COMPILE tc_tensor *view(X) { return tc_unsqueeze(x, 0); }
// CHECK: [[#@LINE-1]]:23: remark: 'view' not compiled: there is nothing to compile: no tensor is computed
TC_COMPILE tc_tensor *branch(X, float a) { if (a > 0) return tc_exp(x); return tc_neg(x); }
// CHECK: [[#@LINE-1]]:50: remark: graph break in 'branch': the branch depends on a value that is not known at build time
TC_COMPILE tc_tensor *rounds(tc_tensor *x TC_SHAPE("f32[N]"), int n) { for (int i = 0; i < n; i++) x = tc_exp(x); return x; }
// CHECK: [[#@LINE-1]]:90: remark: graph break in 'rounds': the number of rounds of the loop depends on
TC_COMPILE tc_tensor *chooses(X, int k) { switch (k) { case 0: return tc_exp(x); } return tc_neg(x); }
// CHECK: [[#@LINE-1]]:43: remark: graph break in 'chooses': the switch depends on a value that is not known at build time
TC_COMPILE int *returns_pointer(X) { (void)tc_exp(x); return NULL; }
// CHECK: [[#@LINE-1]]:17: remark: 'returns_pointer' not compiled: there is nothing to compile
struct model { tc_tensor *w; };
TC_COMPILE tc_tensor *member(X, const struct model *m) { return tc_mul(x, m->w); }
// CHECK: [[#@LINE-1]]:75: remark: 'member' not compiled: member 'm->w' has no TC_SHAPE, so its rank is not known; write it behind the member, such as TC_SHAPE("f32[N,M]")
struct list { tc_tensor *p[4]; };
TC_COMPILE tc_tensor *element(X, const struct list *m) { return tc_mul(x, m->p[2]); }
// CHECK: [[#@LINE-1]]:75: remark: 'element' not compiled: member 'm->p[2]' has no TC_SHAPE, {{.*}} TC_SHAPE("f32[N,M]"), or where elements differ, behind a variable for each
TC_COMPILE tc_tensor *writes_view(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  return tc_exp(tc_fill_(tc_reshape(tc_transpose(x, 0, 1), TC_DIMS(-1)), 1));
  // CHECK: [[#@LINE-1]]:17: remark: 'writes_view' not compiled: a view made by tc_reshape is written whose place in the tensor is not followed
}
TC_COMPILE tc_tensor *far_step(tc_tensor *x TC_SHAPE("f32[N]")) {
  return tc_fill_(tc_slice(tc_slice(x, 0, 0, INT64_MAX, 1LL << 40), 0, 0, INT64_MAX, 1LL << 40), 1);
  // CHECK: [[#@LINE-1]]:10: remark: 'far_step' not compiled: a part is written whose place in the tensor is not followed
}
TC_COMPILE tc_tensor *long_loop(X) {
  tc_tensor *y = tc_exp(x);
  for (int i = 0; i < 100000; i++)
    ;
  return y;
  // CHECK: [[#@LINE-3]]:3: remark: graph break in 'long_loop': loops of more than 16384 rounds in all are not unrolled; work on a whole tensor instead
}
TC_COMPILE tc_tensor *axis_at_run_time(X, int axis) { return tc_softmax(x, axis); }
// CHECK: [[#@LINE-1]]:76: remark: 'axis_at_run_time' not compiled: 'axis' has to be known at build time
TC_COMPILE tc_tensor *huge(void) { return tc_zeros(TC_DIMS(4611686018427387904, 8), TC_F32); }
// CHECK: [[#@LINE-1]]:43: remark: 'huge' not compiled: a size of more than 61 bits
