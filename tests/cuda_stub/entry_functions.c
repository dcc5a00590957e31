#include "tests/cuda_stub/entry_functions.h"

TC_COMPILE tc_tensor *entry_sum(const tc_tensor *x TC_SHAPE("f32[R,C]"),
                                const tc_tensor *y TC_SHAPE("f32[R,C]")) {
  return tc_add(x, y);
}

TC_COMPILE tc_tensor *entry_invert(const tc_tensor *x TC_SHAPE("u8[N]")) {
  return tc_rsub_s(x, 255);
}

TC_COMPILE bool entry_double(tc_tensor *x TC_SHAPE("f32[R,C]")) { return tc_mul_s_(x, 2) != NULL; }

TC_COMPILE_WITH("mode=reduce-overhead")
bool entry_double_recorded(tc_tensor *x TC_SHAPE("f32[R,C]")) { return tc_mul_s_(x, 2) != NULL; }

TC_COMPILE_WITH("grad=on")
tc_tensor *entry_layer(const tc_tensor *x TC_SHAPE("f32[R,C]"),
                       const tc_tensor *w TC_SHAPE("f32[C,D]")) {
  return tc_tanh(tc_matmul(x, w));
}

TC_COMPILE_WITH("mode=reduce-overhead")
tc_tensor *entry_step(const tc_tensor *x TC_SHAPE("f32[R,C]"), tc_tensor *w TC_SHAPE("f32[C,D]")) {
  tc_tensor *g, *loss = tc_mean(tc_square(tc_matmul(x, w)), TC_ALL, false);
  if (!tc_grad(loss, 1, &w, &g)) return NULL;
  TC_NO_GRAD tc_sub_(w, tc_mul_s(g, 0.5));
  return loss;
}

TC_COMPILE_WITH("mode=reduce-overhead")
tc_tensor *entry_total(const entry_list *l) {
  tc_tensor *sum = l->x[0];
  for (int i = 1; i < ENTRY_MANY; i++) sum = tc_add(sum, l->x[i]);
  return sum;
}
