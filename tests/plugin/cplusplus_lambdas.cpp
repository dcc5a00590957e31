// C++: lambdas are called where they are made, in functions that they are given to, and as pointers to functions; parts of
// structs have names of their own.
// RUN: %tcxx -std=c++17 -O1 -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tcxx -std=c++17 -O1 -Wall -Wextra -Werror -pedantic -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
// RUN: %plain -x c++ -std=c++17 -Wall -Wextra -Werror %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
#include <cstdio>
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[N,M]")

TC_COMPILE tc_tensor *called(X, double by) {
  return [by](const tc_tensor *t) { return tc_mul_s(tc_exp(t), by); }(x);
}
// CHECK-DAG: remark: 'called' compiled: 2 ops in 1 kernel [

// References, copies, constants that need no capture, variables of its own, and writes to what it refers to.
TC_COMPILE tc_tensor *captures(X, double by) {
  constexpr int two = 2;
  tc_tensor *h = tc_neg(x);
  int count = 0;
  auto more = [&, by](const tc_tensor *t, double other = 1) {
    const double factor = by * other * two;
    count++;
    h = tc_add(h, tc_mul_s(t, factor));
    return factor;
  };
  const double last = more(x) + more(tc_exp(x), 1.5);
  return tc_mul_s(tc_add_s(h, count), last);
}
// CHECK-DAG: remark: 'captures' compiled: 8 ops in 1 kernel [

// Of any type, and in another one; a struct's function, whose object it refers to.
template <class F> static tc_tensor *twice(F &&f, const tc_tensor *t) { return f(f(t)); }
struct model {
  double scale;
  tc_tensor *run(X) const;
};
TC_COMPILE tc_tensor *model::run(X) const {
  auto scaled = [this](auto t) { return tc_mul_s(t, scale); };
  auto both = [&](const tc_tensor *t) { return tc_tanh(scaled(t)); };
  return twice(both, x);
}
// CHECK-DAG: remark: 'run' compiled: 4 ops in 1 kernel [

static tc_tensor *apply(tc_tensor *(*f)(const tc_tensor *), const tc_tensor *t) { return f(t); }
TC_COMPILE tc_tensor *pointers(X) {
  tc_tensor *(*f)(const tc_tensor *) = [](const tc_tensor *t) { return tc_exp(t); };
  return apply(f, apply([](const tc_tensor *t) { return tc_neg(t); }, x));
}
// CHECK-DAG: remark: 'pointers' compiled: 2 ops in 1 kernel [

TC_COMPILE tc_tensor *gradient(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *g;
  tc_value_and_grad([](tc_tensor *const *in, void *) { return tc_sum(tc_square(in[0]), TC_ALL, false); }, nullptr, 1, &x, &g);
  return g;
}
// CHECK-DAG: remark: 'gradient' compiled:

struct pair { tc_tensor *a, *b; };
static pair parts(X) { return {tc_exp(x), tc_neg(x)}; }
TC_COMPILE tc_tensor *named_parts(X) {
  auto [a, b] = parts(x);
  const auto &[c, d] = parts(b);
  return tc_add(tc_mul(a, b), tc_sub(c, d));
}
// CHECK-DAG: remark: 'named_parts' compiled: 7 ops in 1 kernel [

// What would have to be handed on has no name.
TC_COMPILE tc_tensor *across(X, double by) {
  auto f = [&](const tc_tensor *t) { return tc_mul_s(t, by); };
  auto [a, b] = parts(x);
  tc_tensor *h = f(a);
  std::printf("between\n");
  tc_tensor *g = f(tc_add(h, b));
  return tc_exp(tc_neg(g));
}
// CHECK-DAG: remark: 'across' not compiled: a lambda, or a name of a struct's part, is used by other statements as well

// Its copies live from call to call.
TC_COMPILE tc_tensor *changes(X) {
  auto next = [n = 1]() mutable { return n++; };
  return tc_mul_s(x, next() + 10 * next());
}
// CHECK-DAG: remark: 'changes' not compiled: a lambda changes its copies of variables; capture them by reference

static void show(const tc_tensor *t) { std::printf("%.3f\n", tc_item(tc_sum(t, TC_ALL, false))); }
int main() {
  tc_tensor *x = tc_full(TC_DIMS(2, 3), 0.5, TC_F32);
  show(called(x, 2));
  show(captures(x, 1.5));
  show(model{2}.run(x));
  show(pointers(x));
  show(gradient(x));
  show(named_parts(x));
  show(across(x, 2));
  show(changes(x));
}
// OUTPUT: 19.785
// OUTPUT-NEXT: 468.866
// OUTPUT-NEXT: 5.456
// OUTPUT-NEXT: 3.639
// OUTPUT-NEXT: 6.000
// OUTPUT-NEXT: -4.307
// OUTPUT-NEXT: between
// OUTPUT-NEXT: 0.022
// OUTPUT-NEXT: 63.000
