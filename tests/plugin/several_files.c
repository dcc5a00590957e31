// Several annotated functions in several files, from a header, of equal names, with equal kernels:
// they link, statically and shared, and equal kernels are one.
// RUN: %tc -O2 %s %inputs/second.c -I %inputs -o %t %run && %t | %check %s
// RUN: %tc -O0 %s %inputs/second.c -I %inputs -o %t %run && %t | %check %s
// RUN: %tc -O2 -flto=thin -fuse-ld=lld -Werror -Wl,--fatal-warnings %s %inputs/second.c -I %inputs -o %t %run && %t | %check %s
// RUN: %tc -O2 -flto -fuse-ld=lld -Werror -Wl,--fatal-warnings %s %inputs/second.c -I %inputs -o %t %run && %t | %check %s
// RUN: %tc -O0 -flto=thin -fuse-ld=lld %s %inputs/second.c -I %inputs -o %t %run && %t | %check %s
// RUN: %tc -O2 -fPIC -shared %inputs/second.c -I %inputs -o %t.so && %tc -O2 %s %t.so -I %inputs -o %t %run && %t | %check %s
// RUN: %tc -O2 -c %inputs/second.c -I %inputs -o %t.o && rm -f %t.a && ar rc %t.a %t.o && %tc -O2 %s %t.a -I %inputs -o %t %run && %t | %check %s
//
// One definition of the softmax kernel in the program, and one body of it.
// RUN: %tc_levels -O2 %s %inputs/second.c -I %inputs -o %t %run && %nm %t | grep ' W tck_.*exp.*_v3$' | sort | uniq -c | %check --check-prefix=ONE %s
// RUN: %nm %t | grep -c 'tck_max_exp_sum.*_team_v3' | %check --check-prefix=BODY %s
// ONE-NOT: {{^ *[2-9]}}
// BODY: {{^}}1{{$}}
#include <stdio.h>
#include "shared.h"

tc_tensor *use_second(const tc_tensor *x);
static TC_COMPILE tc_tensor *same_name(const tc_tensor *x TC_SHAPE("f32[B,N]")) { return tc_neg(x); }

TC_COMPILE tc_tensor *first(const tc_tensor *x) { return tc_softmax(x, -1); }

int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(6, 7), 3, TC_F32);
    tc_tensor *a = standardised(same_name(first(x))), *b = use_second(x);
    tc_tensor *s = tc_softmax(x, -1);
    tc_tensor *n = tc_neg(s), *e = tc_exp(s);
    tc_tensor *ea = tc_div(tc_sub(n, tc_mean(n, TC_AXES(-1), true)), tc_std(n, TC_AXES(-1), 1, true));
    tc_tensor *eb = tc_div(tc_sub(e, tc_mean(e, TC_AXES(-1), true)), tc_std(e, TC_AXES(-1), 1, true));
    printf("%d %d\n", tc_allclose(a, ea, 1e-4, 1e-5), tc_allclose(b, eb, 1e-4, 1e-5));
    printf("%d hits, %d fallbacks\n", (int)tc_stats_of(NULL).hits, (int)tc_stats_of(NULL).fallbacks);
  }
  return 0;
}
// CHECK: 1 1
// CHECK: 6 hits, 0 fallbacks
