// A branch or a loop that asks for pointers says so, and gives no advice for data.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE double assign(tc_tensor *c TC_SHAPE("f32[K,D]"), const tc_tensor *x TC_SHAPE("f32[N,D]"), tc_tensor **label) {
  tc_tensor *d = tc_sum(tc_square(tc_sub(tc_unsqueeze(x, 1), c)), TC_AXES(2), false), *nearest = tc_argmin(d, TC_AXES(1), false);
  if (label) *label = nearest;
  return tc_item(tc_mean(tc_min(d, TC_AXES(1), false), TC_ALL, false));
}
// CHECK: pointer_branch.c:[[#@LINE-3]]:7: remark: graph break in 'assign': the branch depends on a pointer that is not known at build time

struct stage { double scale; const struct stage *next; };
TC_COMPILE tc_tensor *stages(const struct stage *s, const tc_tensor *x TC_SHAPE("f32[N,D]")) {
  tc_tensor *y = tc_exp(x);
  for (; s; s = s->next) y = tc_tanh(tc_mul_s(y, s->scale));
  return y;
}
// CHECK: pointer_branch.c:[[#@LINE-3]]:10: remark: graph break in 'stages': the number of rounds of the loop depends on a pointer that is not known at build time; its body is compiled, and called in each round

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(6, 3), 1, TC_F32), *c = tc_slice(x, 0, 0, 2, 1), *label = NULL;
  for (int i = 0; i < 2; i++) printf("%.4f\n", assign(tc_clone(c), x, i ? &label : NULL));
  show(label);
  const struct stage last = {0.5, NULL}, first = {2, &last};
  show(stages(&first, x)), show(stages(NULL, x));
  return finish();
}
