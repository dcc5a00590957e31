// tc_empty as a destination, tc_at as a number, tc_from as an operand.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *joined(const tc_tensor *a TC_SHAPE("f32[N,M]"), const tc_tensor *b TC_SHAPE("f32[N,M]")) {
  tc_tensor *y = tc_empty(TC_DIMS(2, tc_size(a, 0), tc_size(a, 1)), TC_F32);
  tc_copy_(tc_select(y, 0, 0), tc_exp(a));
  tc_copy_(tc_select(y, 0, 1), tc_neg(b));
  return y;
}

TC_COMPILE tc_tensor *whole(const tc_tensor *a TC_SHAPE("f32[N,M]")) {
  tc_tensor *y = tc_empty(TC_DIMS(tc_size(a, 0), tc_size(a, 1)), TC_F32);
  return tc_mul_s_(tc_copy_(y, a), 2);
}

TC_COMPILE double at(const tc_tensor *a TC_SHAPE("f32[N,M]"), int i) {
  tc_tensor *h = tc_exp(a);
  return tc_at(h, TC_INTS(i, 2)) + tc_at(h, TC_INTS(0, -1)) + tc_at(tc_sum(a, TC_ALL, false), TC_ALL);
}

static const float taps[3] = {0.25f, 0.5f, 0.25f};

TC_COMPILE tc_tensor *table(const tc_tensor *x TC_SHAPE("f32[N,3]")) {
  static const double offsets[2][3] = {{1, 2, 3}, {4, 5, 6}};
  tc_tensor *k = tc_from(TC_DIMS(3), taps, TC_F32), *o = tc_from(TC_DIMS(2, 3), offsets, TC_F64);
  return tc_add(tc_mul(x, k), tc_sum(o, TC_AXES(0), false));
}

TC_COMPILE tc_tensor *made_here(const tc_tensor *x TC_SHAPE("f32[N,3]"), float s) {
  float k[3] = {1, s, s * s};
  k[0] += s;
  tc_tensor *y = tc_mul(x, tc_from(TC_DIMS(3), k, TC_F32));
  k[1] = 7; // the copy is of before
  return tc_add(y, tc_from(TC_DIMS(3), k, TC_F32));
}

struct image { int rows, cols; float *data; };

TC_COMPILE tc_tensor *operand(const struct image *m, const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *y = tc_from(TC_DIMS(m->rows, m->cols), m->data, TC_F32);
  tc_mul_s_(y, 2); // the copy
  return tc_matmul(y, x);
}

int main(void) {
  tc_tensor *a = tc_randn(TC_DIMS(4, 5), 1, TC_F32), *b = tc_randn(TC_DIMS(4, 5), 2, TC_F32);
  tc_tensor *rows = tc_randn(TC_DIMS(6, 3), 3, TC_F32);
  show(joined(a, b));
  show(whole(a));
  for (int i = 0; i < 4; i++) printf("%.3f\n", at(a, i));
  show(table(rows));
  show(made_here(rows, 0.5f));
  float data[12];
  for (int i = 0; i < 12; i++) data[i] = (float)i;
  struct image m = {3, 4, data};
  show(operand(&m, a));
  m.rows = 2;
  show(operand(&m, a));
  printf("%g\n", data[11]);
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'joined' compiled: {{[0-9]+}} ops in
// CHECK: remark: 'whole' compiled: {{[0-9]+}} ops in 1 kernel
// CHECK: remark: 'at' compiled: {{[0-9]+}} ops in
// CHECK: remark: 'table' compiled: {{[0-9]+}} ops in
// CHECK: remark: 'made_here' compiled: {{[0-9]+}} ops in 1 kernel
// CHECK: remark: 'operand' compiled: {{[0-9]+}} ops in
// CHECK-DAG: joined {{.*}} 1 0 0 
// CHECK-DAG: whole {{.*}} 1 0 0 
// CHECK-DAG: at {{.*}} 4 0 0 
// CHECK-DAG: table {{.*}} 1 0 0 
// CHECK-DAG: made_here {{.*}} 1 0 0 
// CHECK-DAG: operand {{.*}} 2 0 0 
