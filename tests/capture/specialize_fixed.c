// dynamic=false: code for sizes that are known at build time, and the body for the others.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE_WITH("dynamic=false") TC_SPECIALIZE("B=1") TC_SPECIALIZE("B=2")
tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[B,6]")) { return tc_softmax(x, -1); }

TC_COMPILE_WITH("dynamic=false") tc_tensor *numbers(const tc_tensor *x TC_SHAPE("f32[3,6]")) { return tc_softmax(x, 0); }

TC_COMPILE_WITH("dynamic=false") tc_tensor *open(const tc_tensor *x TC_SHAPE("f32[B,6]")) { return tc_softmax(x, -1); }

TC_COMPILE_WITH("dynamic=false") TC_SPECIALIZE("B=1")
tc_tensor *half(const tc_tensor *x TC_SHAPE("f32[B,T]")) { return tc_softmax(x, -1); }

int main(void) {
  for (int n = 1; n < 4; n++) {
    tc_tensor *x = tc_randn(TC_DIMS(n, 6), n, TC_F32);
    show(f(x));
    show(numbers(x));
    show(open(x));
    show(half(x));
  }
  return finish();
}
// CHECK: specialize_fixed.c:[[#@LINE-19]]:12: remark: 'f' compiled for B=1: 1 ops in 1 kernel
// CHECK: specialize_fixed.c:[[#@LINE-20]]:12: remark: 'f' compiled for B=2: 1 ops in 1 kernel
// CHECK-NOT: 'f' compiled
// CHECK: specialize_fixed.c:[[#@LINE-20]]:45: remark: 'numbers' compiled: 1 ops in 1 kernel
// CHECK: specialize_fixed.c:[[#@LINE-19]]:45: remark: 'open' not compiled: size 'B' is not known at build time, and dynamic=false; write a number in TC_SHAPE, or add TC_SPECIALIZE("B=...")
// CHECK-NEXT: tc_tensor *open(
// CHECK-NEXT: {{^ +(\| +)?}}^
// CHECK: specialize_fixed.c:[[#@LINE-20]]:48: remark: 'half' not compiled for B=1: size 'T' is not known at build time, and dynamic=false; write a number in TC_SHAPE, or add TC_SPECIALIZE("T=...")
// CHECK-NEXT: TC_SPECIALIZE("B=1")
// CHECK-NEXT: {{^ +(\| +)?}}^
// CHECK-DAG: numbers {{.*}} 1 0 2 
// CHECK-DAG: f [B=1] {{.*}} 1 0 0 
// CHECK-DAG: f [B=2] {{.*}} 1 0 1 
