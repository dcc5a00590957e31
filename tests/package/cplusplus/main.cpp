#include <iostream>
#include <tcompile.h>
#include <tcompile/init.h>
#include <tcompile/conv.h>
#include <tcompile/nn.h>
#include <tcompile/optim.h>

TC_COMPILE tc_tensor *scaled(const tc_tensor *x TC_SHAPE("f32[N]")) {
  return tc_add_s(tc_mul_s(x, 2), 1);
}

int main() {
  TC_SCOPE {
    tc_tensor *y = scaled(tc_arange(4, 0, 1, TC_F32));
    if (!y) return std::cerr << tc_error() << '\n', 1;
    std::cout << tc_at(y, TC_INTS(0)) << ' ' << tc_at(y, TC_INTS(3))
              << ", compiled calls: " << tc_stats_of("scaled").hits << '\n';
  }
  return 0;
}
