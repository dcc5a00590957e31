// What comes out builds with GCC and Clang, makes no warning, and runs kernels.
// RUN: %tcompile %s -o %t.c -- -O2 %headers -fplugin-arg-tc-isa=v2 -fplugin-arg-tc-backend=openmp -Rpass=tc 2>&1 | %check %s
// RUN: %clang %headers -O1 %s -o %t.eager %run && %t.eager > %t.expected
// RUN: %gcc -std=gnu17 -Wall -Wextra -Wshadow -Werror %headers -O1 %t.c -o %t.gcc %run
// RUN: %t.gcc > %t.out 2> %t.stats && diff %t.expected %t.out && %check --check-prefix=STATS %s < %t.stats
// RUN: %clang -Wall -Wextra -Wshadow -Werror %headers -O0 -g %t.c -o %t.clang %run
// RUN: %t.clang > %t.out 2> %t.stats && diff %t.expected %t.out && %check --check-prefix=STATS %s < %t.stats
// UTF-8's mark stands at the head of a file, or nowhere.
// RUN: printf '\357\273\277' | cat - %s > %t.mark.c
// RUN: %tcompile %t.mark.c -o %t.marked.c -- -O2 %headers -fplugin-arg-tc-isa=v2 -fplugin-arg-tc-backend=openmp
// RUN: %gcc -std=gnu17 -Wall -Wextra -Werror %headers -fsyntax-only %t.marked.c
#include <stdio.h>
#include <tcompile.h>

TC_COMPILE static tc_tensor *softmax(const tc_tensor *x TC_SHAPE("f32[N,8]")) {
  return tc_softmax(tc_mul_s(x, 2), -1);
}
// CHECK: text.c:[[#@LINE-3]]:30: remark: 'softmax' compiled: 2 ops in 1 kernel
// CHECK: | TC_COMPILE static tc_tensor *softmax(
// CHECK: ^

TC_COMPILE static tc_tensor *between(const tc_tensor *x TC_SHAPE("f32[N,8]")) {
  const tc_tensor *const y = tc_exp(x);
  printf("between, line %d\n", __LINE__);
  tc_tensor *z = tc_add(y, x);
  return tc_mul(z, z);
}

int main(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_arange(32, 0, 1, TC_F32);
    x = tc_reshape(tc_mul_s(x, 0.03125), TC_DIMS(4, 8));
    tc_print(softmax(x));
    tc_print(between(x));
  }
  tc_stats_print();
}

// STATS-COUNT-3: {{[12] 1 1 0 0 *$}}
