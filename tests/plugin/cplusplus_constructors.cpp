// C++: objects made by constructors that set members; what has a destructor, or keeps the address of its object, stays
// as written.
// RUN: %tcxx -O1 -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tcxx -std=c++17 -O1 -Wall -Wextra -Werror -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
// RUN: %plain -x c++ -std=c++17 -Wall -Wextra -Werror %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
#include <cstdio>
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[N,4]")

struct value {
  const tc_tensor *p;
  value(const tc_tensor *t) : p(t) {}
  value operator+(const value &o) const { return value(tc_add(p, o.p)); }
  value operator*(double s) const { return tc_mul_s(p, s); }
};
TC_COMPILE tc_tensor *wrapped(X) {
  value a(x), b = a * 3 + x;
  return tc_neg((b + a).p);
}
// CHECK-DAG: [[#@LINE-4]]:23: remark: 'wrapped' compiled: 4 ops in 1 kernel [

// Delegation, defaults of members and of parameters, a body with a branch.
class options {
  double rate_ = 0.5;
  int n_;

public:
  options() : options(3) {}
  explicit options(int n, double by = 2) : n_(n) {
    rate_ *= by;
    if (n_ > 2) rate_ += 1;
  }
  double rate() const { return rate_ + n_; }
};
struct defaults {
  double s = 2;
  int k = 3;
};
TC_COMPILE tc_tensor *numbers(X) {
  options a, b(1), c{2, 3};
  defaults d, e{4};
  return tc_add_s(tc_mul_s(x, a.rate() + 10 * b.rate() + 100 * c.rate()), d.s * d.k + e.s * e.k);
}
// CHECK-DAG: [[#@LINE-5]]:23: remark: 'numbers' compiled: 2 ops in 1 kernel [

struct pair {
  value a, b;
  int n[2];
  pair(const tc_tensor *x) : a(x), b(tc_neg(x)), n{1, 2} {}
};
TC_COMPILE tc_tensor *nested(X) {
  pair p(x), q = p;
  q.n[0] = 5;
  return tc_mul_s((p.a + q.b * 3).p, q.n[0] + p.n[0] + p.n[1]);
}
// CHECK-DAG: [[#@LINE-5]]:23: remark: 'nested' compiled: 4 ops in 1 kernel [

struct counter {
  static int made;
  int id;
  counter() : id(++made) {}
};
int counter::made;
TC_COMPILE tc_tensor *counted(X) {
  counter a, b;
  return tc_mul_s(x, a.id * 10 + b.id);
}
// CHECK-DAG: [[#@LINE-4]]:23: remark: 'counted' compiled: 1 ops in 1 kernel [

struct self {
  self *me;
  double v;
  self(double d) : me(this), v(d) {}
};
TC_COMPILE tc_tensor *address(X) {
  self s(2);
  s.me->v = 5;
  return tc_mul_s(x, s.v);
}
// CHECK-DAG: [[#@LINE-4]]:8: remark: {{.*}}'address'{{.*}}: a constructor keeps the address of its object

struct guard {
  const tc_tensor *p;
  int *ends;
  ~guard() { ++*ends; }
};
TC_COMPILE tc_tensor *guarded(X, int *ends) {
  guard g{x, ends};
  return tc_neg(g.p);
}
// CHECK-DAG: [[#@LINE-3]]:9: remark: {{.*}}'guarded'{{.*}}: an object with a destructor

struct made_guard : guard {
  made_guard(const tc_tensor *t, int *e) : guard{t, e} {}
};
TC_COMPILE tc_tensor *based(X, int *ends) {
  made_guard g(x, ends);
  return tc_neg(g.p);
}
// CHECK-DAG: [[#@LINE-3]]:14: remark: {{.*}}'based'{{.*}}: an object with a destructor

static void print(const char *name, const tc_tensor *y) { std::printf("%s %g\n", name, tc_at(y, TC_INTS(1, 2))); }
int main() {
  TC_SCOPE {
    tc_tensor *x = tc_ones(TC_DIMS(2, 4), TC_F32);
    int ends = 0;
    print("wrapped", wrapped(x));
    print("numbers", numbers(x));
    print("nested", nested(x));
    print("counted", counted(x));
    print("counted", counted(x));
    print("address", address(x));
    print("guarded", guarded(x, &ends));
    print("based", based(x, &ends));
    std::printf("ends %d\n", ends);
  }
}
// OUTPUT: wrapped -5
// OUTPUT-NEXT: numbers 393
// OUTPUT-NEXT: nested -16
// OUTPUT-NEXT: counted 12
// OUTPUT-NEXT: counted 34
// OUTPUT-NEXT: address 5
// OUTPUT-NEXT: guarded -1
// OUTPUT-NEXT: based -1
// OUTPUT-NEXT: ends 2
