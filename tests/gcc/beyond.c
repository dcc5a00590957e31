// What GCC alone understands does not hinder the rest of the file; in a compiled function it is a reason not to.
// RUN: %tcgcc -O1 %s -o %t %libs 2> %t.err && %t | %check %s && %check --check-prefix=WHY --implicit-check-not=warning: %s < %t.err
#include <stdio.h>
#include <tcompile.h>

static int nested(int x) {
  int inner(int y) { return x + y; }
  return inner(1);
}
static int builtin(void) { return __builtin_types_compatible_p(int, int) + __builtin_has_attribute(nested, noinline); }
register long stack __asm__("rsp");
static int union_cast(int x) {
  union both { int i; float f; };
  return ((union both)x).i;
}

TC_COMPILE static tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_mul_s(x, 2); }
TC_COMPILE static tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N]")) {
  int twice(int y) { return 2 * y; }
  return tc_mul_s(x, twice(2));
}
// WHY: beyond.c:[[#@LINE-3]]:20: warning: 'g' not compiled: the compiler of kernels does not understand it: function definition is not allowed here

int main(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(4), TC_F32);
    double a = tc_item(tc_mean(f(x), TC_ALL, false)), b = tc_item(tc_mean(g(x), TC_ALL, false));
    printf("%g %g, %d and %d hits; %d %d %d\n", a, b, (int)tc_stats_of("f").hits, (int)tc_stats_of("g").hits, nested(2),
           builtin(), union_cast(5));
  }
}
// CHECK: 2 4, 1 and 0 hits; 3 1 5
