// Stores and prints happen once and in order.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static int at;
TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]"), int *log) {
  log[at++] = 1;
  tc_tensor *h = tc_exp(x);
  log[at++] = 2;
  printf("%d\n", at);
  h = tc_neg(h);
  log[at++] = 3;
  return h;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32);
  int log[8] = {0};
  show(f(x, log));
  printf("%d %d %d %d\n", at, log[0], log[1], log[2]);
  return finish();
}
// CHECK-DAG: remark: 'f' compiled: 2 ops in {{[0-9]+}} kernel{{s?}}, 2 segments
// CHECK-DAG: remark: graph break in 'f': 'printf' is called, whose body is not visible in this file
// CHECK-DAG: f {{.*}} 1 0 0 
