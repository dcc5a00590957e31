// With -g, kernels have line tables that point at the statements that they are made of, and the same code.
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s lines.c && cp %inputs/lines.h .
// RUN: %tc -g -S lines.c -o - -fplugin-arg-tc-isa=v3 | %check --check-prefix=ASSEMBLY %s
// RUN: %tc -S lines.c -o - -fplugin-arg-tc-isa=v3 | %check --check-prefix=NONE %s
// RUN: %tc -c lines.c -o plain.o && %objdump -d plain.o | grep -v "file format" > plain.code
// RUN: for o in -g "-g -O2" -g1 "-g -gdwarf-4" "-g -gz" "-g -fPIC"; do %tc $o -c lines.c -o lines.o && %clang_bare lines.o -o lines %run && ./lines | %check --check-prefix=PRINTS %s && %dwarfdump --debug-line --debug-info lines > lines.txt 2> errors.txt && test ! -s errors.txt && %check --check-prefix=TABLE %s < lines.txt || exit 1; done
// RUN: for o in -gsplit-dwarf "-g -fno-integrated-as" "-g -flto"; do %tc $o lines.c -o lines %run && ./lines | %check --check-prefix=PRINTS %s || exit 1; done
// RUN: %tc -g -c lines.c -o lines.o && %objdump -d lines.o | grep -v "file format" > lines.code && cmp plain.code lines.code
//
// Tables come out of the cache with the code; another line is another table.
// RUN: env TC_BUILD_CACHE=%t/kept %tc -g -c lines.c -o cold.o && env TC_BUILD_CACHE=%t/kept %tc -g -c lines.c -o warm.o && cmp cold.o lines.o && cmp warm.o lines.o
// RUN: (echo; cat lines.c) > moved.c && mv moved.c lines.c && %tc -g -c lines.c -o lines.o && env TC_BUILD_CACHE=%t/kept %tc -g -c lines.c -o moved.o && cmp lines.o moved.o && %not cmp -s moved.o warm.o
#include <stdio.h>
#include <tcompile.h>
#include "lines.h"

// NONE-NOT: {{[.]loc[[:space:]]}}
// ASSEMBLY: tck_exp_tanh_mul_{{[0-9a-f]+}}_team_v3.tcv3:
// ASSEMBLY: .loc {{[0-9]+}} [[#@LINE+2]] 0
// TABLE: name: "lines.c"
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *y TC_SHAPE("f32[N]")) {
  tc_tensor *a = tc_exp(x);
  // ASSEMBLY-DAG: .loc {{[0-9]+}} [[#@LINE+1]] {{[0-9]+}}
  tc_tensor *b = tc_mul(a, y);
  return flat(b);
}

int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_ones(TC_DIMS(8), TC_F32), *y = f(x, x);
    if (tc_stats_of("f").hits == 1) printf("sum %.3f\n", tc_item(tc_sum(y, TC_ALL, false)));
  }
  return 0;
}
// PRINTS: sum 7.931
