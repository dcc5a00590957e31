// Constructors that are not followed: the function stays as it is, and says so at the place.
// RUN: %tcxx -c %s -o %t.o -Rpass-missed=tc 2>&1 | %check %s
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[N]")

union either { int n; float f; either(int n) : n(n) {} };
TC_COMPILE tc_tensor *of_union(X) { either e(3); return tc_mul_s(x, e.n); }
// CHECK-DAG: cplusplus_constructor_messages.cpp:[[#@LINE-1]]:44: remark: graph break in 'of_union': an object of a union with constructors is made
struct base { int n; };
struct derived : base { derived(int k) { n = k; } };
TC_COMPILE tc_tensor *of_derived(X) { derived d(3); return tc_mul_s(x, d.n); }
// CHECK-DAG: cplusplus_constructor_messages.cpp:[[#@LINE-1]]:47: remark: 'of_derived' not compiled: an object of a class with bases, virtual functions or a destructor is made by a constructor
struct hidden { int n; hidden(int n); };
TC_COMPILE tc_tensor *of_hidden(X) { hidden h(3); return tc_mul_s(x, h.n); }
// CHECK-DAG: cplusplus_constructor_messages.cpp:[[#@LINE-1]]:45: remark: graph break in 'of_hidden': an object is made by a constructor whose body is not visible in this file
struct three { int n; three() : n(3) {} };
TC_COMPILE tc_tensor *of_array(X) { three t[2]; return tc_mul_s(x, t[1].n); }
// CHECK-DAG: cplusplus_constructor_messages.cpp:[[#@LINE-1]]:43: remark: graph break in 'of_array': an array of objects is made by a constructor
struct counted { int n; counted(int n, ...) : n(n) {} };
TC_COMPILE tc_tensor *of_variadic(X) { counted c(3, 4); return tc_mul_s(x, c.n); }
// CHECK-DAG: cplusplus_constructor_messages.cpp:[[#@LINE-1]]:48: remark: graph break in 'of_variadic': a constructor with a variable number of arguments is called
struct refers { int &n; refers(int &k) : n(k) {} };
// CHECK-DAG: cplusplus_constructor_messages.cpp:[[#@LINE-1]]:42: remark: 'of_reference' not compiled: a constructor sets a reference, or a member of a union without a name
TC_COMPILE tc_tensor *of_reference(X) { int k = 3; refers r(k); return tc_mul_s(x, r.n); }
struct follows { int n; int next = n + 1; };
TC_COMPILE tc_tensor *of_default(X) { follows f{3}; return tc_mul_s(x, f.next); }
// CHECK-DAG: cplusplus_constructor_messages.cpp:[[#@LINE-1]]:50: remark: graph break in 'of_default': a member is set from others of its object
