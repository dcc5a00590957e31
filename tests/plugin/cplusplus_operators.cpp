// C++: structs are assigned, operators of classes and functions that return references are called, and one of two lvalues
// is chosen.
// RUN: %tcxx -O1 -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tcxx -std=c++17 -O1 -Wall -Wextra -Werror -pedantic -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 %s -o %t %run -lstdc++ && TC_FALLBACK=disabled %t | %check --check-prefix=OUTPUT %s
// RUN: %plain -x c++ -std=c++17 -Wall -Wextra -Werror %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
// CHECK-NOT: graph break
// CHECK-NOT: not compiled
#include <algorithm>
#include <cstdio>
#include <tcompile.h>
#include <tcompile/nn.h>

#define X const tc_tensor *x TC_SHAPE("f32[N,4]")

struct complex { const tc_tensor *re, *im; };
static complex operator*(const complex &a, const complex &b) {
  return {tc_sub(tc_mul(a.re, b.re), tc_mul(a.im, b.im)), tc_add(tc_mul(a.re, b.im), tc_mul(a.im, b.re))};
}
struct scaled {
  double by;
  scaled operator-() const { return {-by}; }
  tc_tensor *operator()(const tc_tensor *t TC_SHAPE("f32[N,4]"), double more) const { return tc_mul_s(t, by + more); }
};
TC_COMPILE tc_tensor *operators(X) {
  complex a = {x, tc_neg(x)}, b;
  b = a;
  b.im = x;
  complex c, d;
  d = c = a * b;
  scaled s = {3};
  return (-s)(tc_add(c.re, d.im), 1);
}
// CHECK-DAG: [[#@LINE-9]]:23: remark: 'operators' compiled: {{[0-9]+}} ops in 1 kernel [

// Of floating numbers one of them; of integers, which sizes may depend on, there is code for each.
TC_COMPILE tc_tensor *bounds(X, double low, int n) {
  return tc_mul_s(tc_slice(x, 1, 0, std::min(n, 3), 1), std::min(std::max(low, 0.5), tc_item(tc_max(x, TC_ALL, false))));
}
// CHECK-DAG: [[#@LINE-3]]:23: remark: 'bounds' compiled for 3 < n: {{[0-9]}} ops in {{[12]}} kernel
// CHECK-DAG: [[#@LINE-4]]:23: remark: 'bounds' compiled for !(3 < n): {{[0-9]}} ops in {{[12]}} kernel

TC_COMPILE tc_tensor *lvalues(X, int n) {
  int by[] = {1, 2, 3}, other = 5;
  (sizeof n > 1 ? other : by[0]) = 4;
  const int &constant = sizeof n > 1 ? by[2] : other;
  return tc_mul_s(tc_mul_s(x, n > 2 ? by[1] : other), constant);
}
// CHECK-DAG: [[#@LINE-6]]:23: remark: 'lvalues' compiled: 2 ops in 1 kernel [

// What a reference names is not read where nothing asks for it, behind writes through pointers as well.
struct counter {
  double n;
  counter &operator+=(double by) {
    n += by;
    return *this;
  }
};
TC_COMPILE tc_tensor *counted(X, counter *c) {
  *c += 2;
  return tc_mul_s(x, c->n);
}
// CHECK-DAG: [[#@LINE-4]]:23: remark: 'counted' compiled: 1 ops in 1 kernel [

TC_COMPILE tc_tensor *padded(X) { return tc_pad_reflect(x, TC_INTS(0, 1), TC_INTS(0, 2)); }
// CHECK-DAG: [[#@LINE-1]]:23: remark: 'padded' compiled
TC_COMPILE tc_tensor *pooled(const tc_tensor *x TC_SHAPE("f32[1,1,N,4]")) {
  return tc_max_pool(x, TC_INTS(2), TC_EMPTY_LIST, TC_INTS(0), TC_INTS(1), false);
}
// CHECK-DAG: [[#@LINE-3]]:23: remark: 'pooled' compiled

static void show(const char *name, const tc_tensor *x) { std::printf("%s %.4f\n", name, tc_item(tc_mean(x, TC_ALL, false))); }

int main() {
  TC_SCOPE {
    tc_tensor *x = tc_reshape(tc_arange(8, 0, 0.25, TC_F32), TC_DIMS(2, 4));
    show("operators", operators(x));
    show("bounds", bounds(x, 0.25, 2));
    show("bounds", bounds(x, 2, 5));
    show("lvalues", lvalues(x, 3));
    show("lvalues", lvalues(x, 1));
    counter c = {0.5};
    show("counted", counted(x, &c));
    show("padded", padded(x));
    show("pooled", pooled(tc_reshape(x, TC_DIMS(1, 1, 2, 4))));
    std::printf("%s\n", tc_error() ? tc_error() : "no error");
  }
}
// OUTPUT: operators -4.3750
// OUTPUT-NEXT: bounds 0.3125
// OUTPUT-NEXT: bounds 1.3125
// OUTPUT-NEXT: lvalues 5.2500
// OUTPUT-NEXT: lvalues 10.5000
// OUTPUT-NEXT: counted 2.1875
// OUTPUT-NEXT: padded 0.8571
// OUTPUT-NEXT: pooled 1.5000
// OUTPUT-NEXT: no error
