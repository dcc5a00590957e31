#include "f.h"
#include <stdio.h>

int plain(void);

TC_COMPILE static tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_mul_s(tc_neg(x), FACTOR); }

int main(void) {
  TC_SCOPE tc_print(g(f(tc_ones(TC_DIMS(4), TC_F32))));
  puts(NAME);
  tc_stats_print();
  return plain();
}
