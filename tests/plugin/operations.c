// TC_CUSTOM_OP that cannot be an operation: a break with the reason; the call stays.
// RUN: %tc -c %s -o %t.o -Rpass-missed=tc 2>&1 | %check %s
#include <tcompile.h>

bool good(tc_tensor *out, const tc_tensor *x);
int bad(tc_tensor *out, const tc_tensor *x);
#define PLAIN const tc_tensor *x TC_SHAPE("f32[N,M]")
TC_CUSTOM_OP("f32[N]", good) tc_tensor *fine(const tc_tensor *x TC_SHAPE("f32[N,4]"));
TC_CUSTOM_OP("f32[K]", good) tc_tensor *unknown(const tc_tensor *x TC_SHAPE("f32[N,M]"));
TC_CUSTOM_OP("f32[N", good) tc_tensor *damaged(const tc_tensor *x TC_SHAPE("f32[N,M]"));
TC_CUSTOM_OP("f32[N]", bad) tc_tensor *wrong(const tc_tensor *x TC_SHAPE("f32[N,M]"));
TC_CUSTOM_OP("f32[N]", nobody) tc_tensor *without(const tc_tensor *x TC_SHAPE("f32[N,M]"));
// CHECK-DAG: operations.c:[[#@LINE+1]]:1: warning: 'tc_op' marks functions that return a tensor; here it is ignored
TC_CUSTOM_OP("f32[N]", good) int number(const tc_tensor *x);

TC_COMPILE tc_tensor *a(PLAIN) {
  // CHECK-DAG: operations.c:[[#@LINE+1]]:10: remark: 'a' not compiled: the shape of 'unknown': size 'K' is that of no operand
  return unknown(tc_neg(x));
}
TC_COMPILE tc_tensor *b(PLAIN) {
  // CHECK-DAG: operations.c:[[#@LINE+1]]:10: remark: 'b' not compiled: the shape of 'damaged':
  return damaged(tc_neg(x));
}
TC_COMPILE tc_tensor *c(PLAIN) {
  // CHECK-DAG: operations.c:[[#@LINE+1]]:10: remark: 'c' not compiled: the kernel 'bad' of 'wrong' has not the type bool (tc_tensor *, ...the function's parameters)
  return wrong(tc_neg(x));
}
TC_COMPILE tc_tensor *d(PLAIN) {
  // CHECK-DAG: operations.c:[[#@LINE+1]]:10: remark: 'd' not compiled: the kernel 'nobody' of 'without' is not declared
  return without(tc_neg(x));
}
TC_COMPILE tc_tensor *e(const tc_tensor *x TC_SHAPE("f32[N,5]")) {
  // CHECK-DAG: operations.c:[[#@LINE+1]]:10: remark: 'e' not compiled: the shape of 'fine': an operand is of another size than declared
  return fine(tc_neg(x));
}
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f64[N,4]")) {
  // CHECK-DAG: operations.c:[[#@LINE+1]]:15: remark: 'f' not compiled: an operand of 'fine' is of another dtype or rank
  return fine(tc_neg(x));
}
TC_COMPILE tc_tensor *g(PLAIN) {
  // CHECK-DAG: operations.c:[[#@LINE+1]]:33: remark: 'g' not compiled: a number is passed to 'fine' as a tensor
  return tc_add(tc_neg(x), fine(tc_scalar(1)));
}

// TC_EFFECT that cannot be between kernels: a break, too.
// CHECK-DAG: operations.c:[[#@LINE+1]]:1: warning: 'tc_effect' marks functions that return nothing; here it is ignored
TC_EFFECT int counts(const tc_tensor *x);
TC_EFFECT void writes(tc_tensor *x);
TC_COMPILE tc_tensor *h(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *y = tc_neg(x);
  // CHECK-DAG: operations.c:[[#@LINE+1]]:3: remark: graph break in 'h': 'writes' may write a tensor; make its parameters const
  writes(y);
  return tc_exp(y);
}
