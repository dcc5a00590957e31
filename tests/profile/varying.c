// Sizes that vary while others stay the same: code for those that stay.  Sizes of members and integers are counted, too.
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s f.c
// RUN: %tc f.c -fplugin-arg-tc-profile=generate -fplugin-arg-tc-profile-file=of_f %run -o generate && ./generate > before
// RUN: %tc f.c -fplugin-arg-tc-profile=./of_f %run -o use -Rpass=tc 2> messages && %check %s < messages
// RUN: ./use > after 2> counters && cmp before after && %check %s --check-prefix=COUNTERS < counters
// RUN: %tc -c f.c -fplugin-arg-tc-profile=./of_f -fplugin-arg-tc-profile-variants=1 -Rpass=tc 2>&1 | %check %s --check-prefix=LIMIT
// RUN: %tc -c f.c -fplugin-arg-tc-profile=./of_f -fplugin-arg-tc-profile-variants=0 -Rpass=tc 2>&1 | %check %s --check-prefix=NONE
#include <stdio.h>
#include <tcompile.h>

TC_COMPILE tc_tensor *rows(const tc_tensor *x TC_SHAPE("f32[B,T]")) { return tc_sum(x, TC_AXES(1), false); }

// TC_SPECIALIZE comes first, and what it is for is not counted for others.
TC_COMPILE TC_SPECIALIZE("B=1") tc_tensor *given(const tc_tensor *x TC_SHAPE("f32[B]")) { return tc_exp(x); }

// Without code for any sizes there is code for those of the profile; while they are counted, for any.
TC_COMPILE_WITH("dynamic=false") tc_tensor *fixed(const tc_tensor *x TC_SHAPE("f32[B]")) { return tc_neg(x); }

struct layer { tc_tensor *w TC_SHAPE("f32[H]"); int heads; };
TC_COMPILE tc_tensor *parts(const struct layer *l, const tc_tensor *x TC_SHAPE("f32[N]"), int n) {
  return tc_add(tc_reshape(tc_sum(tc_reshape(x, TC_DIMS(n, l->heads, -1)), TC_AXES(1), false), TC_DIMS(-1)), l->w);
}

static void show(tc_tensor *y) {
  for (int i = 0; i < 3 && i < tc_numel(y); i++) printf("%g ", (double)((const float *)tc_data(y))[i]);
  printf("%s\n", tc_error() ? tc_error() : "");
}

int main(void) {
  TC_SCOPE {
    struct layer l = {tc_ones(TC_DIMS(4), TC_F32), 3};
    for (int i = 1; i <= 40; i++) {
      show(rows(tc_ones(TC_DIMS(i, i % 20 ? 128 : 64), TC_F32)));
      show(given(tc_ones(TC_DIMS(i % 2 ? 1 : 6), TC_F32)));
      show(fixed(tc_ones(TC_DIMS(i % 2 ? 1 : 6), TC_F32)));
      show(parts(&l, tc_ones(TC_DIMS(12), TC_F32), i % 4 ? 2 : 1));
    }
  }
  tc_stats_print();
  return 0;
}
// CHECK-DAG: remark: 'rows' compiled for T=128: 1 ops
// CHECK-DAG: remark: 'rows': of 40 calls in the profile, T=128 (95 %) have code of their own; 5 % other
// CHECK-DAG: remark: 'given': of 40 calls in the profile, B=6 (50 %) have code of their own; 50 % other
// CHECK-DAG: remark: 'fixed' compiled for B=1: 1 ops
// CHECK-DAG: remark: 'fixed' compiled for B=6: 1 ops
// CHECK-DAG: remark: 'parts' compiled for N=12,l->H=4,l->heads=3,n=2
// COUNTERS-DAG: rows [T=128] {{.*}} 38 0 0
// COUNTERS-DAG: given [B=1] {{.*}} 20 0 0
// COUNTERS-DAG: given [B=6] {{.*}} 20 0 0
// COUNTERS-DAG: fixed [B=1] {{.*}} 20 0 
// COUNTERS-DAG: parts [N=12,l->H=4,l->heads=3,n=2] {{.*}} 30 0 0
// LIMIT-DAG: remark: 'parts': of 40 calls in the profile, N=12,l->H=4,l->heads=3,n=2 (75 %) have code of their own; 25 % other
// NONE-NOT: compiled for T=
