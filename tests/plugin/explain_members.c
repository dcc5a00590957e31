// Sizes of members have the names that the program gives them.
// RUN: %tc -fplugin-arg-tc-backend=openmp -c %s -o %t.o && %explain %t.o | %check %s
// RUN: %explain --size 'b->H=8' --size T=4 %t.o | %check --check-prefix=SIZED %s
// RUN: %explain --size b__H=8 --size T=4 %t.o | %check --check-prefix=SIZED %s
// RUN: %explain --json --size 'b->H=8' --size T=4 %t.o | %check --check-prefix=JSON %s
// RUN: %not %explain --size H=8 %t.o 2>&1 | %check --check-prefix=UNKNOWN %s
#include <tcompile.h>

struct block {
  tc_tensor *w TC_SHAPE("f32[H,H]");
};

TC_COMPILE tc_tensor *apply(const struct block *b, const tc_tensor *x TC_SHAPE("f32[T,1]")) {
  return tc_mul(tc_exp(b->w), tc_sum(x, TC_ALL, false));
}

// CHECK: segment at line [[#@LINE-4]]: 3 operations, {{.*}}b->H*b->H{{.*}} flops
// CHECK-DAG: guard: b->w is f32[b->H,b->H]
// CHECK-DAG: guard: x is f32[T,1]
// CHECK: b->H*b->H{{.*}} bytes
// SIZED: 3 operations, 132 flops
// JSON: "flops": 132
// JSON: "names": [
// JSON: "name": "b__H", "written": "b->H"
// UNKNOWN: tc-explain: --size H=8: nothing here has a size of that name; there are {{.*}}b->H
