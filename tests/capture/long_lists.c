// Lists of more tensors than an operation has operands: gradients with respect to all of them, an optimiser's loop in a
// called function, parts that are joined, and sequences.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"
#include <tcompile/nn.h>
#include <tcompile/optim.h>

enum { MANY = 257 };
typedef struct {
  tc_tensor *w TC_SHAPE("f32[4]");
} scale;
typedef struct {
  scale at[MANY];
  tc_tensor *mean[MANY], *square[MANY];
} model;

TC_COMPILE tc_tensor *step(model *m, const tc_tensor *x TC_SHAPE("f32[B,4]"), int64_t t) {
  tc_tensor *w[MANY], *g[MANY];
  const tc_tensor *h = x;
  for (int i = 0; i < MANY; i++) h = tc_mul(h, w[i] = m->at[i].w);
  tc_tensor *loss = tc_sum(h, TC_ALL, false);
  if (!tc_grad(loss, MANY, w, g)) return NULL;
  return tc_adamw(MANY, w, g, m->mean, m->square, t, tc_adam_defaults(1e-2)) ? loss : NULL;
}

TC_COMPILE tc_tensor *joined(const tc_tensor *x TC_SHAPE("f32[300,3]"), tc_tensor **stacked) {
  const tc_tensor *part[300];
  for (int i = 0; i < 300; i++) part[i] = tc_select(x, 0, 299 - i);
  *stacked = tc_add_s(tc_stack(part, 300, -1), 1);
  return tc_add_s(tc_concat(part, 300, 0), 1);
}

TC_COMPILE tc_tensor *sequence(const tc_tensor *x TC_SHAPE("f32[260,1,2]"), const tc_tensor *h TC_SHAPE("f32[1,2]"),
                               const tc_tensor *wi TC_SHAPE("f32[2,2]"), const tc_tensor *wh TC_SHAPE("f32[2,2]")) {
  return tc_rnn(x, h, (tc_recurrent_weights){.w_ih = wi, .w_hh = wh}, false, true, NULL);
}

int main(void) {
  static model m;
  tc_tensor *x = tc_ones(TC_DIMS(2, 4), TC_F32), *stacked;
  for (int i = 0; i < MANY; i++) {
    m.at[i].w = tc_requires_grad_(tc_full(TC_DIMS(4), i % 2 ? 0.5 : 2, TC_F32), true);
    m.mean[i] = tc_zeros(TC_DIMS(4), TC_F32), m.square[i] = tc_zeros(TC_DIMS(4), TC_F32);
  }
  for (int t = 1; t < 3; t++) show(step(&m, x, t));
  tc_tensor *y = joined(tc_randn(TC_DIMS(300, 3), 1, TC_F32), &stacked);
  show(tc_sub(tc_transpose(stacked, 0, 1), tc_reshape(y, TC_DIMS(300, 3))));
  /* eagerly, and recorded */
  tc_tensor *wi = tc_eye(2, 2, TC_F32), *wh = tc_requires_grad_(tc_full(TC_DIMS(2, 2), 0.25, TC_F32), true), *g;
  x = tc_randn(TC_DIMS(260, 1, 2), 2, TC_F32);
  show(sequence(x, tc_zeros(TC_DIMS(1, 2), TC_F32), wi, tc_detach(wh)));
  tc_set_enabled(false);
  y = sequence(x, tc_zeros(TC_DIMS(1, 2), TC_F32), wi, wh);
  if (!tc_grad(tc_sum(y, TC_ALL, false), 1, &wh, &g)) puts(tc_error());
  tc_set_enabled(true);
  return finish();
}
// CHECK-DAG: remark: 'step' compiled: {{.*}} ops in {{[0-9]+}} kernels [-Rpass=tc]
// CHECK-DAG: remark: 'joined' compiled: {{.*}} ops in {{[0-9]+}} kernel{{s?}} [-Rpass=tc]
// CHECK-DAG: remark: 'sequence' compiled: {{.*}} ops in {{[0-9]+}} kernels [-Rpass=tc]
// CHECK-NOT: graph break
// CHECK-NOT: operands
// CHECK-DAG: step {{.*}} 2 0 0
// CHECK-DAG: joined {{.*}} 1 0 0
// CHECK-DAG: sequence {{.*}} 1 0 0
