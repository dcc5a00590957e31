// tc_wrap and tc_wrap_const of memory that the function is given are operands; what it reads of that memory and writes to it
// itself stays in order.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static float buffer[6];
static const float table[4] = {1, 2, 3, 4};
static inline tc_tensor *wrap(float *p, int n) { return tc_wrap(TC_DIMS(n), NULL, p, TC_F32, NULL, NULL); }

TC_COMPILE void fir(const float *x, const float *h, float *y, int n, int taps) {
  TC_SCOPE {
    tc_tensor *windows = tc_unfold(tc_wrap_const(TC_DIMS(n + taps - 1), NULL, x, TC_F32), 0, taps, 1);
    tc_copy_(wrap(y, n), tc_matmul(windows, tc_wrap_const(TC_DIMS(taps), NULL, h, TC_F32)));
  }
}
TC_COMPILE tc_tensor *strided(const double *a, int rows, int columns, int ld) {
  int64_t strides[] = {1, ld};
  return tc_sum(tc_wrap_const(TC_DIMS(columns, rows), strides, a, TC_F64), TC_AXES(1), false);
}
TC_COMPILE tc_tensor *globals(void) {
  tc_tensor *b = tc_wrap(TC_DIMS(2, 3), NULL, buffer, TC_F32, NULL, NULL);
  tc_add_s_(b, 1);
  return tc_mul(tc_sum(b, TC_ALL, false), tc_wrap_const(TC_DIMS(4), (int64_t[]){1}, table, TC_F32));
}
TC_COMPILE tc_tensor *two(float *p, float *q, int n) {
  tc_tensor *a = wrap(p, n), *b = wrap(q, n);
  tc_mul_s_(a, 2);
  return tc_add(a, b);
}
TC_COMPILE tc_tensor *handed_out(float *p, int n) { return tc_add_s_(wrap(p, n), 1); }
TC_COMPILE tc_tensor *written_const(const float *p, int n) { return tc_add_s_(tc_wrap_const(TC_DIMS(n), NULL, p, TC_F32), 1); }

TC_COMPILE tc_tensor *stored_behind(float *p, int n) {
  tc_tensor *x = wrap(p, n);
  p[0] = 30;
  return tc_mul_s(x, 2);
}
TC_COMPILE void stored_between(float *p, int n) {
  TC_SCOPE {
    tc_tensor *x = wrap(p, n);
    p[0] = 30;
    tc_add_s_(x, 1);
  }
}
TC_COMPILE double read_behind(float *p, int n) {
  double sum = 0;
  TC_SCOPE {
    tc_mul_s_(wrap(p, n), 2);
    sum = tc_item(tc_sum(tc_mul_s(wrap(p, n), p[1]), TC_ALL, false));
  }
  return sum;
}
/* The same by a struct's function, and of a global array; integers are no elements. */
struct vector { int n, used[2]; float *at TC_SHAPE("f32[N]"); };
static inline tc_tensor *view(const struct vector *v) { return tc_wrap_layout(tc_row_major(TC_DIMS(v->n), v->at, TC_F32)); }
TC_COMPILE tc_tensor *read_member(struct vector *v) {
  tc_mul_s_(view(v), 2);
  return tc_mul_s(view(v), v->at[1]);
}
TC_COMPILE tc_tensor *read_integer(struct vector *v) {
  tc_mul_s_(view(v), 2);
  v->used[1] = 5;
  return tc_mul_s(view(v), v->used[0]);
}
TC_COMPILE double of_global(void) {
  TC_SCOPE { tc_mul_s_(tc_wrap(TC_DIMS(6), NULL, buffer, TC_F32, NULL, NULL), 3); }
  double second = buffer[1];
  buffer[2] = 5;
  return second;
}

static void print(tc_tensor *t) {
  show(t);
  tc_clear_error();
  tc_free(t);
}
static void list(const float *p, int n) {
  for (int i = 0; i < n; i++) printf("%g ", p[i]);
  puts("");
}

int main(void) {
  float x[10], y[8] = {0}, h[3] = {1, 2, 4}, p[3] = {1, 2, 3}, q[3] = {5, 6, 7};
  double a[20];
  for (int i = 0; i < 10; i++) x[i] = (float)(i * i);
  for (int i = 0; i < 20; i++) a[i] = i;
  fir(x, h, y, 8, 3);
  list(y, 8);
  fir(x, h, x, 8, 3); // overlaps
  list(x, 10);
  fir(NULL, h, y, 8, 3);
  puts(tc_error());
  tc_clear_error();
  print(strided(a, 3, 5, 6));
  print(globals());
  print(globals());
  print(two(p, q, 3));
  print(two(p, p, 3));
  tc_tensor *shared = handed_out(q, 3);
  tc_fill_(shared, 9);
  list(q, 3);
  tc_free(shared);
  print(written_const(q, 3));
  print(stored_behind(p, 3));
  stored_between(p, 3);
  list(p, 3);
  printf("%g\n", read_behind(p, 3));
  struct vector v = {3, {2, 3}, p};
  print(read_member(&v));
  print(read_integer(&v));
  printf("%g %g\n", of_global(), buffer[2]);
  return finish();
}
// CHECK-NOT: not compiled
// CHECK-DAG: remark: graph break in 'stored_between': memory of this tensor is used behind a write to 'p[0]', which may be part of it
// CHECK-DAG: remark: graph break in 'read_behind': 'p[1]' is read behind a write to a tensor whose memory it may be part of
// CHECK-DAG: remark: graph break in 'read_member': 'v->at[1]' is read behind a write to a tensor whose memory it may be part of
// CHECK-DAG: fir {{.*}} 1 0 2
// CHECK-DAG: strided {{.*}} 1 {{[01]}} 0
// CHECK-DAG: globals {{.*}} 2 0 0
// CHECK-DAG: two {{.*}} 1 0 1
// CHECK-DAG: handed_out {{.*}} 1 0 0
// CHECK-DAG: written_const {{.*}} 0 0 1
// CHECK-DAG: read_integer {{.*}} 1 0 0
