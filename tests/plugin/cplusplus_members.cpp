// C++: functions of objects are compiled, inside of their class and outside; their objects are operands by this.
// RUN: %tcxx -O1 -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tcxx -std=c++17 -O1 -Wall -Wextra -Werror -pedantic -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v3 -fplugin-arg-tc-opt=1 %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
// RUN: %plain -x c++ -std=c++17 -Wall -Wextra -Werror %s -o %t %run -lstdc++ && %t | %check --check-prefix=OUTPUT %s
#include <cstdio>
#include <tcompile.h>

#define X const tc_tensor *x TC_SHAPE("f32[N,4]")

class linear {
public:
  linear(tc_tensor *w, double by) : w(w), by(by) {}
  tc_tensor *apply(const tc_tensor *x) const { return tc_mul_s(tc_matmul(x, w), by); }
  TC_COMPILE tc_tensor *operator()(X) const { return apply(x); }
  // CHECK-DAG: [[#@LINE-1]]:25: remark: 'operator()' not compiled: it is an operator; give it a name
  static tc_tensor *act(const tc_tensor *x) { return tc_relu(tc_add_s(x, shift)); }

  tc_tensor *w TC_SHAPE("f32[4,4]");
  double by;

private:
  static constexpr double shift = 0.25;
};
class hidden {
public:
  TC_COMPILE tc_tensor *scaled(X) const { return tc_mul_s(x, by); }
  // CHECK-DAG: [[#@LINE-1]]:25: remark: 'scaled' compiled: 1 ops in 1 kernel [
  double factor() const { return by; }
  friend tc_tensor *of_friend(const hidden &, const tc_tensor *);
  friend struct helper;

private:
  double by = 3;
};
TC_COMPILE tc_tensor *of_hidden(const hidden &h, X) { return tc_mul_s(x, h.factor()); }
// CHECK-DAG: [[#@LINE-8]]:34: remark: 'of_hidden' not compiled: 'by' cannot be named in 'of_hidden': it is a private member of 'hidden'

TC_COMPILE_WITH("fullgraph") tc_tensor *of_friend(const hidden &h, X) { return tc_mul_s(x, h.factor()); }
struct helper {
  TC_COMPILE_WITH("fullgraph") static tc_tensor *help(const hidden &h, X) { return tc_mul_s(x, h.factor()); }
};

namespace nets {
class net {
public:
  net(linear first, linear second) : layer{first, second} {}
  TC_COMPILE tc_tensor *forward(X) const {
    tc_tensor *h = linear::act(layer[0].apply(x));
    return this->layer[1].apply(h);
  }
  // CHECK-DAG: [[#@LINE-4]]:25: remark: 'forward' compiled: 6 ops in 1 kernel [
  TC_COMPILE bool remember(X);
  TC_COMPILE static tc_tensor *twice(X) { return tc_mul_s(x, 2); }
  // CHECK-DAG: [[#@LINE-1]]:32: remark: 'twice' compiled: 1 ops in 1 kernel [
  // A graph break between, which changes a member.
  TC_COMPILE tc_tensor *parted(X) {
    tc_tensor *h = tc_mul_s(x, calls);
    note();
    return tc_add_s(h, calls);
  }
  // CHECK-DAG: [[#@LINE-5]]:25: remark: 'parted' compiled: 2 ops in 2 kernels, 2 segments [
  virtual tc_tensor *loss(const tc_tensor *x) const { return tc_mean(x, TC_ALL, false); }
  TC_COMPILE tc_tensor *of_virtual(X) const { return loss(tc_exp(x)); }
  // CHECK-DAG: [[#@LINE-1]]:54: remark: {{.*}}'of_virtual'{{.*}}: 'loss' is a member of a class, and virtual
  virtual ~net() { tc_free(seen); }
  tc_tensor *seen = nullptr;
  int calls = 0;

private:
  void note() { std::printf("noted %d\n", ++calls); }
  linear layer[2];
};

bool net::remember(X) {
  tc_tensor *mean = tc_mean(x, TC_AXES(0), false);
  seen = tc_keep(seen ? tc_add(seen, mean) : mean);
  calls++;
  return seen != nullptr;
}
// CHECK-DAG: [[#@LINE-6]]:11: remark: 'remember' compiled
} // namespace nets

static void show(const char *name, const tc_tensor *x) { std::printf("%s %.3f\n", name, tc_item(tc_mean(x, TC_ALL, false))); }

int main() {
  TC_SCOPE {
    tc_tensor *x = tc_reshape(tc_arange(8, 0, 0.25, TC_F32), TC_DIMS(2, 4));
    nets::net n(linear(tc_full(TC_DIMS(4, 4), 0.5, TC_F32), 0.5), linear(tc_eye(4, 4, TC_F32), 3));
    show("forward", n.forward(x));
    show("twice", nets::net::twice(x));
    std::printf("%d\n", n.remember(x));
    show("seen", n.seen);
    show("parted", n.parted(x));
    show("of_virtual", n.of_virtual(x));
    show("scaled", tc_add(hidden().scaled(x), of_hidden(hidden(), x)));
    show("friends", tc_add(of_friend(hidden(), x), helper::help(hidden(), x)));
    show("operator", linear(tc_eye(4, 4, TC_F32), 2)(x));
    n.seen = nullptr;
    std::printf("%s\n", tc_error() ? tc_error() : "no error");
  }
}
// OUTPUT: forward 3.375
// OUTPUT-NEXT: twice 1.750
// OUTPUT-NEXT: 1
// OUTPUT-NEXT: seen 0.875
// OUTPUT-NEXT: noted 2
// OUTPUT-NEXT: parted 2.875
// OUTPUT-NEXT: of_virtual 2.812
// OUTPUT-NEXT: scaled 5.250
// OUTPUT-NEXT: friends 5.250
// OUTPUT-NEXT: operator 1.750
// OUTPUT-NEXT: no error
