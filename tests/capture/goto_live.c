// Forward jumps past statements, within a loop and into one: what is read behind the labels is there.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

#define X const tc_tensor *x TC_SHAPE("f32[N]")

TC_COMPILE int retry(X, tc_tensor *out TC_SHAPE("f32[N]"), int n) {
  int tries = 0, status = 0;
  double best = 1e9;
  tc_tensor *h = tc_neg(x), *kept = NULL;
  for (int i = 0; i < n; i++) {
    double v = tc_item(tc_sum(tc_mul_s(h, i - 1.5), TC_ALL, false));
    if (v > best) goto next;
    best = v;
    kept = tc_mul_s(h, i + 1);
  next:
    h = tc_mul_s(h, 0.5);
    tries += v > 0 ? 1 : 2;
  }
  if (!kept) {
    status = -1;
    goto out;
  }
  tc_copy_(out, tc_add(kept, h));
  status = tries;
out:
  tc_free(h);
  return status;
}

TC_COMPILE tc_tensor *skip(X, int n) {
  double s = 1;
  tc_tensor *h = tc_exp(x);
  if (n == 1) goto one;
  if (n == 2) goto two;
  s = 3;
  h = tc_neg(h);
one:
  s += 10;
  h = tc_add_s(h, s);
two:
  s += 100;
  return tc_mul_s(h, s);
}

TC_COMPILE tc_tensor *into(X, int n) {
  tc_tensor *h = tc_exp(x);
  double s = 2;
  int i = 0;
  if (n > 5) goto inside;
  for (; i < n; i++) {
    h = tc_add_s(h, s);
  inside:
    s += 1;
    h = tc_mul_s(h, s);
  }
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(8), 1, TC_F32), *o = tc_zeros_like(x);
  for (int n = 4; n >= 0; n -= 2) {
    printf("%d\n", retry(x, o, n));
    show(o);
  }
  for (int n = 0; n < 4; n++) show(skip(x, n));
  for (int n = 0; n < 8; n += 3) show(into(x, n));
  return finish();
}
// CHECK-DAG: remark: 'retry' compiled: {{.*}}, 5 segments
// CHECK-DAG: remark: 'skip' compiled: 4 ops in 4 kernels, 4 segments
// CHECK-DAG: remark: 'into' compiled: 3 ops in 3 kernels, 3 segments
// CHECK-DAG: retry {{.*}} 3 0 0 
// CHECK-DAG: skip {{.*}} 2 0 0 
// CHECK-DAG: into {{.*}} 9 0 0 
