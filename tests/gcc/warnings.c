// With kernels, the user's own warnings: none more, none less, in the same words and places.
// RUN: %gcc -Wall -Wextra -Wpedantic -Wshadow -Wconversion -O2 -c %s -o %t.o 2> %t.without
// RUN: %tcgcc -Wall -Wextra -Wpedantic -Wshadow -Wconversion -O2 -c %s -o %t.o 2> %t.with
// RUN: diff %t.without %t.with && %check %s < %t.with
#include <stdio.h>
#include <tcompile.h>

static int unused(void) { return 1; }
// CHECK-DAG: warnings.c:[[#@LINE-1]]:12: warning: 'unused' defined but not used

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,8]"), int number, unsigned other) {
  int local = 2;
  tc_tensor *y = tc_exp(x);
  if (number < other) puts("less");
// CHECK-DAG: warnings.c:[[#@LINE-1]]:14: warning: comparison of integer expressions of different signedness
  {
    int number = local + 3.5;
// CHECK-DAG: warnings.c:[[#@LINE-1]]:9: warning: declaration of 'number' shadows a parameter
    printf("%ld\n", number);
// CHECK-DAG: warnings.c:[[#@LINE-1]]:{{[0-9]+}}: warning: format '%ld' expects
  }
  switch (number) {
  case 2: y = tc_exp(y);
    // fall through
  case 3: y = tc_add(y, x);
  }
  int late = local;
  return tc_mul_s(y, late);
}
