// Files with kernels take part in link-time optimisation, however it divides the program: their assembly may come together
// in one file, and functions that call it may come elsewhere.  The same file twice is one.
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s main.c && cp %inputs/lto_other.c %inputs/lto.h .
// RUN: %tcgcc -flto -O2 -c main.c && %tcgcc -flto -O2 -c lto_other.c
// RUN: objdump -h main.o | %check --check-prefix=SECTIONS %s
// SECTIONS: .gnu.lto_
// SECTIONS-NOT: .text.tck_
// RUN: %gcc -flto -flto-partition=none main.o lto_other.o -o a %libs && ./a | %check %s
// RUN: %gcc -flto -flto-partition=one main.o lto_other.o -o a %libs && ./a | %check %s
// RUN: %gcc -flto -flto-partition=balanced --param lto-min-partition=1 --param lto-partitions=9 main.o lto_other.o -o a %libs && ./a | %check %s
// RUN: %gcc -flto -flto-partition=1to1 main.o lto_other.o -o a %libs && ./a | %check %s
// RUN: %gcc -flto -flto-partition=max main.o lto_other.o -o a %libs && ./a | %check %s
// RUN: %tcgcc -flto -O2 -g -shared -fPIC main.c lto_other.c -o liba.so %libs
// RUN: %tcgcc -flto=2 -ffat-lto-objects -g -c main.c -o fat.o && %tcgcc -c lto_other.c -o plain.o && %gcc -fno-lto fat.o plain.o -o a %libs && ./a | %check %s
// CHECK: local 0.2689 there 0.8068 twice 3.7183 twice_there 3.7183; hits 1 1 1 1
#include <stdio.h>
#include "lto.h"
TC_COMPILE static tc_tensor *local(const tc_tensor *x TC_SHAPE("f32[N]")) {
  return tc_softmax(x, 0);
}
static double element(const tc_tensor *x, int i) { return tc_at(x, TC_DIMS(i)); }
int main(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_arange(2, 1, -1, TC_F32);
    uint64_t hits[5];
    hits[0] = tc_stats_of(NULL).hits;
    const double a = element(local(x), 1);
    hits[1] = tc_stats_of(NULL).hits;
    const double b = element(there(x), 1);
    hits[2] = tc_stats_of(NULL).hits;
    const double c = element(twice(x), 0);
    hits[3] = tc_stats_of(NULL).hits;
    const double d = element(twice_there(x), 0);
    hits[4] = tc_stats_of(NULL).hits;
    printf("local %.4f there %.4f twice %.4f twice_there %.4f; hits", a, b, c, d);
    for (int i = 0; i < 4; i++) printf(" %d", (int)(hits[i + 1] - hits[i]));
    puts("");
  }
}
