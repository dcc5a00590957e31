// C++: elements of std::vector and what smart pointers lead to are operands.
// RUN: %tcxx -std=c++17 -O1 -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tcxx -std=c++17 -O1 -Wall -Wextra -Werror -pedantic -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
// RUN: %plain -x c++ -std=c++17 -Wall -Wextra -Werror %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
#include <cstdio>
#include <memory>
#include <vector>
#include <tcompile.h>

struct layer { tc_tensor *w TC_SHAPE("f32[D,D]"); tc_tensor *b TC_SHAPE("f32[D]"); };
struct model { std::vector<layer> layers; tc_tensor *head TC_SHAPE("f32[D,C]"); };
static tc_tensor *run(const layer &l, const tc_tensor *x) { return tc_tanh(tc_add(tc_matmul(x, l.w), l.b)); }
TC_COMPILE tc_tensor *indexed(const model &m, const tc_tensor *x TC_SHAPE("f32[N,D]")) {
  tc_tensor *h = tc_mul_s(x, 2);
  for (size_t i = 0; i < m.layers.size(); i++) h = run(m.layers[i], h);
  return tc_matmul(h, m.head);
}
TC_COMPILE tc_tensor *ranged(const model &m, const tc_tensor *x TC_SHAPE("f32[N,D]")) {
  tc_tensor *h = tc_mul_s(x, 2);
  for (const auto &l : m.layers) h = run(l, h);
  return tc_matmul(h, m.head);
}
TC_COMPILE tc_tensor *two(const std::vector<layer> &l, const tc_tensor *x TC_SHAPE("f32[N,D]")) {
  if (l.size() != 2) return nullptr;
  tc_tensor *h = tc_mul_s(x, 2);
  for (size_t i = 0; i < l.size(); i++) h = run(l[i], h);
  return tc_add(h, run(l.front(), run(l.back(), h)));
}
TC_COMPILE tc_tensor *numbers(const std::vector<float> &v, const std::vector<tc_tensor *> &t TC_SHAPE("f32[N]"), const tc_tensor *x TC_SHAPE("f32[N]")) {
  tc_tensor *w = tc_wrap_const(TC_DIMS((int64_t)v.size()), nullptr, v.data(), TC_F32);
  return tc_add(tc_mul_s(tc_mul(x, w), v[0]), t[1]);
}

// Pointers that own: what they lead to, a tensor among it, and whether there is something.
struct release { void operator()(tc_tensor *t) const { tc_free(t); } };
struct owner { std::unique_ptr<layer> first; std::shared_ptr<layer> second; std::unique_ptr<tc_tensor, release> scale TC_SHAPE("f32[D]"); };
static tc_tensor *maybe(const owner &o, const tc_tensor *x) { return o.second ? run(*o.second, x) : tc_neg(x); }
TC_COMPILE tc_tensor *owned(const owner &o, const tc_tensor *x TC_SHAPE("f32[N,D]")) {
  return tc_mul(maybe(o, tc_add(tc_matmul(x, o.first->w), o.first->b)), o.scale.get());
}

// One that the function changes: elements are written behind the kernels, and what calls of its functions do stays.
TC_COMPILE tc_tensor *changed(std::vector<double> v, const tc_tensor *x TC_SHAPE("f32[N]")) {
  const double before = v[0];
  v[0] = 3;
  v.push_back(before);
  return tc_add_s(tc_mul_s(x, v[0]), v.back());
}

// CHECK-DAG: remark: 'indexed' compiled: 5 ops in 3 kernels, 3 segments
// CHECK-DAG: remark: graph break in 'indexed': the number of rounds of the loop
// CHECK-DAG: remark: 'ranged' compiled: 5 ops in 3 kernels, 3 segments
// CHECK-DAG: cplusplus_containers.cpp:{{[0-9]+}}:{{[0-9]+}}: remark: graph break in 'ranged': how many elements there are
// CHECK-DAG: remark: 'two' compiled: 14 ops in {{[0-9]+}} kernels [
// CHECK-DAG: remark: 'numbers' compiled: 3 ops in 1 kernel [
// CHECK-DAG: remark: 'owned' compiled for o.second.get() != 0:
// CHECK-DAG: remark: 'owned' compiled for !(o.second.get() != 0):

static void show(const tc_tensor *t) { std::printf("%.3f\n", tc_item(tc_sum(t, TC_ALL, false))); }
int main() {
  model m{{}, tc_randn(TC_DIMS(4, 2), 9, TC_F32)};
  tc_tensor *x = tc_randn(TC_DIMS(3, 4), 1, TC_F32);
  for (int i = 0; i < 3; i++) m.layers.push_back({tc_randn(TC_DIMS(4, 4), i, TC_F32), tc_randn(TC_DIMS(4), i + 5, TC_F32)});
  std::vector<layer> p(m.layers.begin(), m.layers.begin() + 2);
  std::vector<float> v{1, 2, 3, 4};
  std::vector<tc_tensor *> t{m.layers[0].b, m.layers[1].b};
  show(indexed(m, x)), show(ranged(m, x)), show(two(p, x)), show(numbers(v, t, tc_select(x, 0, 0)));
  owner o{std::make_unique<layer>(p[0]), nullptr, std::unique_ptr<tc_tensor, release>(tc_full(TC_DIMS(4), 0.5, TC_F32))};
  show(owned(o, x));
  o.second = std::make_shared<layer>(p[1]);
  show(owned(o, x));
  show(changed({1, 2}, v.empty() ? nullptr : tc_ones(TC_DIMS(3), TC_F32)));
}
// OUTPUT: 1.295
// OUTPUT-NEXT: 1.295
// OUTPUT-NEXT: -4.145
// OUTPUT-NEXT: 3.058
// OUTPUT-NEXT: 1.173
// OUTPUT-NEXT: -1.491
// OUTPUT-NEXT: 12.000
