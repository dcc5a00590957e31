// C++: declarations that a call of kernels leads past: const, auto.
// RUN: %tcxx -std=c++17 -O1 -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tcxx -std=c++17 -O1 -Wall -Wextra -Werror -pedantic -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
// RUN: %plain -x c++ -std=c++17 -Wall -Wextra -Werror %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
#include <cstdio>
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[N,M]")

TC_COMPILE tc_tensor *automatic(X) {
  auto *h = tc_exp(x);
  auto rows = tc_size(h, 0);
  std::printf("between\n");
  return tc_mul_s(h, static_cast<double>(rows));
}
// CHECK-DAG: remark: 'automatic' compiled: {{.*}} 2 segments

TC_COMPILE tc_tensor *constants(X) {
  const int two = 2, three = two + 1;
  constexpr double weights[] = {0.5, 0.25};
  const int64_t rows = tc_size(x, 0);
  int64_t const columns = tc_size(x, 1);
  tc_tensor *const h = tc_mul_s(tc_exp(x), weights[1] * three);
  std::printf("between\n");
  return tc_mul_s(h, static_cast<double>(rows * columns * two));
}
// CHECK-DAG: remark: 'constants' compiled: {{.*}} 2 segments

// Several variables, of which one is a pointer, one an array and one has no value.
TC_COMPILE tc_tensor *several(X) {
  tc_tensor *h = tc_exp(x), *list[2], *g = tc_neg(h), /* of both */ *last;
  const double two = static_cast<double>(tc_size(x, 0)), three = two + 1;
  auto *twice = tc_mul_s(h, two), *thrice = tc_mul_s(g, three);
  list[0] = twice, list[1] = thrice;
  std::printf("between\n");
  last = tc_add(list[0], list[1]);
  return tc_add(last, g);
}
// CHECK-DAG: remark: 'several' compiled: {{.*}} 2 segments

// Initialised with parentheses and braces.
TC_COMPILE tc_tensor *direct(X) {
  tc_tensor *h(tc_exp(x)), *g{tc_neg(h)}, *both((tc_add(h, g))), *none{};
  const int64_t rows(tc_size(x, 0)), columns{tc_size(x, 1)};
  auto *last(tc_add(both, h));
  auto *again{tc_neg(last)};
  double scale{static_cast<double>(rows)};
  std::printf("between\n");
  return none ? none : tc_mul_s(again, scale + static_cast<double>(columns));
}
// CHECK-DAG: remark: 'direct' compiled: {{.*}} 2 segments

// A declaration that several ways lead past.
static tc_tensor *act(const tc_tensor *t, int kind) {
  if (kind == 1) return tc_relu(t);
  if (kind == 2) return tc_neg(t);
  return tc_abs(t);
}
TC_COMPILE tc_tensor *ways(X, int kind) {
  const auto rows = tc_size(x, 0);
  tc_tensor *h = act(x, kind), *g = tc_mul_s(h, static_cast<double>(rows));
  std::printf("between\n");
  return tc_add(h, g);
}
// CHECK-DAG: remark: 'ways' compiled for kind == 1

// Where somebody asks for the constant itself, it stays.
static const int64_t &same(const int64_t &v) { return v; }
TC_COMPILE tc_tensor *stays(X) {
  tc_tensor *h = tc_exp(x);
  const int64_t rows = tc_size(x, 0);
  tc_tensor *g = tc_neg(h);
  std::printf("between\n");
  return tc_mul_s(tc_neg(g), static_cast<double>(same(rows)));
}
// CHECK-DAG: graph break in 'stays': kernels cannot be put in front of the initialisation of 'rows' in C++

static void show(const tc_tensor *t) { std::printf("%.3f\n", tc_item(tc_sum(t, TC_ALL, false))); }
int main() {
  tc_tensor *x = tc_full(TC_DIMS(2, 3), 0.5, TC_F32);
  show(automatic(x));
  show(constants(x));
  show(stays(x));
  show(several(x));
  show(direct(x));
  for (int kind = 0; kind < 3; kind++) show(ways(x, kind));
}
// OUTPUT: between
// OUTPUT-NEXT: 19.785
// OUTPUT-NEXT: between
// OUTPUT-NEXT: 89.031
// OUTPUT-NEXT: between
// OUTPUT-NEXT: 19.785
// OUTPUT-NEXT: between
// OUTPUT-NEXT: -19.785
// OUTPUT-NEXT: between
// OUTPUT-NEXT: -49.462
// OUTPUT-NEXT: between
// OUTPUT-NEXT: 9.000
// OUTPUT-NEXT: between
// OUTPUT-NEXT: 9.000
// OUTPUT-NEXT: between
// OUTPUT-NEXT: -9.000
