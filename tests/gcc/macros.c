// Forms of macros that both compilers read the same: each function is compiled, and nothing is objected to.
// RUN: %tcgcc -std=gnu2x -O1 -Wall -Wextra -Werror -I %inputs %s -o %t %libs -lm 2> %t.err && %t | %check %s && %check --allow-empty --check-prefix=SILENT %s < %t.err
// RUN: %tcgcc -std=gnu17 -DNDEBUG -O0 -I %inputs %s -o %t %libs -lm 2> %t.err && %t | %check %s && %check --allow-empty --check-prefix=SILENT %s < %t.err
// SILENT-NOT: warning:
// CHECK: 43 functions, 43 with kernels
#include <assert.h>
#include <complex.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <iso646.h>
#include <limits.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tcompile.h>
#include <tgmath.h>

#include "macros.h"

#define X const tc_tensor *x TC_SHAPE("f32[N]")
#define F(name) TC_COMPILE static tc_tensor *name(X)

// ---- strings and pasted names -------------------------------------------------------------------
#define QUOTE(x) #x
#define QUOTED(x) QUOTE(x)
#define PASTE(a, b) a##b
#define PASTED(a, b) PASTE(a, b)
#define WIDTH N
#define OF(type, ...) TC_SHAPE(#type "[" #__VA_ARGS__ "]")
#define OF_TWO(a, b) TC_SHAPE(QUOTED(a) "[" QUOTED(b) "]")
RESULT(by_header)(OPERAND(f32, x, N)) { return tc_exp(x); }
RESULT(by_header_twice)(OPERAND(f32, x, N), OPERAND(f32, y, N)) { return tc_add(x, y); }
TC_COMPILE static tc_tensor *by_quoting(const tc_tensor *x OF(f32, N)) { return tc_exp(x); }
TC_COMPILE static tc_tensor *by_quoting_later(const tc_tensor *x OF_TWO(f32, WIDTH)) { return tc_exp(x); }
#define UNARY(name, type, size) \
  TC_COMPILE static tc_tensor *PASTED(unary_, name)(const tc_tensor *x TC_SHAPE(#type "[" #size "]")) { \
    tc_tensor *made_##name = PASTED(tc_, name)(x); \
    return PASTED(made, _##name); \
  }
UNARY(exp, f32, N) UNARY(neg, f32, N)
UNARY(tanh,
      f32,
      N)
F(empty_pasted) { return PASTED(tc_, PASTED(, exp))(x); }
F(string_of_operators) { return tc_mul_s(x, sizeof(QUOTE(a + b "c\n" 'd')) > 3 ? 2 : 3); }
F(string_of_spaces) { return tc_mul_s(x, sizeof(QUOTE(  a   /* no */ +  b  ))); }

// ---- arguments ----------------------------------------------------------------------------------
#define TWICE(x) (x) * (x)
#define EMPTY
#define OPTIONAL(f, ...) f(__VA_ARGS__)
#define FIRST(a, ...) a
#define COUNT(...) COUNTED(__VA_ARGS__, 4, 3, 2, 1)
#define COUNTED(a, b, c, d, n, ...) n
#define DEFER(f) f EMPTY
#define SHAPE(...) TC_DIMS(__VA_ARGS__)
#define GNU_VARIADIC(f, rest...) f(x, ##rest)
#define SCALE(t, f) ({ tc_tensor *scaled = tc_mul_s(t, f); scaled; })
F(twice) { return tc_mul_s(x, TWICE(HALVES(3)) + TWICE(HALVES(HALVES(2)))); }
F(empty) { return tc_mul_s EMPTY (x, EMPTY 2 EMPTY); }
F(optional) { return OPTIONAL(tc_exp, x); }
F(first) { return FIRST(tc_exp(x), 1, 2); }
F(counted) { return tc_mul_s(x, COUNT(a, b, c)); }
F(deferred) { return DEFER(tc_exp)(x); }
F(dims) { return tc_neg(tc_reshape(tc_reshape(x, SHAPE(2, -1)), SHAPE(-1))); }
F(gnu_variadic) { return GNU_VARIADIC(tc_exp); }
F(gnu_variadic_more) { return GNU_VARIADIC(tc_mul_s, 2); }
F(statement) { return SCALE(SCALE(x, 2), 3); }
#if __STDC_VERSION__ > 201710L
#define CALL(f, ...) f(x __VA_OPT__(, ) __VA_ARGS__)
#else
#define CALL(f, ...) f(x, ##__VA_ARGS__)
#endif
F(va_opt) { return CALL(tc_exp); }
F(va_opt_more) { return CALL(tc_mul_s, 2); }

// ---- lists --------------------------------------------------------------------------------------
#define AS_SUM(n) +n
#define AS_STATEMENT(n) x = tc_mul_s(x, n);
#define AS_NAME(n) member_##n,
enum { LIST(AS_NAME) members };
F(list_of_numbers) { return tc_mul_s(x, LIST(AS_SUM)); }
F(list_of_statements) {
  LIST(AS_STATEMENT)
  return tc_exp(x);
}
F(list_of_names) { return tc_mul_s(x, members + member_2); }

// ---- places -------------------------------------------------------------------------------------
#define UNIQUE(x) PASTED(x, __LINE__)
#define COUNTER(x) PASTED(x, __COUNTER__)
#define CHECKED(condition) \
  do { \
    const int UNIQUE(ok) = (condition), \
              UNIQUE(line) = __LINE__; \
    if (!UNIQUE(ok)) fprintf(stderr, "%s:%d (line %d of %s)\n", __FILE__, __LINE__, UNIQUE(line), __func__); \
  } while (0)
F(lines) {
  CHECKED(
      x != NULL
  );
  return tc_exp(x);
}
F(counters) {
  int COUNTER(a) = 1, COUNTER(a) = 2;
  return tc_mul_s(x, PASTED(a, 0) + PASTED(a, 1));
}
#define PASSED(x) ((x) + 0)
F(counter_plain) {
  puts("");
  return tc_mul_s(x, __COUNTER__ + PASSED(__COUNTER__));
}
F(many) {
  tc_tensor *y = NULL;
  for (bool once = true; once; once = false) { y = tc_exp(x); y = tc_add(tc_exp(y), tc_neg(x)); y = tc_mul_s(y, (int)true); }
  return y;
}
F(continued) { return tc_\
exp(x); }

// ---- the system's -------------------------------------------------------------------------------
#define LIMITS(of) of##_MAX - 1
F(asserted) {
  assert(x);
  assert(2 > 1 && "so it is");
  static_assert(sizeof(int) == 4, "int");
  return tc_exp(x);
}
F(integers) { return tc_mul_s(x, INT_MAX - 1 + (double)UINT32_MAX + INT64_MIN + (CHAR_BIT << 2) + (SIZE_MAX > UINT64_C(7))); }
F(integers_by_name) { return tc_mul_s(x, LIMITS(SHRT) + LIMITS(UCHAR) + LIMITS(INT8)); }
F(reals) { return tc_add_s(tc_mul_s(x, FLT_MAX), DBL_MIN + FLT_EPSILON + M_PI + HUGE_VAL * 0 + DBL_DIG + LDBL_MANT_DIG); }
F(truth) {
  const bool yes = true, no = not yes;
  return tc_mul_s(x, yes and not no ? 2 : false);
}
F(no_number) { return isnan(NAN) && isinf(INFINITY) && isfinite(1.0) ? tc_exp(x) : tc_neg(x); }
F(generic) { return tc_mul_s(x, _Generic(1.0f, float: 2, default: 3) + _Generic(x, tc_tensor *: 1, const tc_tensor *: 4)); }
F(type_generic) { return tc_mul_s(x, sqrt(4.0f) + fabs(-2)); }
F(complex_number) {
  x = tc_exp(x);
  double complex z = 2.0 + 3.0 * I;
  if (creal(z) > 3 || signbit(cimag(z))) puts("no");
  return tc_neg(x);
}
F(offsets) { return tc_mul_s(x, offsetof(struct { char c; int n; }, n) + alignof(double)); }
F(printed) {
  if (errno == EDOM) printf("%" PRId64 "\n", INT64_C(2));
  return tc_exp(x);
}
F(output) {
  fputs("", stderr);
  errno = 0;
  return tc_exp(x);
}
F(scope) {
  tc_tensor *y = NULL;
  TC_SCOPE { y = tc_keep(tc_exp(x)); }
  return y;
}

typedef tc_tensor *function(const tc_tensor *);
static tc_tensor *by_header_pair(const tc_tensor *x) { return by_header_twice(x, x); }
#define NAMES(X) X(by_header) X(by_quoting) X(by_quoting_later) X(unary_exp) X(unary_neg) X(unary_tanh) X(empty_pasted) \
  X(string_of_operators) X(string_of_spaces) X(twice) X(empty) X(optional) X(first) X(counted) X(deferred) X(dims) \
  X(gnu_variadic) X(gnu_variadic_more) X(statement) X(va_opt) X(va_opt_more) X(list_of_numbers) X(list_of_statements) \
  X(list_of_names) X(lines) X(counters) X(continued) X(counter_plain) X(many) X(asserted) X(integers) X(integers_by_name) X(reals) X(truth) \
  X(no_number) X(generic) X(type_generic) X(complex_number) X(offsets) X(printed) X(output) X(scope)
#define ENTRY(name) {#name, name},
int main(void) {
  const struct { const char *name; function *f; } all[] = {NAMES(ENTRY){"by_header_twice", by_header_pair}};
  const int count = sizeof all / sizeof *all;
  int compiled = 0;
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(4), TC_F32);
    for (int i = 0; i < count; i++) {
      all[i].f(x);
      if (tc_stats_of(all[i].name).hits) compiled++;
      else printf("%s: no kernels\n", all[i].name);
    }
  }
  printf("%d functions, %d with kernels\n", count, compiled);
}
