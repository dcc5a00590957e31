// Kernels are made of what GCC compiles, where a file asks which compiler it is.
// RUN: %tcgcc -Wall -Wextra -Werror -O1 %s -o %t %libs && %t | %check %s
// RUN: %gcc -Wall -Wextra -Werror -O1 %s -o %t %libs && %t | %check --check-prefix=EAGER %s
// CHECK: 2 2, 2 hits
// EAGER: 2 2, 0 hits
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tcompile.h>

#ifdef __clang__
#define FACTOR 3
#else
#define FACTOR 2
#endif
#if __GNUC__ >= 11 && !defined(__clang_major__) && !defined(__llvm__)
#define OTHER 2
#else
#define OTHER 3
#endif

TC_COMPILE static tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_mul_s(x, FACTOR); }
TC_COMPILE static tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_mul_s(x, OTHER); }

int main(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(4), TC_F32);
    double a = tc_item(tc_mean(f(x), TC_ALL, false)), b = tc_item(tc_mean(g(x), TC_ALL, false));
    printf("%g %g, %d hits\n", a, b, (int)(tc_stats_of("f").hits + tc_stats_of("g").hits));
  }
}
