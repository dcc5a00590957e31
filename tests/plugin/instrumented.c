// Flags that instrument the user's code leave the kernels alone, and the program right.
// RUN: %tc -O1 -fsanitize=address,undefined %s -o %t %run && %t | %check %s
// RUN: %tc -O1 -fsanitize=thread %s -o %t %run && env OMP_NUM_THREADS=1 %t | %check %s
// RUN: %tc -O0 --coverage %s -o %t %run && cd %T && %t | %check %s
// RUN: %tc -O1 -fprofile-instr-generate -fcoverage-mapping %s -o %t %run && env LLVM_PROFILE_FILE=%t.raw %t | %check %s
// RUN: %tc -O2 -fprofile-generate %s -o %t %run && env LLVM_PROFILE_FILE=%t.raw %t | %check %s
// RUN: %tc -O2 -pg %s -o %t %run && cd %T && %t | %check %s
// RUN: %tc -O2 -fsanitize-coverage=trace-pc-guard -c %s -o %t.o
// RUN: %tc -O2 -fstack-protector-all -fstack-clash-protection %s -o %t %run && %t | %check %s
// RUN: %tc -O2 -ftime-report -c %s -o %t.o 2>/dev/null
// RUN: %tc -O2 -ftime-trace -c %s -o %t.o
// RUN: %tc --analyze %s -o %t.plist
// RUN: %tc -Xclang -ast-dump -fsyntax-only %s > %t.dump
#include <stdio.h>
#include <tcompile.h>

TC_COMPILE tc_tensor *softened(const tc_tensor *x TC_SHAPE("f32[B,N]")) { return tc_softmax(x, -1); }

int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(30, 40), 1, TC_F32), *y = softened(x);
    printf("%d %d\n", tc_allclose(y, tc_softmax(x, -1), 1e-5, 1e-6), (int)tc_stats_of("softened").hits);
  }
  return 0;
}
// CHECK: 1 1
