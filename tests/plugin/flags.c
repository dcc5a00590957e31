// One program under the flags that people build with: every one gives the same answer, compiled.
// RUN: %tc -O0 %s -o %t %run && %t | %check %s
// RUN: %tc -O1 %s -o %t %run && %t | %check %s
// RUN: %tc -O2 %s -o %t %run && %t | %check %s
// RUN: %tc -O3 %s -o %t %run && %t | %check %s
// RUN: %tc -Os -g %s -o %t %run && %t | %check %s
// RUN: %tc -O0 -g %s -o %t %run && %t | %check %s
// RUN: %tc -Og -gdwarf-4 %s -o %t %run && %t | %check %s
// RUN: %tc -std=c99 -pedantic-errors %s -o %t %run && %t | %check %s
// RUN: %tc -std=c11 %s -o %t %run && %t | %check %s
// RUN: %tc -std=gnu17 %s -o %t %run && %t | %check %s
// RUN: %tc -std=c2x -O2 %s -o %t %run && %t | %check %s
// RUN: %tc -std=gnu89 -O2 %s -o %t %run && %t | %check %s
// RUN: %not %plain -std=c89 -fsyntax-only %s 2>&1 | %check --check-prefix=C89 %s
// C89: error: "tcompile.h needs C99 or later, such as -std=c17"
// RUN: %not %plain -std=gnu89 -DLAYERS -fsyntax-only %s 2>&1 | %check --check-prefix=LAYERS %s
// LAYERS: error: "tcompile/conv.h and tcompile/nn.h need C99 or later, such as -std=gnu99"
// RUN: %tc -O2 -fno-pic -no-pie %s -o %t %run && %t | %check %s
// RUN: %tc -O2 -fPIC -fno-plt %s -o %t %run && %t | %check %s
// RUN: %tc -O2 -fpie -pie %s -o %t %run && %t | %check %s
// RUN: %tc -O2 -mcmodel=large %s -o %t %run && %t | %check %s
// RUN: %tc -O2 -masm=intel %s -o %t %run && %t | %check %s
// RUN: %tc -O2 -fcf-protection=full %s -o %t %run && %t | %check %s
// RUN: %tc -O2 -fno-integrated-as %s -o %t %run && %t | %check %s
// RUN: %tc -O2 -march=native -ffast-math %s -o %t %run && %t | %check %s
// RUN: %plain -O2 -ffast-math -Wall -Wextra -Werror -DLAYERS -fsyntax-only %s
// RUN: %not %plain -fpack-struct=4 -fsyntax-only %s 2>&1 | %check --check-prefix=ABI %s
// RUN: %not %plain -fshort-enums -fsyntax-only %s 2>&1 | %check --check-prefix=ABI %s
// ABI: error: 'tcompile_needs_structs_and_enums_as_the_ABI_has_them'
// RUN: %tc -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections %s -o %t %run && %t | %check %s
// RUN: %tc -O2 -fopenmp %s -o %t %run && %t | %check %s
// RUN: %tc -O2 -Wall -Wextra -Werror -pedantic -Wdeclaration-after-statement -Wshadow %s -o %t %run && %t | %check %s
//
// Assembly and IR as ways to an object.
// RUN: %tc -O1 -S %s -o %t.s && %plain %t.s -o %t %run && %t | %check %s
// RUN: %tc -O1 -S -emit-llvm %s -o %t.ll && %plain %t.ll -o %t %run && %t | %check %s
// RUN: %tc -O0 -c -emit-llvm %s -o %t.bc && %plain -O1 %t.bc -o %t %run && %t | %check %s
// RUN: mkdir -p %t.temps && cd %t.temps && %tc -O2 -save-temps %s -o %t %run && %t | %check %s
// RUN: %tc -E %s -o %t.i && %tc -O2 %t.i -o %t %run && %t | %check %s
// RUN: %tc -fsyntax-only %s
// RUN: %tc -O2 -x c - -o %t %run < %s && %t | %check %s
#include <stdio.h>
#include <tcompile.h>
#ifdef LAYERS
#include <tcompile/nn.h>
#endif

TC_COMPILE tc_tensor *scores(const tc_tensor *x TC_SHAPE("f32[B,N]"), const tc_tensor *w TC_SHAPE("f32[N,5]"),
                             double temperature)
{
  tc_tensor *h = tc_matmul(x, w);
  return tc_softmax(tc_div_s(h, temperature), -1);
}

static TC_COMPILE tc_tensor *doubled(const tc_tensor *x TC_SHAPE("f32[B]")) { return tc_mul_s(x, 2); }

int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(3, 4), 1, TC_F32), *w = tc_randn(TC_DIMS(4, 5), 2, TC_F32);
    tc_tensor *y = scores(x, w, 2), *e = tc_softmax(tc_div_s(tc_matmul(x, w), 2), -1);
    tc_tensor *z = doubled(tc_select(x, 0, 1));
    tc_stats s = tc_stats_of(NULL);
    printf("%d %d\n", tc_allclose(y, e, 1e-5, 1e-6), tc_allclose(z, tc_mul_s(tc_select(x, 0, 1), 2), 0, 0));
    printf("%d functions, %d hits, %d fallbacks\n", (int)s.functions, (int)s.hits, (int)s.fallbacks);
  }
  return 0;
}
// CHECK: 1 1
// CHECK-NEXT: 2 functions, 2 hits, 0 fallbacks
