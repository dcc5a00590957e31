// Tensors over the program's memory that live across a break, are checked, kept in variables, freed.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct matrix { double *data; int64_t rows, cols; };
static inline tc_tensor *view(const struct matrix *m) {
  tc_layout l = tc_row_major(TC_DIMS(m->rows, m->cols), m->data, TC_F64);
  return tc_wrap_layout(l);
}
static inline tc_layout transposed(const struct matrix *m) {
  tc_layout l = {.data = m->data, .dtype = TC_F64, .rank = 2, .dim = {m->cols, m->rows}, .stride = {8, 8 * m->cols}, .readonly = true};
  return l;
}

TC_COMPILE tc_tensor *f(const struct matrix *a TC_SHAPE("f64[N,2*K+1]"), int flag) {
  tc_tensor *x = view(a);
  if (!x) return NULL;
  tc_tensor *y = tc_exp(x);
  if (flag) printf("flag %d\n", (int)tc_size(x, 1));
  tc_tensor *z = tc_add(tc_add(x, y), tc_full(TC_DIMS(tc_size(x, 1)), 1, TC_F64));
  tc_free(x);
  return z;
}

TC_COMPILE tc_tensor *g(const struct matrix *a TC_SHAPE("f64[M,N]")) {
  tc_tensor *t = tc_wrap_layout(transposed(a));
  if (t == NULL) return NULL;
  return tc_matmul(t, tc_relu(tc_wrap_layout(transposed(a)))) ? tc_matmul(view(a), t) : NULL;
}

// What is returned lies in the caller's memory.
TC_COMPILE tc_tensor *h(const struct matrix *a TC_SHAPE("f64[N,M]"), tc_tensor **sum) {
  *sum = tc_sum(view(a), TC_ALL, false);
  return tc_slice(view(a), 1, 0, 2, 1);
}

int main(void) {
  double memory[15];
  for (int i = 0; i < 15; i++) memory[i] = (i * 4 % 7) * 0.25;
  struct matrix a = {memory, 3, 5}, even = {memory, 3, 4}, square = {memory, 3, 3};
  tc_tensor *sum = NULL;
  show(f(&a, 0));
  show(f(&a, 1));
  show(f(&even, 0));
  show(g(&square));
  show(g(&a));
  printf("%s\n", tc_error() ? "error" : "fine");
  tc_clear_error();
  tc_tensor *r = h(&a, &sum);
  show(r);
  show(sum);
  memory[1] = 100;
  show(r);
  return finish();
}
// CHECK: remark: 'f' compiled: {{[0-9]+}} ops in {{[0-9]+}} kernels, 2 segments
// CHECK: remark: graph break in 'f': the branch depends on
// CHECK: remark: 'g' compiled
// CHECK: remark: 'h' compiled
