// The gradients need a higher level of the CPU than the function: below it the body runs.
// RUN: %tc -O1 %s -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=bf16 -o %t %run && env TC_ISA=v4 %t && %t
#include <tcompile.h>

TC_COMPILE static tc_tensor *f(const tc_tensor *x TC_SHAPE("bf16[N]")) { return tc_sum(tc_square(tc_cast(x, TC_F32)), TC_ALL, false); }

int main(void) {
  tc_tensor *x = tc_requires_grad_(tc_full(TC_DIMS(100), 3, TC_BF16), true);
  return !tc_backward(f(x)) || tc_at(tc_grad_of(x), TC_INTS(7)) != 6;
}
