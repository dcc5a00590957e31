// Where this compiler reads other code than the kernels' (conditions on the compiler, its macros), a function that
// depends on it stays eager, with a message that names both; others are compiled.
// RUN: %tcgcc -O1 %s -o %t %libs 2> %t.err && %t | %check %s && %check --check-prefix=WHY --implicit-check-not=warning: %s < %t.err
// RUN: %gcc -O1 %s -o %t %libs && %t | %check --check-prefix=EAGER %s
// RUN: %not %tcgcc -DSTRICT -c %s -o %t.o 2>&1 | %check --check-prefix=STRICT %s
#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <tcompile.h>

#if __has_builtin(__builtin_elementwise_max) // Clang has it
#define MACRO 3
enum { NUMBER = 7 };
static const int variable = 5;
static double factor(void) { return 11; }
#else
#define MACRO 2
enum { NUMBER = 6 };
static const int variable = 4;
static double factor(void) { return 10; }
#endif
#if __GNUC__ > 5 && __has_include(<math.h>)
#define EQUAL 4
#else
#define EQUAL 5
#endif
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define LINES(x) do { assert(x); int PASTE(v, __LINE__) = __LINE__; (void)PASTE(v, __LINE__); } while (0)

#define F TC_COMPILE static tc_tensor *
#define X const tc_tensor *x TC_SHAPE("f32[N]")
F by_macro(X) { return tc_mul_s(x, MACRO); }
// WHY-DAG: disagreement.c:[[#@LINE-1]]:{{[0-9]+}}: warning: 'by_macro' not compiled: it depends on '3', where the compiler reads '2'
F by_enumerator(X) { return tc_mul_s(x, NUMBER); }
// WHY-DAG: disagreement.c:15:17: warning: 'by_enumerator' not compiled: it depends on '7', where the compiler reads '6' (line 20)
F by_variable(X) { return tc_mul_s(x, variable); }
// WHY-DAG: 'by_variable' not compiled
F by_callee(X) { return tc_mul_s(x, factor()); }
// WHY-DAG: 'by_callee' not compiled
F by_itself(X) {
#if __has_builtin(__builtin_elementwise_max)
  return tc_exp(x);
#else
  return tc_log(x);
#endif
}
// WHY-DAG: disagreement.c:[[#@LINE-5]]:10: warning: 'by_itself' not compiled: it depends on 'tc_exp', where the compiler reads 'tc_log' (line [[#@LINE-3]])

F equal(X) { return tc_mul_s(x, EQUAL); }
F limits(X) {
  return tc_add(tc_mul_s(x, FLT_MAX), tc_add_s(tc_mul_s(x, DBL_EPSILON), INT_MAX + UINT_MAX + INFINITY));
}
F lines(X) {
  LINES(
    x
  );
  return tc_mul_s(x, 2);
}
#ifdef STRICT
TC_COMPILE_WITH("fullgraph") tc_tensor *strict(X) { return tc_mul_s(x, MACRO); }
// STRICT: error: 'strict' not compiled: it depends on '3'
#endif

// CHECK: 2 6 4 10 0, 0 hits; 4 inf 2, 3 hits
// EAGER: 2 6 4 10 0, 0 hits; 4 inf 2, 0 hits
static double of(tc_tensor *y) { return tc_item(tc_mean(y, TC_ALL, false)); }
static int hits(const char *name) { return (int)tc_stats_of(name).hits; }
int main(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(4), TC_F32);
    printf("%g %g %g %g %g, ", of(by_macro(x)), of(by_enumerator(x)), of(by_variable(x)), of(by_callee(x)),
           of(by_itself(x)));
    printf("%d hits; ", hits("by_macro") + hits("by_enumerator") + hits("by_variable") + hits("by_callee") +
                            hits("by_itself"));
    printf("%g %g %g, ", of(equal(x)), of(limits(x)), of(lines(x)));
    printf("%d hits\n", hits("equal") + hits("limits") + hits("lines"));
  }
}
