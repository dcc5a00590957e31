// Integers that are converted to double for a range, or beside tensors of integers, are sizes: what is counted from them is
// known to be whole, and tiles of attention that a mask excludes are known.
// RUN: env TC_DUMP=capture %tc -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v2 2>&1 | %check %s
// RUN: %tc -fplugin-arg-tc-isa=v2 %s -o %t %run && %t 2>&1 | %check --check-prefix=SHOWN %s
#include <stdio.h>
#include <tcompile.h>

// CHECK-LABEL: graph seen
// CHECK: sym at {{.*}} = scalar 0
// CHECK-NOT: = scalar f64
// CHECK: [[AT:%[0-9]+]] = dim weak at
// CHECK: arange [[AT]]
TC_COMPILE tc_tensor *seen(const tc_tensor *x TC_SHAPE("f32[T,S]"), int64_t at, int window) {
  tc_tensor *query = tc_reshape(tc_arange(tc_size(x, 0), (double)at, 1, TC_I64), TC_DIMS(tc_size(x, 0), 1));
  tc_tensor *key = tc_arange(tc_size(x, 1), 0, 1, TC_I64);
  tc_tensor *near = tc_gt(key, tc_sub_s(query, window));
  return tc_where(tc_logical_and(tc_le(key, query), near), x, tc_zeros_like(x));
}

// CHECK-LABEL: graph real
// CHECK: = scalar f64
TC_COMPILE tc_tensor *real(const tc_tensor *x TC_SHAPE("f32[N]"), double start) {
  return tc_add(x, tc_arange(tc_size(x, 0), start, 1, TC_F32));
}

// SHOWN: 20 of 45, 1.5; seen 2, of which 1 by the body
int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_full(TC_DIMS(5, 9), 1, TC_F32);
    const double some = tc_item(tc_sum(seen(x, 3, 4), TC_ALL, false));
    const double first = tc_item(tc_select(real(tc_zeros(TC_DIMS(3), TC_F32), 1.5), 0, 0));
    seen(x, INT64_C(1) << 54, 4); // of which double does not hold every neighbour
    const tc_stats s = tc_stats_of("seen");
    printf("%g of 45, %g; seen %d, of which %d by the body\n", some, first, (int)(s.hits + s.fallbacks), (int)s.fallbacks);
  }
}
