// Loops over pointers: their comparisons and differences are known where they lead into one array.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct part { tc_tensor *w TC_SHAPE("f32[N]"); double scale; };
struct all { struct part part[3]; };

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]"), const struct all *a) {
  const double more[] = {0.5, 0.25, 0.125, 0};
  tc_tensor *h = tc_neg(x);
  for (const struct part *p = a->part; p < a->part + 3; p++)
    h = tc_add(h, tc_mul_s(p->w, p->scale * (double)(p - a->part + 1)));
  for (const double *m = more, *end = more + 4; m != end && *m > 0; ++m)
    if (m - more >= 1) h = tc_mul_s(h, *m);
  for (const struct part *p = a->part + 3; p-- > a->part;) h = tc_sub(h, tc_exp(p->w));
  return h;
}

/* At an offset known at run time only. */
TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[N]"), const double *scale, int i) {
  const double *at = scale + i;
  return tc_mul_s(tc_add_s(tc_exp(x), *(at + 1)), *at);
}

int main(void) {
  const double scale[] = {1, 2, 3, 4};
  struct all a;
  for (int i = 0; i < 3; i++) a.part[i] = (struct part){tc_randn(TC_DIMS(24), 2 + (uint64_t)i, TC_F32), i + 0.5};
  show(f(tc_randn(TC_DIMS(24), 1, TC_F32), &a));
  show(g(tc_randn(TC_DIMS(24), 1, TC_F32), scale, 2));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 15 ops in 1 kernel
// CHECK: remark: 'g' compiled: 3 ops in 1 kernel
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: g {{.*}} 1 0 0 
