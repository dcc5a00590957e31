// TC_AUTOCAST: what a call converts is a part of the graph, once for each value; what is provably wrong is an error.
// RUN: %not %tc -c %s -o %t.o -DWRONG -Rpass-missed=tc 2>&1 | %check --check-prefix=WRONG %s
// RUN: env TC_DUMP=loops %tc -c %s -o %t.o -DTRAINED -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=bf16 2>&1 | %check --check-prefix=LOOPS %s
// RUN: env TC_DUMP=capture %tc -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v2 2>&1 | %check %s
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[4,4]")
#define W const tc_tensor *w TC_SHAPE("f32[4,4]")

// CHECK-LABEL: graph twice
// CHECK: [[X:%[0-9]+]] = param f32[4,4] "x"
// CHECK: [[W:%[0-9]+]] = param f32[4,4] "w"
// CHECK: [[LX:%[0-9]+]] = cast [[X]] dtype=bf16
// CHECK-NEXT: [[LW:%[0-9]+]] = cast [[W]] dtype=bf16
// CHECK-NEXT: [[A:%[0-9]+]] = matmul [[LX]] [[LW]]
// CHECK-NEXT: [[B:%[0-9]+]] = matmul [[A]] [[LW]]
// CHECK-NEXT: [[C:%[0-9]+]] = cast [[B]] dtype=f32
// CHECK-NEXT: softmax [[C]]
TC_COMPILE tc_tensor *twice(X, W) {
  tc_tensor *y;
  TC_AUTOCAST(TC_BF16) y = tc_softmax(tc_matmul(tc_matmul(x, w), w), -1);
  return y;
}

// The inner scope, and what is behind both.
// CHECK-LABEL: graph nested
// CHECK: cast {{.*}} dtype=bf16
// CHECK: matmul
// CHECK-NEXT: cast {{.*}} dtype=f16
// CHECK-NEXT: cast {{.*}} dtype=f16
// CHECK-NEXT: [[A:%[0-9]+]] = matmul
// CHECK-NEXT: [[B:%[0-9]+]] = matmul [[A]] %2
// CHECK-NEXT: [[C:%[0-9]+]] = matmul [[B]] %2
TC_COMPILE tc_tensor *nested(X, W) {
  tc_tensor *y;
  TC_AUTOCAST(TC_BF16) {
    y = tc_matmul(x, w);
    TC_AUTOCAST(TC_F16) y = tc_matmul(y, w);
    TC_NO_AUTOCAST y = tc_matmul(y, w);
  }
  return tc_matmul(y, w);
}

static tc_tensor *layer(const tc_tensor *x, const tc_tensor *w) { return tc_relu(tc_matmul(x, w)); }

// Of functions that are called, too; left by return.
// CHECK-LABEL: graph called
// CHECK: cast {{.*}} dtype=bf16
// CHECK-NEXT: cast {{.*}} dtype=bf16
// CHECK-NEXT: matmul
// CHECK-NEXT: relu
TC_COMPILE tc_tensor *called(X, W) {
  TC_AUTOCAST(TC_BF16) { return layer(x, w); }
  return NULL;
}

// A number has the dtype that the operand has by then; a question about the scope is a constant.
// CHECK-LABEL: graph numbers
// CHECK: [[X:%[0-9]+]] = param bf16[4] "x"
// CHECK: [[C:%[0-9]+]] = cast [[X]] dtype=f32
// CHECK: [[N:%[0-9]+]] = const weak f32 1.00999999
// CHECK: pow [[C]] [[N]]
TC_COMPILE tc_tensor *numbers(const tc_tensor *x TC_SHAPE("bf16[4]")) {
  tc_tensor *y;
  TC_AUTOCAST(TC_BF16) y = tc_pow_s(x, tc_autocast_dtype() == TC_BF16 ? 1.01 : 0);
  return y;
}

// In place: nothing.
// CHECK-LABEL: graph in_place
// CHECK-NOT: cast
// CHECK: write
TC_COMPILE void in_place(tc_tensor *x TC_SHAPE("bf16[4]")) { TC_AUTOCAST(TC_BF16) tc_exp_(x); }

#ifdef WRONG
// WRONG: autocast.c:[[#@LINE+2]]:15: error: TC_AUTOCAST takes TC_F16 or TC_BF16
TC_COMPILE tc_tensor *wrong(X, W) {
  TC_AUTOCAST(TC_F64) return tc_matmul(x, w);
  return NULL;
}
// WRONG: autocast.c:[[#@LINE+2]]:15: remark: 'unknown' not compiled: the dtype of TC_AUTOCAST has to be known at build time
TC_COMPILE tc_tensor *unknown(X, W, tc_dtype dtype) {
  TC_AUTOCAST(dtype) return tc_matmul(x, w);
  return NULL;
}
#endif

// Attention and its gradients: no array has scores or weights, in either precision.
// LOOPS: program attention: 5 kernels
// LOOPS-NOT: [B,H,T,T]
#ifdef TRAINED
#define QKV(name) const tc_tensor *name TC_SHAPE("f32[B,H,T,64]")
TC_COMPILE tc_tensor *attention(QKV(q), QKV(k), QKV(v), tc_tensor **g) {
  const tc_tensor *p[] = {q, k, v};
  tc_tensor *y = NULL;
  TC_AUTOCAST(TC_BF16) {
    const tc_tensor *scores = tc_mul_s(tc_matmul(q, tc_transpose(k, -2, -1)), 0.125);
    y = tc_matmul(tc_softmax(scores, -1), v);
  }
  const tc_tensor *loss = tc_sum(tc_square(y), TC_ALL, false);
  return tc_grad(loss, 3, p, g) ? y : NULL;
}
#endif
