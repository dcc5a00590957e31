// Warnings where calls of kernels stand beside what they are about.
#include <stdio.h>
#include <tcompile.h>
#define UNUSED 1
#define MAKE(name) TC_COMPILE tc_tensor *name(const tc_tensor *x TC_SHAPE("f32[N]"), int unused_by_##name) { \
    int unused; x = tc_exp(x); puts("a"); return tc_neg(x); }
static int never_called(void) { return 1; }

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,8]"), int number, unsigned other) {
  tc_tensor *h = tc_exp(x);
  tc_tensor *g = tc_exp(h);
  puts("a");
  tc_tensor *y = tc_exp(x);
  tc_tensor *z = tc_exp(y);
  puts("b");
  tc_tensor *unused = tc_exp(x);
  switch (number) {
  case 1: y = tc_exp(y);
  case 2: y = tc_neg(tc_exp(y));
    // fall through
  case 3: y = tc_add(y, x); __attribute__((fallthrough));
  case 5: if (other) y = tc_exp(y);
  case 6: for (int number = 0; number < 3; number++) y = tc_exp(y);
  default: y = tc_exp(y); printf("%ld %s\n", number);
  }
  {
    tc_tensor *h = tc_exp(y);
    puts("c");
    y = tc_mul(h, y);
    int late = number < other;
    if (late = 3) y = tc_exp(y);
  }
  goto out;
  tc_tensor *jumped = tc_exp(y);
  y = jumped;
out:
  y = tc_mul_s(y, number == 3 ? 2 : 3u);
  return tc_add(z, tc_add(g, y));
}

TC_COMPILE tc_tensor *uninitialised(const tc_tensor *x TC_SHAPE("f32[N]"), int k) {
  int by;
  x = tc_exp(x);
  puts("a");
  if (k) by = 2;
  printf("%d\n", by);
  return tc_neg(x);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-variable"
TC_COMPILE tc_tensor *ignored(const tc_tensor *x TC_SHAPE("f32[N]"), int parameter) {
  tc_tensor *unused = tc_exp(x);
  return tc_exp(x);
}
#pragma GCC diagnostic pop
#line 7 "elsewhere.c"
TC_COMPILE tc_tensor *elsewhere(const tc_tensor *x TC_SHAPE("f32[N]"), int parameter) {
  x = tc_exp(x);
  puts("a");
  tc_tensor *unused = tc_exp(x);
  return tc_neg(x);
}
MAKE(by_macro)
