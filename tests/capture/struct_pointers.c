// Pointers to structs in structs, arrays of them indexed in loops, arrays of tensors in members.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct norm { tc_tensor *weight TC_SHAPE("f32[D]"); double eps; };
struct linear { tc_tensor *w TC_SHAPE("f32[I,O]"), *bias TC_SHAPE("f32[O]"); };
struct block { struct norm *norm; struct linear up, *down; tc_tensor *gate[2] TC_SHAPE("f32[D]"); };
struct model { int n; struct block *block; struct block *const *all; struct { struct linear head; } out; };

static tc_tensor *linear(const struct linear *l, const tc_tensor *x) {
  tc_tensor *y = tc_matmul(x, l->w);
  return l->bias ? tc_add(y, l->bias) : y;
}
static tc_tensor *block(const struct block *b, const tc_tensor *x) {
  tc_tensor *h = tc_rms_norm(x, 1, b->norm->weight, b->norm->eps);
  h = linear(b->down, tc_silu(linear(&b->up, h)));
  for (int i = 0; i < 2; i++) h = tc_mul(h, b->gate[i]);
  return tc_add(x, h);
}

TC_COMPILE tc_tensor *forward(const struct model *m, const tc_tensor *x TC_SHAPE("f32[T,D]")) {
  tc_tensor *h = tc_mul_s(x, 0.5);
  for (int i = 0; i < m->n; i++) h = block(&m->block[i], h);
  return linear(&m->out.head, h);
}
TC_COMPILE tc_tensor *both(const struct model *m, const tc_tensor *x TC_SHAPE("f32[T,D]")) {
  return block(m->all[1], block(m->all[0], x));
}

static struct linear make(int i, int o, int seed) {
  return (struct linear){tc_randn(TC_DIMS(i, o), seed, TC_F32), tc_randn(TC_DIMS(o), seed + 1, TC_F32)};
}
int main(void) {
  struct norm norm[2];
  struct linear down[2];
  struct block b[2];
  for (int i = 0; i < 2; i++) {
    norm[i] = (struct norm){tc_randn(TC_DIMS(6), i, TC_F32), 1e-5};
    down[i] = make(8, 6, 10 + i);
    b[i] = (struct block){&norm[i], make(6, 8, 20 + i), &down[i], {norm[0].weight, norm[i].weight}};
  }
  struct block *all[] = {&b[1], &b[1]};
  struct model m = {2, b, all, {make(6, 3, 40)}};
  tc_tensor *x = tc_randn(TC_DIMS(5, 6), 77, TC_F32);
  show(forward(&m, x));
  show(both(&m, x));
  b[1].down = &down[0];
  tc_tensor *bias = down[0].bias;
  down[0].bias = NULL; // the body leaves it out
  show(forward(&m, x));
  down[0].bias = bias;
  show(forward(&m, x));
  return finish();
}
// CHECK: remark: 'forward' compiled: 1 ops in 1 kernel, 1 segment
// CHECK: remark: 'forward' compiled for m->block[i].up.bias != 0 && m->block[i].down->bias != 0: 9 ops
// CHECK: remark: 'forward' compiled for m->block[i].up.bias != 0 && !(m->block[i].down->bias != 0): 8 ops
// CHECK: remark: 'forward' compiled for m->out.head.bias != 0: 2 ops in 1 kernel
// CHECK: remark: 'forward' compiled for !(m->out.head.bias != 0): 1 ops in 1 kernel
// CHECK: remark: graph break in 'forward': the number of rounds
// CHECK: remark: 'both' compiled for m->all[0]->up.bias != 0: {{[0-9]+}} ops in {{[0-9]+}} kernels [
// CHECK-DAG: both {{.*}} 1 0 0 
