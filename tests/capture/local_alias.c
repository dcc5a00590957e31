// What a pointer leads to is no local variable whose address is not taken, written or not; one whose address is taken
// (for a result of a function that is called) is asked for its address in front of the kernels.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct history { tc_tensor *s[4] TC_SHAPE("f32[D]"), *y[4] TC_SHAPE("f32[D]"); int n; };

// The two loops of L-BFGS.
TC_COMPILE tc_tensor *direction(const struct history *m, const tc_tensor *g TC_SHAPE("f32[D]")) {
  tc_tensor *q = tc_neg(g), *alpha[4] TC_SHAPE("f32[]");
  for (int i = m->n - 1; i >= 0; i--) {
    alpha[i] = tc_sum(tc_mul(m->s[i], q), TC_ALL, false);
    q = tc_sub(q, tc_mul(alpha[i], m->y[i]));
  }
  for (int i = 0; i < m->n; i++) {
    tc_tensor *beta = tc_sum(tc_mul(m->y[i], q), TC_ALL, false);
    q = tc_add(q, tc_mul(m->s[i], tc_sub(alpha[i], beta)));
  }
  return q;
}

// Its address is known to others here.
TC_COMPILE tc_tensor *shared(tc_tensor **list TC_SHAPE("f32[D]"), tc_tensor ***out, int n, int k) {
  static tc_tensor *mine[4] TC_SHAPE("f32[D]");
  *out = mine;
  for (int i = 0; i < n; i++) {
    mine[i] = tc_exp(list[i]);
    mine[k] = tc_add(mine[i], list[k]);
  }
  return mine[k];
}

int main(void) {
  struct history h = {.n = 0};
  tc_tensor *g = tc_randn(TC_DIMS(5), 9, TC_F32);
  for (; h.n < 4; h.n++) {
    show(direction(&h, g));
    h.s[h.n] = tc_randn(TC_DIMS(5), (uint64_t)h.n, TC_F32), h.y[h.n] = tc_mul_s(tc_randn(TC_DIMS(5), (uint64_t)h.n + 7, TC_F32), 0.1);
  }
  show(direction(&h, g));
  tc_tensor *list[4] = {g, h.s[0], h.s[1], h.s[2]}, **out;
  show(shared(list, &out, 3, 1));
  show(shared(out, &out, 3, 1)); // its own
  return finish();
}
// CHECK-NOT: 'direction': {{.*}} which may be the same memory
// CHECK-NOT: 'shared': {{.*}} which may be the same memory
// CHECK-DAG: shared {{.*}} 2 1 5 0 0
