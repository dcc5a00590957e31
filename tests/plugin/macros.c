// Bodies, braces and statements that macros make: the calls of kernels go between the tokens that the
// macros expand to.  The program prints the same with and without the plugin, and nothing falls back.
// RUN: %tc -O1 %s -o %t %run -fplugin-arg-tc-backend=openmp -Wall -Wextra -Werror -Rpass=tc 2> %t.remarks && %t > %t.out 2> %t.stats
// RUN: %plain -O1 %s -o %t.eager %run && %t.eager > %t.expected
// RUN: diff %t.expected %t.out && %check --check-prefix=REMARKS %s < %t.remarks
// RUN: %check --check-prefix=STATS %s < %t.stats
// RUN: TC_FALLBACK=mandatory %t > %t.bodies 2> %t.stats && diff %t.expected %t.bodies
// RUN: %tc -g -O0 -c -save-temps=obj %s -o %t.o -fplugin-arg-tc-backend=openmp
// STATS-COUNT-16: {{ [1-9][0-9]* +[1-9][0-9]* +[1-9][0-9]* +0 +0 *$}}
#include <stdio.h>
#include <string.h>
#include <tcompile.h>
#include <tcompile/locations.h>

#define X tc_tensor *x TC_SHAPE("f32[N]")
#define BEGIN {
#define END }
#define BODY { return tc_exp(x); }
TC_COMPILE tc_tensor *braces(X) BEGIN return tc_exp(x); END
// REMARKS: macros.c:[[#@LINE-1]]:23: remark: 'braces' compiled: 1 ops in 1 kernel [
TC_COMPILE tc_tensor *body(X) BODY
// REMARKS: macros.c:[[#@LINE-1]]:23: remark: 'body' compiled: 1 ops in 1 kernel [

#define UNARY(name, op)                                                                            \
  TC_COMPILE tc_tensor *name(X) {                                                                  \
    puts(#name);                                                                                   \
    return tc_neg(op(x));                                                                          \
  }
UNARY(prints_exp, tc_exp) UNARY(prints_abs, tc_abs)
// REMARKS: macros.c:[[#@LINE-1]]:7: remark: 'prints_exp' compiled: 2 ops in 1 kernel, 1 segment [
// REMARKS: macros.c:[[#@LINE-2]]:33: remark: 'prints_abs' compiled: 2 ops in 1 kernel, 1 segment [

#define STATEMENTS puts("b"); x = tc_exp(x); x = tc_neg(x); puts("c"); x = tc_exp(x)
TC_COMPILE tc_tensor *statements(X) { STATEMENTS; return tc_neg(x); }
// REMARKS: macros.c:[[#@LINE-1]]:23: remark: 'statements' compiled: 4 ops in 2 kernels, 2 segments [

// An argument that holds statements; kept names such as tc_exp (a macro of locations.h) stay calls.
#define SAME(...) __VA_ARGS__
TC_COMPILE tc_tensor *argument(X) { SAME(puts("a"); x = tc_exp(x);
  puts("b");) x = tc_neg(tc_exp(x));
  return __LINE__ == 41 ? x : NULL; }
// REMARKS: macros.c:[[#@LINE-3]]:23: remark: 'argument' compiled: 3 ops in 2 kernels, 2 segments [

#define FOR(i, n) for (int i = 0; i < n; i++)
TC_COMPILE tc_tensor *loop(X, int n) { FOR(i, n) x = tc_mul_s(x, 0.5); return tc_neg(x); }
// REMARKS: macros.c:[[#@LINE-1]]:23: remark: 'loop' compiled: 2 ops in 2 kernels, 2 segments [
#define TIMES(n, s) FOR(i, n) s; puts("end")
TC_COMPILE tc_tensor *loop_inside(X, int n) { TIMES(n, x = tc_mul_s(x, 0.5)); return tc_neg(x); }
// REMARKS: macros.c:[[#@LINE-1]]:23: remark: 'loop_inside' compiled: 2 ops in 2 kernels, 2 segments [

#define ELSE } else {
TC_COMPILE tc_tensor *otherwise(X, int n) {
  if (n) { x = tc_exp(x); ELSE x = tc_neg(x); puts("else"); }
  return tc_exp(x);
}
// REMARKS: macros.c:[[#@LINE-4]]:23: remark: 'otherwise' compiled: 3 ops in 3 kernels, 3 segments [

#define CASE(k) case k:
TC_COMPILE tc_tensor *cases(X, int n) {
  switch (n) { CASE(3) x = tc_exp(x); break; CASE(4) x = tc_neg(x); puts("c"); }
  return tc_abs(x);
}
// REMARKS: macros.c:[[#@LINE-4]]:23: remark: 'cases' compiled: 3 ops in 3 kernels, 3 segments [

#define ONCE(s) do { s; } while (0)
TC_COMPILE tc_tensor *once(X) { ONCE(x = tc_exp(x); puts("in between"); x = tc_neg(x)); return tc_neg(x); }
// REMARKS: macros.c:[[#@LINE-1]]:23: remark: 'once' compiled: 3 ops in {{[23]}} kernels, {{[23]}} segments [

#define LOUD(s) _Pragma("clang diagnostic push") puts("loud"); s; puts("end") _Pragma("clang diagnostic pop")
TC_COMPILE tc_tensor *pragma(X) { LOUD(x = tc_exp(x)); return x; }

static void show(const char *name, const tc_tensor *x) {
  printf("%s %.4f\n", name, tc_item(tc_mean(x, TC_ALL, false)));
}

int main(void) {
  tc_tensor *x = tc_mul_s(tc_randn(TC_DIMS(12), 1, TC_F32), 0.1);
  show("braces", braces(x));
  show("body", body(x));
  show("prints_exp", prints_exp(x));
  show("prints_abs", prints_abs(x));
  show("statements", statements(x));
  show("argument", argument(x));
  show("loop", loop(x, 3));
  show("loop_inside", loop_inside(x, 3));
  show("otherwise", otherwise(x, 1));
  show("otherwise", otherwise(x, 0));
  show("cases", cases(x, 3));
  show("cases", cases(x, 4));
  show("cases", cases(x, 5));
  show("once", once(x));
  show("pragma", pragma(x));
  tc_stats_print();
  return 0;
}
