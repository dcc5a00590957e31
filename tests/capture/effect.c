// TC_EFFECT: calls of a function of the program's own happen in the order of the program, between kernels that
// work around them; those that are equal are as many as were written.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_EFFECT static void mark(int step) { printf("mark %d\n", step); }
TC_EFFECT static void total(const tc_tensor *x, const char step, double scale) {
  double sum = 0;
  for (int64_t i = 0; i < tc_numel(x); i++) sum += (double)((const float *)tc_cdata(x))[i];
  printf("total %d of %d axes: %.3f\n", step, tc_rank(x), sum * scale);
}

// What is around one is one kernel.
TC_COMPILE_WITH("fullgraph") tc_tensor *between(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *a = tc_mul_s(x, 2);
  mark(1);
  total(x, 2, 0.5);
  mark(1);
  return tc_add_s(a, 1);
}
// Values that are looked at are there, each with what was written before.
TC_COMPILE_WITH("fullgraph") tc_tensor *values(tc_tensor *x TC_SHAPE("f32[N,M]"), int step) {
  tc_tensor *a = tc_exp(x);
  total(a, 1, 1);
  tc_add_(x, a);
  total(x, 2, step);
  tc_mul_s_(x, 2);
  total(tc_transpose(x, 0, 1), 3, 1);
  total(a, 1, 1);
  return tc_softmax(x, 1);
}
// For the effect alone, and behind the last kernel.
TC_COMPILE_WITH("fullgraph") void only(const tc_tensor *x TC_SHAPE("f32[N,M]")) { total(tc_relu(x), 1, 1); }
// In rounds of a loop, and on one side of a branch.
TC_COMPILE tc_tensor *rounds(const tc_tensor *x TC_SHAPE("f32[N,M]"), int loud) {
  const tc_tensor *h = x;
  for (int i = 0; i < 3; i++) {
    h = tc_tanh(tc_add_s(h, i));
    mark(i);
  }
  if (loud) total(h, 9, 1);
  return tc_neg(h);
}
// An index is out of range: in front of the effect the body runs, behind it the function fails as the body does.
TC_COMPILE_WITH("fullgraph") tc_tensor *picked(const tc_tensor *x TC_SHAPE("f32[N,M]"), const tc_tensor *i TC_SHAPE("i64[K]")) {
  mark(5);
  tc_tensor *y = tc_index_select(x, 0, i);
  mark(6);
  return tc_exp(y);
}
// It may be what an error comes from, which the body asks for then.
TC_EFFECT static void refuse(const tc_tensor *x, double most) {
  if (((const float *)tc_cdata(x))[0] > most) tc_fail_as(TC_ERROR_ARGUMENT, "more than %g", most);
}
TC_COMPILE tc_tensor *asked(const tc_tensor *x TC_SHAPE("f32[N,M]"), double most) {
  tc_tensor *a = tc_exp(x);
  refuse(a, most);
  if (tc_error()) return NULL;
  return tc_log(a);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(3, 4), 1, TC_F32), *i = tc_arange(2, 0, 2, TC_I64);
  show(between(x));
  show(values(tc_clone(x), 3));
  show(values(tc_transpose(tc_clone(x), 0, 1), 3)); // the body
  only(x);
  show(rounds(x, 1));
  show(rounds(x, 0));
  show(picked(x, i));
  tc_add_s_(i, 2);
  tc_tensor *wrong = picked(x, i);
  printf("%d %d\n", wrong == NULL, tc_error() != NULL);
  tc_clear_error();
  show(asked(x, 1e9));
  show(asked(x, 0));
  tc_clear_error();
  return finish();
}
// CHECK-NOT: graph break
// CHECK-DAG: remark: 'between' compiled: {{.*}} in 4 kernels
// CHECK-DAG: between {{.*}} 1 0 0 
// CHECK-DAG: only {{.*}} 1 0 0 
