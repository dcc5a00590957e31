// tcc: eagerly, and with the kernels of --split.  Scopes end, numbers are the C library's, the default generator and lists
// of tensors are there.
// REQUIRES: tcc
// RUN: %tcompile %s --split -o %t.c -- -O2 %headers -fplugin-arg-tc-isa=v2 -fplugin-arg-tc-backend=openmp
// RUN: %clang %headers %s -o %t.eager %run && %t.eager > %t.expected
// RUN: %tcc %headers %s -o %t.tcc %run && %t.tcc > %t.out && diff %t.expected %t.out
// RUN: %tcc -w %headers %t.c %t.o -o %t.kernels %run
// RUN: %t.kernels > %t.out 2> %t.stats && diff %t.expected %t.out && %check %s < %t.stats
#include <math.h>
#include <stdio.h>
#include <tcompile.h>

TC_COMPILE static tc_tensor *scaled(const tc_tensor *x TC_SHAPE("f32[N]"), double by) {
  return tc_mul_s(x, sqrt(by) + pow(by, 2));
}

static int logged;
TC_DISABLE static tc_tensor *log_of(const tc_tensor *x) {
  logged++;
  return tc_neg(x);
}

TC_COMPILE static tc_tensor *broken(const tc_tensor *x TC_SHAPE("f32[N]")) {
  const tc_tensor *const y = tc_exp(x);
  tc_tensor *z = log_of(tc_add_s(y, 1));
  return tc_mul(z, y);
}

TC_COMPILE static tc_tensor *slope(tc_tensor *x TC_SHAPE("f32[N]")) {
  tc_tensor *wrt[] = {x}, *g[1];
  return tc_grad(tc_sum(tc_mul(x, tc_mul(x, x)), TC_ALL, false), 1, wrt, g) ? g[0] : NULL;
}

typedef struct {
  tc_tensor *sum, *rest;
} pair;
static pair halves(const tc_tensor *x) { return (pair){tc_sum(x, TC_ALL, false), tc_neg(x)}; }
static pair (*split)(const tc_tensor *x) = halves; /* nobody sees into it */

TC_COMPILE static tc_tensor *unseen(const tc_tensor *x TC_SHAPE("f32[N]")) {
  pair p = split(tc_exp(x));
  return tc_add(p.sum, p.rest);
}

static int leave(void) {
  TC_SCOPE {
    tc_ones(TC_DIMS(100), TC_F32);
    return 1;
  }
  return 0;
}

int main(void) {
  tc_manual_seed(7);
  TC_SCOPE {
    tc_tensor *x = tc_arange(8, 0, 1, TC_F32);
    tc_print(scaled(x, 2.25));
    tc_print(broken(tc_mul_s(x, 0.125)));
    tc_print(unseen(x));
    tc_print(slope(tc_requires_grad_(x, true)));
    TC_NO_GRAD tc_print(tc_uniform(TC_DIMS(3), 0, 1, TC_F32, NULL));
    printf("recording: %d, taken: %d, logged: %d\n", tc_is_grad_enabled(), (int)tc_default_generator.offset,
           logged);
    for (int i = 0; i < 10; i++) leave();
    printf("%d bytes more\n", (int)tc_memory().live > 4000);
  }
  printf("%d bytes\n", (int)tc_memory().live);
  tc_stats_print();
}
// CHECK-COUNT-3: {{[0-9]+ 1 1 0 0 *$}}
