// Tensors leave a body on both sides of a comma, of a condition, and in front of a member and an element: these stay
// where they were, in what macros expand to as well (tc_mul_s).
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct pair { tc_tensor *a TC_SHAPE("f32[N]"), *b TC_SHAPE("f32[N]"); };
static inline void list(const struct pair *n, tc_tensor *out[2]) { out[0] = n->a, out[1] = n->b; }
TC_COMPILE tc_tensor *commas(const struct pair *s, const struct pair *t) {
  tc_tensor *p[2], *q[2];
  list(s, p), list(t, q);
  return tc_add(p[0], tc_exp(q[1]));
}

__attribute__((noinline)) static int asked(const tc_tensor *const *x, int n) { return printf("%d\n", n + tc_rank(x[0])); }
TC_COMPILE tc_tensor *conditions(const struct pair *s, int n) {
  const tc_tensor *h[1] = {tc_exp(s->a)};
  n = asked(h, n) > 2 ? asked(h, 1) : asked(h, 10);
  return tc_mul_s(h[0], n);
}

struct two { tc_tensor *part[2]; };
__attribute__((noinline)) static struct two both(tc_tensor *x, tc_tensor *y) { return printf("%d\n", tc_rank(x)), (struct two){{x, y}}; }
TC_COMPILE tc_tensor *members(const struct pair *s) {
  return tc_mul_s(tc_exp(both(tc_neg(s->a), s->b).part[0]), 3);
}

int main(void) {
  struct pair s = {tc_ones(TC_DIMS(3), TC_F32), tc_zeros(TC_DIMS(3), TC_F32)}, t = {s.b, s.a};
  show(commas(&s, &t));
  show(members(&s));
  show(conditions(&s, 1)), show(conditions(&s, 100));
  return finish();
}
// CHECK-NOT: frees nothing
// CHECK-DAG: commas {{.*}} 1 0 0 
