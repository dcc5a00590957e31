// C++: for (x : range) over arrays, std::array and lists is unrolled; other ranges are loops of unknown count.
// RUN: %tcxx -std=c++20 -O1 -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tcxx -std=c++20 -O1 -Wall -Wextra -Werror -pedantic -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
// RUN: %plain -x c++ -std=c++20 -Wall -Wextra -Werror %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
#include <array>
#include <cstdio>
#include <tcompile.h>
#include <vector>

#define X const tc_tensor *x TC_SHAPE("f32[N,4]")
constexpr std::array<double, 3> weights{0.25, 0.5, 0.25};

TC_COMPILE tc_tensor *smooth(X) {
  tc_tensor *sum = nullptr;
  int shift = -1;
  for (double w : weights) {
    tc_tensor *part = tc_mul_s(tc_roll(x, shift++, 1), w);
    sum = sum ? tc_add(sum, part) : part;
  }
  return sum;
}
// CHECK-DAG: [[#@LINE-9]]:23: remark: 'smooth' compiled: 8 ops in {{[0-9]}} kernels [

TC_COMPILE tc_tensor *lists(X, const tc_tensor *y TC_SHAPE("f32[N,4]")) {
  const tc_tensor *sum = x;
  for (const tc_tensor *t : {x, y, x}) sum = tc_add(sum, t);
  for (int i : {3, 1, 2}) {
    if (i == 1) continue;
    sum = tc_mul_s(sum, i);
  }
  return tc_exp(sum);
}
// CHECK-DAG: [[#@LINE-9]]:23: remark: 'lists' compiled: {{[0-9]}} ops in 1 kernel [

struct layer { tc_tensor *w TC_SHAPE("f32[4,4]"); };
struct model { layer l[2]; };
TC_COMPILE tc_tensor *forward(model &m, X) {
  const tc_tensor *h = x;
  for (const layer &l : m.l) h = tc_tanh(tc_matmul(h, l.w));
  for (auto &l : m.l) tc_mul_s_(l.w, 0.5);
  int found = 0;
  for (int by[] = {1, 2, 3}; int n : by) {
    found += n;
    if (n == 2) break;
  }
  return tc_mul_s(h, found);
}
// CHECK-DAG: [[#@LINE-11]]:23: remark: 'forward' compiled: {{[0-9]}} ops in {{[0-9]}} kernels [

TC_COMPILE tc_tensor *vector(X, const std::vector<double> &v) {
  tc_tensor *y;
  y = tc_exp(x);
  for (double d : v) {
    y = tc_add_s(y, d);
    y = tc_sqrt(y);
  }
  return tc_neg(y);
}
// CHECK-DAG: [[#@LINE-9]]:23: remark: 'vector' compiled: {{[0-9]}} ops in {{[0-9]}} kernels, 3 segments [

// A loop in place of a block: it ends with the brace of its own.
TC_COMPILE tc_tensor *chosen(X, int *calls, void (*count)(int *)) {
  tc_tensor *y = tc_exp(x);
  if (*calls > 3) count(calls);
  else for (double d : {1.0, 2.0}) { y = tc_add_s(y, d); y = tc_sqrt(y); }
  count(calls);
  return tc_neg(y);
}
// CHECK-DAG: [[#@LINE-7]]:23: remark: 'chosen' compiled: 6 ops in {{[0-9]}} kernels, 3 segments [

static void print(tc_tensor *t) {
  if (!t) std::puts(tc_error());
  std::printf("%.4f %.4f\n", tc_item(tc_sum(t, TC_ALL, false)), tc_at(t, TC_INTS(1, 2)));
}

int main() {
  TC_SCOPE {
    tc_tensor *x = tc_reshape(tc_arange(8, 0, 0.25, TC_F32), TC_DIMS(2, 4)), *w[2];
    for (auto &each : w) each = tc_reshape(tc_arange(16, -1, 0.125, TC_F32), TC_DIMS(4, 4));
    model m{{{w[0]}, {w[1]}}};
    print(smooth(x));
    print(lists(x, tc_neg(x)));
    print(forward(m, x));
    print(tc_concat(w, 2, 0));
    print(vector(x, {1, 2}));
    print(vector(x, {}));
    int calls = 0;
    print(chosen(x, &calls, [](int *n) { ++*n; }));
    std::printf("%s\n", tc_error() ? tc_error() : "no error");
  }
  return 0;
}
// OUTPUT: 7.0000 1.5000
// OUTPUT: no error
