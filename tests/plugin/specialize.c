// TC_SPECIALIZE that is not understood, or that names what the function does not have: the caret is
// inside of the string, and the code for any sizes is made.
// RUN: %tc -c %s -o %t.o -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
#include <tcompile.h>

TC_COMPILE TC_SPECIALIZE("B") tc_tensor *a(const tc_tensor *x TC_SHAPE("f32[B]")) { return tc_exp(x); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:28: warning: TC_SPECIALIZE: expected '='; it is ignored
TC_COMPILE TC_SPECIALIZE("B=x") tc_tensor *b(const tc_tensor *x TC_SHAPE("f32[B]")) { return tc_exp(x); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:29: warning: TC_SPECIALIZE: expected a number; it is ignored
TC_COMPILE TC_SPECIALIZE("B=1 T") tc_tensor *c(const tc_tensor *x TC_SHAPE("f32[B]")) { return tc_exp(x); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:31: warning: TC_SPECIALIZE: expected ',' or the end; it is ignored
TC_COMPILE TC_SPECIALIZE("B=1,") tc_tensor *d(const tc_tensor *x TC_SHAPE("f32[B]")) { return tc_exp(x); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:31: warning: TC_SPECIALIZE: expected the name of a size; it is ignored
TC_COMPILE TC_SPECIALIZE("B=1,B=2") tc_tensor *e(const tc_tensor *x TC_SHAPE("f32[B]")) { return tc_exp(x); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:31: warning: TC_SPECIALIZE: 'B' stands twice; it is ignored
TC_COMPILE TC_SPECIALIZE("N=1") tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[B]"), double N) { return tc_mul_s(x, N); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:27: warning: TC_SPECIALIZE: 'N' is neither a size in the TC_SHAPE of a parameter nor an integer parameter; it is ignored
struct part { int n; double scale; };
TC_COMPILE TC_SPECIALIZE("p->m=2")
tc_tensor *no_member(const tc_tensor *x TC_SHAPE("f32[N]"), const struct part *p) { return tc_add_s(x, p->n); }
// CHECK-DAG: specialize.c:[[#@LINE-2]]:27: warning: TC_SPECIALIZE: 'p->m': there is no 'm'; it is ignored
TC_COMPILE TC_SPECIALIZE("p->scale=2")
tc_tensor *no_integer(const tc_tensor *x TC_SHAPE("f32[N]"), const struct part *p) { return tc_add_s(x, p->n); }
// CHECK-DAG: specialize.c:[[#@LINE-2]]:27: warning: TC_SPECIALIZE: 'p->scale' is not an integer; it is ignored
#define X(name) const tc_tensor *name TC_SHAPE("f32|bf16|f16|f64[N]")
TC_COMPILE tc_tensor *combinations(X(a), X(b)) { return tc_add(a, b); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:{{[0-9]+}}: warning: TC_SHAPE: the dtypes of the operands of 'combinations' have more than 8 combinations; as many are compiled, those of equal dtypes first; a choice with a name, as in "R=f32|bf16[N]", is made once for all operands that have it
// CHECK-DAG: specialize.c:[[#@LINE-2]]:23: remark: 'combinations' compiled for a=f64,b=f64: 1 ops
// CHECK-DAG: specialize.c:[[#@LINE-3]]:23: remark: 'combinations' compiled for a=f32,b=f64: 1 ops
TC_COMPILE TC_SPECIALIZE("B=4,T=6") tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[B<=4,T%4]")) { return tc_exp(x); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:31: warning: TC_SPECIALIZE: 'T' is never 6 by its TC_SHAPE; it is ignored
TC_COMPILE TC_SPECIALIZE("B=0") tc_tensor *h(const tc_tensor *x TC_SHAPE("f32[B]")) { return tc_max(x, TC_ALL, false); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:26: remark: 'h' not compiled for B=0:
// CHECK-DAG: specialize.c:[[#@LINE-2]]:44: remark: 'h' compiled: 1 ops
TC_COMPILE TC_SPECIALIZE("B=3") tc_tensor *i(const tc_tensor *x TC_SHAPE("f32[B]"), const tc_tensor *y TC_SHAPE("f32[2]")) { return tc_add(x, y); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:26: remark: 'i' not compiled for B=3: {{.*}}3{{.*}}2
// CHECK-DAG: specialize.c:[[#@LINE-2]]:{{[0-9]+}}: note: this is where
// CHECK-DAG: specialize.c:[[#@LINE-3]]:44: remark: 'i' compiled: 1 ops
TC_SPECIALIZE("B=1") static int number;
// CHECK-DAG: specialize.c:[[#@LINE-1]]:1: warning: 'tc_specialize' marks functions; here it is ignored
TC_COMPILE __attribute__((tc_specialize("B=1", "B=2"))) tc_tensor *j(const tc_tensor *x TC_SHAPE("f32[B]")) { number++; return tc_exp(x); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:27: warning: 'tc_specialize' takes one string, such as "B=1,T=128"; it is ignored
TC_COMPILE TC_SPECIALIZE("N=2") tc_tensor *k(const tc_tensor *x TC_SHAPE("f32[B]"), const tc_tensor *y TC_SHAPE("f32[N]")) { return y ? tc_exp(x) : NULL; }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:26: remark: 'k' not compiled for N=2: nothing that is compiled depends on it
// What is needed at build time names the number that it can be given for, and speaks of other values where it is.
TC_COMPILE TC_SPECIALIZE("axis=0") tc_tensor *along(const tc_tensor *x TC_SHAPE("f32[A,B]"), int axis) { return tc_sum(x, TC_AXES(axis), false); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:47: remark: 'along' compiled for axis=0: 1 ops
// CHECK-DAG: specialize.c:[[#@LINE-2]]:{{[0-9]+}}: remark: 'along' not compiled for other values: 'axes' has to be known at build time; TC_SPECIALIZE("axis=...") compiles for a value of it
static tc_tensor *negated(const tc_tensor *x, int n) { return n ? tc_neg(negated(x, n - 1)) : tc_exp(x); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:{{[0-9]+}}: remark: 'recursive' not compiled: the choice depends on a value that is not known at build time; TC_SPECIALIZE("n=...") compiles for a value of it
TC_COMPILE tc_tensor *recursive(const tc_tensor *x TC_SHAPE("f32[B]"), int n) { return negated(x, n); }
TC_COMPILE TC_SPECIALIZE("n=2") tc_tensor *twice(const tc_tensor *x TC_SHAPE("f32[B]"), int n) { return negated(x, n); }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:44: remark: 'twice' compiled for n=2: 3 ops
TC_COMPILE TC_SPECIALIZE("n=3") tc_tensor *first(const tc_tensor *x TC_SHAPE("f32[B%3]"), int n) { tc_tensor *p[3]; tc_split(tc_exp(x), n, 0, p); return p[0]; }
// CHECK-DAG: specialize.c:[[#@LINE-1]]:44: remark: 'first' compiled for n=3: 2 ops
// CHECK-DAG: specialize.c:[[#@LINE-2]]:{{[0-9]+}}: remark: 'first' not compiled for other values: {{.*}}; TC_SPECIALIZE("n=...") compiles for a value of it
