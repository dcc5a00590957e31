// Members and elements of one object are apart: one is read behind a write to another.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct pair { tc_tensor *now TC_SHAPE("f32[N]"), *next TC_SHAPE("f32[N]"), *kept[2] TC_SHAPE("f32[N]"); };

static void step(struct pair *p) {
  tc_tensor *before = p->now;
  tc_copy_(p->next, tc_mul_s(before, 0.5));
  p->now = p->next;
  p->next = before;
  tc_add_(p->kept[1], p->now);
}

TC_COMPILE void f(struct pair *p, struct pair q[2]) {
  for (int i = 0; i < 2; i++) step(p);
  for (int i = 0; i < 3; i++) step(&q[1]);
}

/* Through two pointers that may be the same. */
TC_COMPILE void g(struct pair *a, struct pair *b) {
  tc_tensor *before = a->now;
  tc_add_(a->next, tc_exp(before));
  a->now = a->next;
  a->next = before;
  tc_add_(b->kept[0], tc_neg(b->now));
}

/* What a result is stored to may be a member that is read behind it. */
TC_COMPILE tc_tensor *h(const tc_tensor *x TC_SHAPE("f32[N]"), const struct pair *p, tc_tensor **early) {
  *early = tc_exp(x);
  tc_tensor *y = tc_mul(x, p->now);
  for (int i = 0; i < 2; i++) y = tc_add(y, p->kept[i]);
  return y;
}

static struct pair make(uint64_t seed) {
  struct pair p;
  tc_tensor **t[] = {&p.now, &p.next, &p.kept[0], &p.kept[1]};
  for (uint64_t i = 0; i < 4; i++) *t[i] = tc_randn(TC_DIMS(24), seed + i, TC_F32);
  return p;
}
static void print(const struct pair *p) {
  show(p->now), show(p->next), show(p->kept[0]), show(p->kept[1]);
}

int main(void) {
  struct pair p = make(1), q[2] = {make(10), make(20)};
  f(&p, q);
  g(&p, &p);
  g(&p, &q[1]);
  struct pair r = make(30);
  tc_tensor *early;
  show(h(p.next, &r, &early)), show(early);
  show(h(p.next, &r, &r.kept[1])), show(r.kept[1]); // not by kernels
  print(&p), print(&q[0]), print(&q[1]);
  return finish();
}
// CHECK-NOT: graph break
// CHECK-DAG: remark: 'f' compiled: 15 ops in 2 kernels [
// CHECK-DAG: remark: 'g' compiled: 4 ops in 2 kernels [
// CHECK-DAG: remark: 'h' compiled: 4 ops in 1 kernel [
// CHECK-DAG: f {{.*}} 1 0 0 
// CHECK-DAG: g {{.*}} 1 0 0 
// CHECK-DAG: h {{.*}} 1 0 0 
