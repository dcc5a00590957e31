// An array of tensors, read where the index is known at run time only: what is known of its elements holds for that one, and guards
// check it.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *steps(const tc_tensor *x TC_SHAPE("f32[T,N]"), const tc_tensor *w TC_SHAPE("f32[N,N]")) {
  tc_tensor *h[8];
  const int count = (int)tc_size(x, 0);
  h[0] = tc_tanh(tc_select(x, 0, 0));
  for (int t = 1; t < count; t++) h[t] = tc_tanh(tc_add(tc_select(x, 0, t), tc_matmul(h[t - 1], w)));
  tc_tensor *sum = tc_zeros(TC_DIMS(tc_size(x, 1)), TC_F32);
  for (int t = 0; t < count; t++) sum = tc_add(sum, tc_square(h[t]));
  return sum;
}

struct layer { tc_tensor *w[2]; int n; };
/* Elements of other sizes, and one of another rank: the body runs there. */
TC_COMPILE tc_tensor *chosen(const tc_tensor *x TC_SHAPE("f32[N,N]"), const tc_tensor *y TC_SHAPE("f32[M,M]"), int i, int j) {
  struct layer l[2] = {{{NULL, NULL}, 1}, {{NULL, NULL}, 2}};
  l[0].w[0] = tc_exp(x);
  l[0].w[1] = tc_exp(y);
  l[1].w[0] = tc_neg(y);
  l[1].w[1] = tc_neg(x);
  fflush(stdout);
  return tc_add_s(tc_sqrt(tc_abs(l[i].w[j])), l[i].n);
}
TC_COMPILE tc_tensor *of_ranks(const tc_tensor *x TC_SHAPE("f32[N,N]"), int i) {
  tc_tensor *t[2] = {tc_exp(x), tc_sum(x, TC_AXES(0), false)};
  fflush(stdout);
  return tc_neg(t[i]);
}

int main(void) {
  for (int t = 1; t < 8; t += 3) show(steps(tc_randn(TC_DIMS(t, 5), 1, TC_F32), tc_randn(TC_DIMS(5, 5), 2, TC_F32)));
  tc_tensor *x = tc_randn(TC_DIMS(3, 3), 3, TC_F32), *y = tc_randn(TC_DIMS(4, 4), 4, TC_F32);
  for (int i = 0; i < 4; i++) show(chosen(x, y, i / 2, i % 2));
  show(of_ranks(x, 0));
  show(of_ranks(x, 1));
  return finish();
}
// CHECK-DAG: remark: graph break in 'of_ranks': variable 't[i]' has no TC_SHAPE, so its rank is not known
// CHECK-DAG: steps {{.*}} 9 0 0
// CHECK-DAG: steps {{.*}} 12 0 0
// CHECK-DAG: chosen {{.*}}:25 {{.*}} 4 0 0
