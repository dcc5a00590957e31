// A program is called with 20 sizes, 3 of them frequent: these get code of their own, and the rest takes that for any.
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s f.c
// RUN: %tc f.c -fplugin-arg-tc-profile=generate %run -o generate && ./generate > before 2> counters && %check %s --check-prefix=BEFORE < counters
// RUN: %check %s --check-prefix=PROFILE < tcompile.profile
// RUN: %tc f.c -fplugin-arg-tc-profile=use %run -o use -Rpass=tc 2> messages && %check %s < messages
// RUN: ./use > after 2> counters && %check %s --check-prefix=AFTER < counters && cmp before after
// RUN: %explain use | %check %s --check-prefix=EXPLAIN
#include <stdio.h>
#include <tcompile.h>

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[B,4]")) {
  return tc_softmax(tc_add_s(x, 1), -1);
}

int main(void) {
  static const int frequent[] = {8, 32, 17};
  for (int i = 0; i < 1000; i++) {
    const int b = i % 10 < 8 ? frequent[i % 10 % 3] : 100 + i / 10 % 17;
    tc_tensor *x = tc_ones(TC_DIMS(b, 4), TC_F32), *y = f(x);
    printf("%d %g\n", (int)tc_size(y, 0), (double)((const float *)tc_data(y))[0]);
    tc_free(x), tc_free(y);
  }
  tc_stats_print();
  return 0;
}
// BEFORE: f f.c:11 {{.*}} 1000 0 0
// PROFILE: tcompile profile 1
// PROFILE-NEXT: function "f" "f.c" 11
// PROFILE-NEXT: segment 11
// PROFILE-DAG: calls 300 B=8
// PROFILE-DAG: calls 300 B=32
// PROFILE-DAG: calls 200 B=17
// PROFILE: calls 12 B=1{{[0-9][0-9]}}
// PROFILE: end
// CHECK: f.c:11:{{[0-9]+}}: remark: 'f' compiled for B=8: 2 ops
// CHECK: remark: 'f' compiled for B=32: 2 ops
// CHECK: remark: 'f' compiled for B=17: 2 ops
// CHECK: remark: 'f' compiled: 2 ops
// CHECK: remark: 'f': of 1000 calls in the profile, B=8 (30 %); B=32 (30 %); B=17 (20 %) have code of their own; 20 % other
// AFTER-DAG: f [B=8] f.c:11 {{.*}} 300 0 0
// AFTER-DAG: f [B=32] f.c:11 {{.*}} 300 0 0
// AFTER-DAG: f [B=17] f.c:11 {{.*}} 200 0 0
// AFTER-DAG: f f.c:11 {{.*}} 200 0 0
// EXPLAIN: f (f.c:11): 4 segments
// EXPLAIN-NEXT: profile: B=8 in 30 % of 1000 calls
// EXPLAIN-NEXT: profile: B=32 in 30 % of 1000 calls
// EXPLAIN-NEXT: profile: B=17 in 20 % of 1000 calls
