// C++: constants of functions that are computed by the first call keep that value; they are no tables.
// RUN: %tcxx -O1 %s -o %t %run -lstdc++ -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %t | %check --check-prefix=OUTPUT %s
// RUN: TC_FALLBACK=mandatory %t | %check --check-prefix=OUTPUT %s
#include <cstdio>
#include <tcompile.h>

static int asked;
static int ask() { return ++asked; }
static const int table[2] = {ask(), 5};

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]"), int count) {
  static const int first[2] = {count, 2};
  static const int only = count + 1;
  static const int known[2] = {100, 200};
  return tc_add_s(tc_exp(x), first[0] + only + table[0] + table[1] + known[1]);
}

int main() {
  for (int i = 1; i < 4; i++)
    TC_SCOPE { std::printf("%g\n", tc_at(f(tc_zeros(TC_DIMS(3), TC_F32), i), TC_INTS(0))); }
}
// CHECK: remark: 'f' compiled: 2 ops in 1 kernel
// OUTPUT: 210
// OUTPUT-NEXT: 210
// OUTPUT-NEXT: 210
