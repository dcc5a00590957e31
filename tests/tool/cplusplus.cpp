// C++: the text builds with GCC and Clang, in both forms; calls that nobody sees into leave the scope of a body.
// RUN: %tcompile %s -o %t.cpp -- -O2 %headers %quick && %tcompile %s --split -o %t.split.cpp -- -O2 %headers %quick
// RUN: %clangxx %headers %s -o %t.eager %run && %t.eager > %t.expected
// RUN: %gxx -std=c++17 -Wall -Wextra -Wshadow -Werror %headers %t.cpp -o %t.gxx %run
// RUN: %t.gxx > %t.out 2> %t.stats && diff %t.expected %t.out && %check %s < %t.stats
// RUN: %gxx -std=c++17 -Wall -Wextra -Wshadow -Werror -flto %headers %t.split.cpp %t.split.o -o %t.lto %run
// RUN: %t.lto > %t.out 2> %t.stats && diff %t.expected %t.out && %check %s < %t.stats
// RUN: %clangxx -std=c++17 -Wall -Wextra -Wshadow -Werror %headers %t.split.cpp %t.split.o -o %t.clangxx %run
// RUN: %t.clangxx > %t.out 2> %t.stats && diff %t.expected %t.out && %check %s < %t.stats
#include <cstdio>
#include <tcompile.h>

static tc_tensor *sum_of(const tc_tensor *x) { return tc_sum(x, TC_ALL, false); }

namespace library {
tc_tensor *(*total)(const tc_tensor *) = sum_of; // nobody sees into it

TC_COMPILE static tc_tensor *softmax(const tc_tensor *x TC_SHAPE("f32[N,8]")) {
  return tc_softmax(tc_mul_s(x, 2), -1);
}

TC_COMPILE inline tc_tensor *between(const tc_tensor *x TC_SHAPE("f32[N,8]")) {
  tc_tensor *y;
  y = tc_exp(x);
  std::puts("between");
  return tc_mul(total(tc_add_s(y, 1)), y);
}
} // namespace library

int main() {
  TC_SCOPE {
    const tc_tensor *x = tc_reshape(tc_arange(32, 0, 0.03125, TC_F32), TC_DIMS(4, 8));
    tc_print(library::softmax(x));
    tc_print(library::between(x));
  }
  std::printf("%d bytes\n", static_cast<int>(tc_memory().live));
  tc_stats_print();
}
// CHECK-COUNT-2: {{[12] 1 1 0 0 *$}}
