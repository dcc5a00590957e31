// What decides between ways is named as one would read it, without what C's types make of it.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *repeated(const tc_tensor *x, int64_t heads) {
  const bool shared = heads != tc_size(x, 0);
  return !!shared ? tc_exp(x) : tc_neg(x);
}

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[G,M]"), int heads) { return repeated(x, heads); }

static tc_tensor *clipped(const tc_tensor *x, double most) { return (float)most > 2 ? tc_exp(x) : tc_neg(x); }

TC_COMPILE tc_tensor *g(const tc_tensor *x TC_SHAPE("f32[G,M]"), double most) { return clipped(x, most); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  show(f(x, 4));
  show(f(x, 5));
  show(g(x, 3));
  return finish();
}
// CHECK-DAG: remark: 'f' compiled for heads != G: 1 op
// CHECK-DAG: remark: 'f' compiled for !(heads != G): 1 op
// CHECK-DAG: remark: 'g' compiled for ((float)most) > 
