// Where a body can have no scope of its own, and results that are freed before the caller sees them.
// RUN: %tc -fopenmp -fblocks -Rpass=tc -c %s -o %t.o 2>&1 | %check %s
// RUN: %tc -fopenmp -fblocks -fdiagnostics-parseable-fixits -c %s -o %t.o 2>&1 | %check --check-prefix=FIX %s
#include <setjmp.h>
#include <stdatomic.h>
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[N]")
void unseen(const tc_tensor *x);
_Atomic(tc_tensor *) last;
jmp_buf there;

TC_COMPILE tc_tensor *assembly(X) {
  // CHECK-DAG: ownership_messages.c:[[#@LINE-1]]:23: remark: 'assembly' frees nothing of what its body makes where that runs: it contains inline assembly; write TC_FUNCTION_SCOPE at its head, or free it
  __asm__ volatile("");
  return tc_exp(tc_neg(x));
}

TC_COMPILE tc_tensor *by_hand(X) {
  // CHECK-DAG: ownership_messages.c:[[#@LINE-1]]:23: remark: 'by_hand' frees nothing {{.*}}: it calls 'tc_scope_begin'; write TC_SCOPE or TC_FUNCTION_SCOPE
  tc_scope s;
  tc_scope_begin(&s);
  tc_tensor *h = tc_keep(tc_exp(tc_neg(x)));
  tc_scope_end(&s);
  return h;
}

TC_COMPILE tc_tensor *jumps(X) {
  // CHECK-DAG: ownership_messages.c:[[#@LINE-1]]:23: remark: 'jumps' frees nothing {{.*}}: it calls 'longjmp'
  if (tc_rank(x) > 1) longjmp(there, 1);
  return tc_exp(tc_neg(x));
}

TC_COMPILE tc_tensor *atomically(X) {
  // CHECK-DAG: ownership_messages.c:[[#@LINE-1]]:23: remark: 'atomically' frees nothing {{.*}}: it contains an expression of a kind that is not followed (AtomicExpr)
  tc_tensor *h = tc_exp(tc_neg(x));
  __c11_atomic_store(&last, h, 0);
  return h;
}

TC_COMPILE tc_tensor *in_parallel(X) {
  // CHECK-DAG: ownership_messages.c:[[#@LINE-1]]:23: remark: 'in_parallel' frees nothing {{.*}}: it contains a statement of a kind that is not followed (OMPParallelDirective)
  tc_tensor *h = tc_exp(tc_neg(x));
#pragma omp parallel
  unseen(h);
  return h;
}

TC_COMPILE tc_tensor *stored_and_kept(X, tc_tensor **out) {
  // CHECK-DAG: ownership_messages.c:[[#@LINE-1]]:23: remark: 'stored_and_kept' frees nothing {{.*}}: inside of a TC_SCOPE it keeps tensors, and hands some to where they may stay
  TC_SCOPE {
    tc_tensor *h = tc_exp(tc_neg(x));
    *out = h;
    tc_keep(h);
  }
  return tc_abs(x);
}

TC_COMPILE tc_tensor *two_files(X) {
  // CHECK-DAG: ownership_messages.c:[[#@LINE-1]]:23: remark: 'two_files' frees nothing {{.*}}: it is written in two files
#include "Inputs/second_half.h"
}

// ---- results that are freed ----

TC_COMPILE tc_tensor *lost(X) {
  TC_FUNCTION_SCOPE;
  tc_tensor *h = tc_exp(x);
  return tc_neg(h);
  // CHECK-DAG: ownership_messages.c:[[#@LINE-1]]:10: warning: the tensor that is returned is freed at the end of its scope, before the caller sees it; hand it out with tc_keep
  // FIX-DAG: fix-it:"{{.*}}ownership_messages.c":{[[#@LINE-2]]:10-[[#@LINE-2]]:19}:"tc_keep(tc_neg(h))"
}

tc_tensor *lost_variable(const tc_tensor *x, int n) {
  TC_SCOPE {
    tc_tensor *h = tc_exp(x);
    if (n) return n > 1 ? (h) : tc_keep(tc_abs(h));
    // CHECK-DAG: ownership_messages.c:[[#@LINE-1]]:27: warning: the tensor that is returned is freed
  }
  return NULL;
}

// CHECK-NOT: [[#@LINE+1]]:{{.*}}warning
tc_tensor *handed_out(tc_tensor *x, int n) {
  tc_tensor *outer = tc_exp(x);
  TC_SCOPE {
    tc_tensor *h = tc_exp(x), *k = tc_keep(tc_neg(h)), *m = tc_abs(x);
    tc_keep(m);
    if (n == 1) return outer;
    if (n == 2) return k;
    if (n == 3) return m;
    if (n == 4) return tc_add_(x, h);
    if (n == 5) return tc_keep(h);
  }
  return tc_neg(outer);
}
