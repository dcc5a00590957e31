// TC_REPLACES and TC_CONST where they cannot stand: a warning at the attribute, and no effect.
// RUN: %tc -c %s -o %t.o -Rpass-missed=tc 2>&1 | %check %s
#include <tcompile.h>

tc_tensor *two(const tc_tensor *x, double s);

// CHECK-DAG: function_attributes.c:[[#@LINE+1]]:1: warning: 'tc_replaces': there is no function 'nobody' in front of it; the attribute is ignored
TC_REPLACES(nobody) static inline tc_tensor *a(const tc_tensor *x) { return tc_neg(x); }
// CHECK-DAG: function_attributes.c:[[#@LINE+1]]:1: warning: 'tc_replaces': 'two' has another type than the function that is to stand in for it; the attribute is ignored
TC_REPLACES(two) static inline tc_tensor *b(const tc_tensor *x) { return tc_neg(x); }
// CHECK-DAG: function_attributes.c:[[#@LINE+1]]:1: warning: 'tc_replaces' marks functions; here it is ignored
TC_REPLACES(two) int c;
// CHECK-DAG: function_attributes.c:[[#@LINE+1]]:1: warning: 'tc_const' marks functions that return a number; here it is ignored
TC_CONST tc_tensor *d(void);
// CHECK-DAG: function_attributes.c:[[#@LINE+1]]:1: warning: 'tc_const' takes a number, such as 12; the attribute is ignored
TC_CONST_IS(many) int e(void);

TC_CONST int of_pointer(const int *p);
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]"), const int *p) {
  // CHECK-DAG: function_attributes.c:[[#@LINE+1]]:33: remark: 'f' not compiled: an argument of 'of_pointer', which is TC_CONST, is not a number that is known before the statements run
  return tc_mul_s(x, of_pointer(p));
}
TC_CONST_IS(2) int sometimes(void);
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N]"), int n) {
  // CHECK-DAG: function_attributes.c:[[#@LINE+1]]:26: remark: 'g' not compiled: whether 'sometimes' is called is not known at build time, and so not its value
  return tc_mul_s(x, n ? sometimes() : 1);
}
