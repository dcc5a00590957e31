// C++: what is not followed of lambdas, of names of a struct's parts and of containers, at its place.
// RUN: %tcxx -std=c++17 -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v2 -Rpass-missed=tc 2>&1 | %check %s
#include <cstdio>
#include <vector>
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[N,M]")

TC_COMPILE tc_tensor *lambda_constant(X) { constexpr double w[] = {2}; return [](const tc_tensor *t) { return tc_mul_s(t, w[0]); }(x); }
// CHECK-DAG: cplusplus_lambda_messages.cpp:[[#@LINE-1]]:123: remark: 'lambda_constant' not compiled: a lambda names 'w' without capturing it
struct scaled { double by; tc_tensor *run(X) const { return [*this](const tc_tensor *t) { return tc_mul_s(t, by); }(x); } };
// CHECK-DAG: cplusplus_lambda_messages.cpp:[[#@LINE-1]]:61: remark: 'lambda_object' not compiled: a lambda captures a copy of its object, or an array without a constant length
TC_COMPILE tc_tensor *lambda_object(X) { scaled s = {2}; return s.run(x); }
TC_COMPILE tc_tensor *lambda_changes(X) { auto next = [n = 1]() mutable { return n++; }; return tc_mul_s(x, next() + 10 * next()); }
// CHECK-DAG: cplusplus_lambda_messages.cpp:[[#@LINE-1]]:109: remark: 'lambda_changes' not compiled: a lambda changes its copies of variables; capture them by reference
TC_COMPILE tc_tensor *lambda_across(X) { auto f = [&](int n) { return tc_mul_s(x, n); }; tc_tensor *h = f(2); std::puts("break"); return f(tc_rank(h)); }
// CHECK-DAG: cplusplus_lambda_messages.cpp:[[#@LINE-1]]:47: remark: 'lambda_across' not compiled: a lambda, or a name of a struct's part, is used by other statements as well
TC_COMPILE tc_tensor *lambda_pointer(X) { tc_tensor *(*f)(const tc_tensor *) = [](auto t) { return tc_exp(t); }; return f(x); }
// CHECK-DAG: cplusplus_lambda_messages.cpp:[[#@LINE-1]]:80: remark: 'lambda_pointer' not compiled: a lambda of any types becomes a pointer
TC_COMPILE tc_tensor *before(X, int n) { auto f = [&](int i) { return i + n; }; std::puts("break"); tc_tensor *e; e = tc_neg(tc_exp(x)); std::puts("break"); return tc_mul_s(tc_exp(e), f(2)); }
// CHECK-DAG: cplusplus_lambda_messages.cpp:[[#@LINE-1]]:185: remark: graph break in 'before': a lambda is called that these statements do not make
struct numbers { int a, b; };
static numbers counts(int n) { std::puts("counts"); return {n, 2}; }
TC_COMPILE tc_tensor *parts_before(X) { auto [a, b] = counts(3); tc_tensor *e; e = tc_neg(tc_exp(x)); std::puts("break"); return tc_mul_s(tc_exp(e), a + b); }
// CHECK-DAG: cplusplus_lambda_messages.cpp:[[#@LINE-1]]:47: remark: graph break in 'parts_before': a name of a struct's part that other statements give
TC_COMPILE tc_tensor *ranged(const std::vector<const tc_tensor *> &v TC_SHAPE("f32[N,M]"), X) { const tc_tensor *h = tc_exp(x); for (auto *t : v) h = tc_add(h, t); return tc_neg(h); }
// CHECK-DAG: cplusplus_lambda_messages.cpp:[[#@LINE-1]]:142: remark: graph break in 'ranged': how many elements there are is not known at build time; the body of a loop over them is compiled, and called in each round
