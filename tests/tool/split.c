// Kernels in a file of their own: C without assembly, which builds with link-time optimisation, into shared objects, and by
// tcc; functions of one name in two files, and one file that is compiled in two ways.
// RUN: %tcompile %s --split -o %t.c -- -O2 %headers -fplugin-arg-tc-isa=v2 -fplugin-arg-tc-backend=openmp -Rpass=tc 2>&1 | %check %s
// RUN: %tcompile %s --split=s -o %t.s.c -- -O2 %headers -fplugin-arg-tc-isa=v2 -fplugin-arg-tc-backend=openmp -DOTHER
// RUN: %check --check-prefix=TEXT --implicit-check-not="{{^__asm__}}" %s < %t.c
// RUN: readelf -SsW %t.o | %check --check-prefix=OBJECT %s
// RUN: tail -n 1 %t.s.s | %check --check-prefix=NOTE %s
// RUN: %explain %t.o | %check --check-prefix=EXPLAIN %s
// RUN: %clang %headers -O1 -DOTHER %s -c -o %t.eager.o && %clang %headers -O1 %s %t.eager.o -o %t.eager %run && %t.eager > %t.expected
// RUN: %gcc -std=gnu17 -Wall -Wextra -Wshadow -Werror %headers -O1 -flto -DOTHER -c %t.s.c -o %t.s.lto.o
// RUN: %gcc -std=gnu17 -Wall -Wextra -Wshadow -Werror %headers -O1 -flto %t.c %t.o %t.s.lto.o %t.s.s -o %t.gcc %run
// RUN: %t.gcc > %t.out 2> %t.stats && diff %t.expected %t.out && %check --check-prefix=STATS %s < %t.stats
// RUN: %gcc %headers -fPIC -shared -DOTHER %t.s.c %t.s.s -o %t.so %run
// RUN: nm -D --defined-only %t.so | %check --check-prefix=EXPORTS %s
// RUN: %clang -Wall -Wextra -Wshadow -Werror %headers -O0 -g %t.c %t.o %t.so -o %t.clang %run
// RUN: %t.clang > %t.out 2> %t.stats && diff %t.expected %t.out && %check --check-prefix=STATS %s < %t.stats
// RUN: %if tcc %{ %gcc -c %t.s.s -o %t.s.o && %tcc -c %headers -DOTHER %t.s.c -o %t.s.c.o %}
// RUN: %if tcc %{ %tcc %headers %t.c %t.o %t.s.c.o %t.s.o -o %t.tcc %run %}
// RUN: %if tcc %{ %t.tcc > %t.out 2> %t.stats && diff %t.expected %t.out && %check --check-prefix=STATS %s < %t.stats %}
#include <stdio.h>
#include <tcompile.h>

int other(const tc_tensor *x);

TC_COMPILE static tc_tensor *softmax(const tc_tensor *x TC_SHAPE("f32[N,8]")) {
#ifdef OTHER
  return tc_log_softmax(x, -1);
#else
  return tc_softmax(tc_mul_s(x, 2), -1);
#endif
}
// CHECK: split.c:[[#@LINE-7]]:30: remark: 'softmax' compiled: 2 ops in 1 kernel
// TEXT: __asm__("__tc_softmax_[[HASH:[0-9a-f]+]]_[[UNIT:[0-9a-f]+]]") __attribute__((visibility("hidden")))
// OBJECT: .tcompile.explain
// OBJECT: .note.GNU-stack
// OBJECT-NOT: UND __tc_
// OBJECT: FUNC WEAK HIDDEN {{.*}} __tc_softmax_{{[0-9a-f]+}}_{{[0-9a-f]+$}}
// NOTE: .section .note.GNU-stack,"",@progbits
// EXPLAIN: 1 function, 1 segment, 0 graph breaks, 1 kernel
// EXPORTS-NOT: __tc_
// EXPORTS: other
// EXPORTS-NOT: __tc_

#ifdef OTHER
int other(const tc_tensor *x) {
  tc_print(softmax(x));
  return 0;
}
#else
int main(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_arange(32, 0, 1, TC_F32);
    x = tc_reshape(tc_mul_s(x, 0.03125), TC_DIMS(4, 8));
    tc_print(softmax(x));
    other(x);
  }
  tc_stats_print();
}
#endif
// STATS-COUNT-2: {{[12] 1 1 0 0 *$}}
