// C++: references are other names of objects, as parameters, as variables and in functions that are called.
// RUN: %tcxx -O1 -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tcxx -std=c++17 -O1 -Wall -Wextra -Werror -pedantic -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
// RUN: %plain -x c++ -std=c++17 -Wall -Wextra -Werror %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
#include <cstdio>
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[N,4]")
struct layer { tc_tensor *w TC_SHAPE("f32[4,4]"); };
struct model { layer l[2]; float scale; int steps; };

static tc_tensor *apply(const layer &l, const tc_tensor *h, const double &by) { return tc_mul_s(tc_matmul(h, l.w), by); }
TC_COMPILE tc_tensor *forward(const model &m, X) {
  const tc_tensor *h = x;
  for (int i = 0; i < 2; i++) {
    const auto &l = m.l[i];
    h = apply(l, h, m.scale);
  }
  return tc_exp(h);
}
// CHECK-DAG: [[#@LINE-8]]:23: remark: 'forward' compiled: 5 ops in 1 kernel [

static void halve(tc_tensor *&t) { t = tc_mul_s(t, 0.5); }
static void count(int &n) { n++; }
TC_COMPILE tc_tensor *results(X, tc_tensor *&sum, float &number, int &steps) {
  tc_tensor *y = tc_exp(x);
  int n = 0;
  count(n), count(n);
  for (int i = 0; i < n; i++) halve(y);
  sum = tc_sum(y, TC_ALL, false);
  number = static_cast<float>(tc_item(sum)) + 1;
  steps += n;
  return y;
}
// CHECK-DAG: [[#@LINE-10]]:23: remark: 'results' compiled: {{[0-9]}} ops in 2 kernels [

TC_COMPILE void update(model &m, const float &rate) {
  for (int i = 0; i < 2; i++) {
    auto &w = m.l[i].w;
    tc_sub_(w, tc_mul_s(w, rate));
  }
  m.scale *= 2;
}
// CHECK-DAG: [[#@LINE-7]]:17: remark: 'update' compiled: {{[0-9]}} ops in {{[12]}} kernel{{s?}} [

TC_COMPILE tc_tensor *in_place(X, tc_tensor *&to TC_SHAPE("f32[N,4]")) { return tc_copy_(to, tc_neg(x)); }
// CHECK-DAG: [[#@LINE-1]]:23: remark: 'in_place' compiled: 2 ops in 1 kernel [

// A write by another name is seen: where both are references, the call compares their addresses.
TC_COMPILE tc_tensor *same(X, float &a, const float &b) {
  a = 3;
  return tc_mul_s(x, b);
}
// What has another name is read again behind a graph break.
TC_COMPILE tc_tensor *renamed(X, bool which) {
  double p = 2, q = 3;
  double &r = which ? p : q;
  r += 1;
  auto more = [&] { q += 2; };
  more();
  return tc_mul_s(x, p * q);
}
// CHECK-DAG: [[#@LINE-6]]:15: remark: graph break in 'renamed': an object of this form is not followed
// CHECK-NOT: is not a tensor

static void show(const char *name, const tc_tensor *x) { std::printf("%s %.3f\n", name, tc_item(tc_mean(x, TC_ALL, false))); }

int main() {
  TC_SCOPE {
    tc_tensor *x = tc_reshape(tc_arange(8, 0, 0.25, TC_F32), TC_DIMS(2, 4)), *sum = nullptr, *to = tc_zeros(TC_DIMS(2, 4), TC_F32);
    model m = {{{tc_full(TC_DIMS(4, 4), 0.5, TC_F32)}, {tc_eye(4, 4, TC_F32)}}, 0.5f, 2};
    show("forward", forward(m, x));
    float number = 0, other = 5;
    int steps = 3;
    show("results", results(x, sum, number, steps));
    std::printf("%.3f %.3f %d\n", tc_item(sum), number, steps);
    update(m, 0.5f);
    std::printf("%.1f %.3f\n", m.scale, tc_at(m.l[0].w, TC_INTS(1, 1)));
    show("in_place", in_place(x, to));
    show("same", same(x, number, number));
    show("same", same(x, number, other));
    show("renamed", renamed(x, true));
    show("renamed", renamed(x, false));
    std::printf("%s\n", tc_error() ? tc_error() : "no error");
  }
}
// OUTPUT: forward 1.597
// OUTPUT-NEXT: results 0.703
// OUTPUT-NEXT: 5.624 6.624 5
// OUTPUT-NEXT: 1.0 0.250
// OUTPUT-NEXT: in_place -0.875
// OUTPUT-NEXT: same 2.625
// OUTPUT-NEXT: same 4.375
// OUTPUT-NEXT: renamed 13.125
// OUTPUT-NEXT: renamed 10.500
// OUTPUT-NEXT: no error
