// What C++ has and C does not: the function stays as it is, and says so.
// RUN: %tcxx -c %s -o %t.o -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tcxx -std=c++20 -Wall -Wextra -Werror -c %s -o %t.o 2>&1 | %check --allow-empty --check-prefix=QUIET %s
// QUIET-NOT: {{.}}
#include <cstdio>
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[N]")

template <class T> TC_COMPILE tc_tensor *pattern(X, T by) { return tc_mul_s(x, by); }
// CHECK-DAG: cplusplus_rejected.cpp:[[#@LINE-1]]:42: remark: 'pattern' not compiled: it is a template; compile a function for each type [-Rpass-missed=tc]
struct model {
  double scale;
  TC_COMPILE model(X) : scale(tc_item(x)) {}
  // CHECK-DAG: cplusplus_rejected.cpp:[[#@LINE-1]]:14: remark: 'model' not compiled: it makes or ends an object; compile a function that it calls
  virtual tc_tensor *run(X) const { return tc_mul_s(x, scale); }
};
TC_COMPILE constexpr int constant(int n) { return n + 1; }
// CHECK-DAG: cplusplus_rejected.cpp:[[#@LINE-1]]:26: remark: 'constant' not compiled: it is constexpr
struct wrapped { tc_tensor *t; };
TC_COMPILE wrapped operator+(wrapped a, wrapped b) { return {tc_add(a.t, b.t)}; }
// CHECK-DAG: cplusplus_rejected.cpp:[[#@LINE-1]]:20: remark: 'operator+' not compiled: it is an operator; give it a name
TC_COMPILE const wrapped &reference(const wrapped &a) { return a; }
// CHECK-DAG: cplusplus_rejected.cpp:[[#@LINE-1]]:27: remark: 'reference' not compiled: it returns a reference
TC_COMPILE tc_tensor *tries(X) try { return tc_exp(x); } catch (...) { return nullptr; }
// CHECK-DAG: cplusplus_rejected.cpp:[[#@LINE-1]]:23: remark: 'tries' not compiled: it has no body of the usual form
TC_COMPILE tc_tensor *method(X, const model &m) { return tc_exp(m.run(x)); }
// CHECK-DAG: cplusplus_rejected.cpp:[[#@LINE-1]]:67: remark: 'method' not compiled: 'run' is a member of a class, and virtual
TC_COMPILE tc_tensor *local_reference(X) { const tc_tensor *const &y = tc_exp(x); std::puts("break"); return tc_exp(y); }
// CHECK-DAG: cplusplus_rejected.cpp:[[#@LINE-1]]:83: remark: 'local_reference' not compiled: 'puts' is called
struct guarded { int n; guarded(int n) : n(n) {} ~guarded() { std::puts("end"); } };
TC_COMPILE tc_tensor *cleans(X) { guarded g(3); return tc_mul_s(x, g.n); }
// CHECK-DAG: cplusplus_rejected.cpp:[[#@LINE-1]]:43: remark: {{.*}}'cleans'{{.*}}: an object with a destructor
TC_COMPILE tc_tensor *declares(X) { if (int n = 2) return tc_mul_s(x, n); return tc_exp(x); }
// CHECK-DAG: cplusplus_rejected.cpp:[[#@LINE-1]]:37: remark: graph break in 'declares': a declaration in a condition is not captured
TC_COMPILE tc_tensor *catches(X) { try { std::puts("in"); } catch (...) { return nullptr; } return tc_exp(x); }
// CHECK-DAG: cplusplus_rejected.cpp:[[#@LINE-1]]:36: remark: graph break in 'catches': a try block is not captured
tc_tensor *uses(X) { return tc_add(pattern(x, 2.0), pattern(x, 2)); }
