// C++: annotated functions that are C in what they say are compiled, wherever they stand.
// RUN: %tcxx -O1 -c %s -o %t.o -fplugin-arg-tc-backend=openmp -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tcxx -std=c++11 -O1 %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
// RUN: %tcxx -std=c++14 -O0 -g %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
// RUN: %tcxx -std=c++17 -O2 %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
// RUN: %tcxx -std=c++20 -Wall -Wextra -Werror -pedantic -Wshadow %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
// RUN: %tcxx -std=c++23 -pedantic-errors %s -o %t %run -lstdc++ && TC_FALLBACK=mandatory %t | %check --check-prefix=BODIES %s
// RUN: %plain -x c++ -std=c++11 -Wall -Wextra -Werror -pedantic %s -o %t %run -lstdc++ && %t | %check --check-prefix=BODIES %s
#include <cstdio>
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[N]")

extern "C" TC_COMPILE tc_tensor *c_linkage(X) { return tc_exp(x); }
// CHECK-DAG: cplusplus.cpp:[[#@LINE-1]]:34: remark: 'c_linkage' compiled: 1 ops in 1 kernel [

TC_COMPILE tc_tensor *dropped(X, tc_generator *g) { return tc_dropout(x, 0.5, true, g); }
// CHECK-DAG: cplusplus.cpp:[[#@LINE-1]]:23: remark: 'dropped' compiled for g != 0: 4 ops in 1 kernel [
// CHECK-DAG: cplusplus.cpp:[[#@LINE-2]]:23: remark: 'dropped' compiled for !(g != 0): 4 ops in 1 kernel [

// Scoped enumerations, which convert to no number by themselves.
enum class activation : unsigned char { relu, tanh };
struct activated { activation kind; };
TC_COMPILE tc_tensor *by_kind(X, const activated *a) { return a->kind == activation::tanh ? tc_tanh(x) : tc_relu(x); }
// CHECK-DAG: cplusplus.cpp:[[#@LINE-1]]:23: remark: 'by_kind' compiled for {{.*}}a->kind{{.*}}: 1 ops in 1 kernel [

namespace outer {
namespace {
double scale = 2;
}
static const double bias = 0.5;
inline namespace inner {
struct options {
  double factor;
  int rounds;
};
static tc_tensor *step(const tc_tensor *x, options o) { return tc_mul_s(x, o.factor); }

TC_COMPILE inline tc_tensor *in_namespace(X, options o) {
  options copy = o;
  const tc_tensor *h = x;
  for (int i = 0; i < 2; ++i) h = step(h, copy);
  return tc_add_s(tc_mul_s(h, scale), bias);
}
// CHECK-DAG: cplusplus.cpp:[[#@LINE-6]]:30: remark: 'in_namespace' compiled: 4 ops in 1 kernel [

TC_COMPILE static tc_tensor *in_namespace(X) { return tc_sum(tc_reshape(x, TC_DIMS(2, -1)), TC_AXES(-1), true); }
// CHECK-DAG: cplusplus.cpp:[[#@LINE-1]]:30: remark: 'in_namespace' compiled: 2 ops in 1 kernel [
} // namespace inner
} // namespace outer

// The call leads past initialisations, which C++ lets no jump do.
TC_COMPILE tc_tensor *parted(X, bool twice) {
  const tc_tensor *a = twice ? tc_mul_s(x, 2) : x;
  tc_tensor *b = tc_exp(x), *unused = nullptr;
  std::printf("between\n");
  tc_tensor *c = tc_neg(b);
  tc_tensor *d = tc_add(c, b);
  std::printf("again\n");
  (void)unused;
  return tc_add(d, static_cast<const tc_tensor *>(x));
  (void)a;
}
// CHECK-DAG: cplusplus.cpp:[[#@LINE-11]]:23: remark: 'parted' compiled: {{[0-9]}} ops in {{[0-9]}} kernels, {{[23]}} segments [

TC_COMPILE tc_tensor *together(X) {
  tc_tensor *h = tc_exp(x), *g = tc_add(h, x);
  std::printf("between\n");
  return tc_neg(g);
}
// CHECK-DAG: cplusplus.cpp:[[#@LINE-5]]:23: remark: 'together' compiled: 3 ops in {{[0-9]}} kernels, 2 segments [

// A declaration with what is no number or pointer stays whole.
TC_COMPILE tc_tensor *list(X) {
  tc_tensor *h = tc_exp(x), *both[] = {h, tc_neg(h)};
  std::printf("between\n");
  return tc_add(both[0], both[1]);
}
// CHECK-DAG: cplusplus.cpp:[[#@LINE-4]]:14: remark: graph break in 'list': kernels cannot be put in front of the initialisation of 'h' in C++; write it as T name = value, without const, in a declaration of its own

TC_COMPILE void result(tc_tensor *to TC_SHAPE("f32[N]"), X) {
  tc_tensor *h = tc_exp(x);
  tc_copy_(to, h);
}
// CHECK-DAG: cplusplus.cpp:[[#@LINE-4]]:17: remark: 'result' compiled: 2 ops in 1 kernel [

// What references name is not the body's: tensors that are put there leave.
struct slot {
  tc_tensor *t;
};
static void put(tc_tensor *&to, const tc_tensor *x) { to = tc_neg(x); }
TC_COMPILE void referred(X, tc_tensor *&out, slot &s) {
  tc_tensor *h = nullptr;
  put(h, x);
  tc_tensor *&to = s.t;
  to = tc_exp(tc_add(h, tc_neg(x)));
  out = tc_sqrt(s.t);
}
// CHECK-DAG: cplusplus.cpp:[[#@LINE-7]]:17: remark: 'referred' compiled: 5 ops in 1 kernel [
// CHECK-NOT: 'referred' frees nothing

static void show(const char *name, const tc_tensor *x) { std::printf("%s %.3f\n", name, tc_item(tc_mean(x, TC_ALL, false))); }

int main() {
  TC_SCOPE {
    tc_tensor *x = tc_arange(4, 0, 0.25, TC_F32), *y = tc_zeros(TC_DIMS(4), TC_F32);
    show("c_linkage", c_linkage(x));
    const activated kind = {activation::tanh};
    show("by_kind", by_kind(x, &kind));
    outer::options o = {0.5, 2};
    show("in_namespace", outer::in_namespace(x, o));
    show("in_namespace", outer::in_namespace(x));
    show("parted", parted(x, true));
    show("together", together(x));
    result(y, x);
    show("result", y);
    slot s = {nullptr};
    referred(x, y, s);
    show("referred", tc_mul(y, s.t));
    std::printf("%s\n", tc_error() ? tc_error() : "no error");
    std::printf("%d hits, %d fallbacks\n", static_cast<int>(tc_stats_of(nullptr).hits), static_cast<int>(tc_stats_of(nullptr).fallbacks));
  }
}
// OUTPUT: c_linkage 1.512
// OUTPUT-NEXT: by_kind 0.336
// OUTPUT-NEXT: in_namespace 0.688
// OUTPUT-NEXT: in_namespace 0.750
// OUTPUT-NEXT: between
// OUTPUT-NEXT: again
// OUTPUT-NEXT: parted 0.375
// OUTPUT-NEXT: between
// OUTPUT-NEXT: together -1.887
// OUTPUT-NEXT: result 1.512
// OUTPUT-NEXT: referred 0.450
// OUTPUT-NEXT: no error
// OUTPUT-NEXT: 11 hits, 0 fallbacks
// BODIES: parted 0.375
// BODIES: result 1.512
// BODIES-NEXT: referred 0.450
// BODIES-NEXT: no error
// BODIES-NEXT: 0 hits
