// Machines that no code is generated for: the function stays as it is.
// RUN: %tc --target=riscv64-unknown-elf -ffreestanding -S %s -o %t.s -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tc --target=aarch64-linux-gnu -ffreestanding -S %s -o %t.s -Rpass=tc -Rpass-missed=tc 2>&1 | %check --check-prefix=ARM %s
#define TC_NO_LOCATIONS
#include <tcompile.h>

TC_COMPILE tc_tensor *negative(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_neg(x); }
// CHECK: targets.c:[[#@LINE-1]]:23: remark: 'negative' not compiled: code is generated for x86-64 and aarch64, not for riscv64
// ARM: targets.c:[[#@LINE-2]]:23: remark: 'negative' compiled: 1 ops in 1 kernel
