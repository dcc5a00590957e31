// For another machine: kernels for NEON, as its assembly and as an object; a machine that there is no code for.
// RUN: %tcompile %s --target=aarch64-linux-gnu --split=s -o %t.c -- -O2 -ffreestanding %headers -fplugin-arg-tc-backend=openmp -Rpass=tc 2>&1 | %check %s
// RUN: %clang --target=aarch64-linux-gnu -c %t.s -o %t.clang.o && %check --check-prefix=CODE %s < %t.s
// RUN: %tcompile %s --target=aarch64-linux-gnu --split -o %t.c -- -O2 -ffreestanding %headers -fplugin-arg-tc-backend=openmp
// RUN: readelf -hsW %t.o | %check --check-prefix=OBJECT %s
// RUN: %clang --target=aarch64-linux-gnu -ffreestanding %headers -Wall -Werror -c %t.c -o %t.c.o
// RUN: %tcompile %s --target=aarch64-linux-gnu -o %t.text.c -- -O2 -ffreestanding %headers -fplugin-arg-tc-backend=openmp
// RUN: %clang --target=aarch64-linux-gnu -ffreestanding %headers -Wall -Werror -c %t.text.c -o %t.text.o
// RUN: %tcompile %s --target=riscv64-linux-gnu -o %t.none.c -- -ffreestanding %headers -Rpass-missed=tc 2>&1 | %check --check-prefix=NONE %s
#include <tcompile.h>

TC_COMPILE tc_tensor *scores(const tc_tensor *x TC_SHAPE("f32[B,K]"), const tc_tensor *w TC_SHAPE("f32[K,N]")) {
  return tc_softmax(tc_matmul(x, w), -1);
}
// CHECK: target.c:[[#@LINE-3]]:23: remark: 'scores' compiled: 2 ops in
// NONE: target.c:[[#@LINE-4]]:23: remark: 'scores' not compiled: code is generated for x86-64 and aarch64, not for riscv64
// CODE: fmla	v{{[0-9]+}}.4s
// OBJECT: Machine: AArch64
// OBJECT: FUNC WEAK HIDDEN {{.*}} __tc_scores_
