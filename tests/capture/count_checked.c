// Checks in front of the work tell the numbers that they ask for: loops over these are unrolled.
// RUN: %capture > %t.txt && %check < %t.txt
#include <assert.h>

#include "capture.h"

struct model {
  int n, kind;
  tc_tensor *w[6] TC_SHAPE("f32[M,M]");
};

TC_COMPILE tc_tensor *member(const struct model *m, const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  if (m->n != 6) return NULL;
  tc_tensor *h = tc_mul_s(x, 0.5);
  for (int i = 0; i < m->n; i++) h = tc_tanh(tc_matmul(h, m->w[i]));
  return h;
}

TC_COMPILE tc_tensor *chain(const struct model *m, const tc_tensor *x TC_SHAPE("f32[N,M]"), short rounds) {
  if (!m || m->n != 2 || !m->w[0] || m->kind || rounds != 3) {
    fprintf(stderr, "not this model\n");
    return NULL;
  }
  tc_tensor *h = tc_add_s(x, m->kind);
  for (int k = 0; k < rounds; k++)
    for (int i = 0; i < m->n; i++) h = tc_tanh(tc_matmul(h, m->w[i]));
  return h;
}

TC_COMPILE tc_tensor *asserted(const struct model *m, const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  assert(m->n == 4 && m->kind == 1);
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < m->n; i++) h = m->kind == 1 ? tc_add(h, m->w[i]) : tc_mul(h, m->w[i]);
  return h;
}

static int layers = 3;
TC_COMPILE int global(const struct model *m, const tc_tensor *x TC_SHAPE("f32[N,M]"), tc_tensor **out) {
  if (layers != 3) return -1;
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < layers; i++) h = tc_add(h, m->w[i]);
  *out = h;
  return 0;
}

// A copy of the number is the number, also behind a break.
TC_COMPILE tc_tensor *local(const tc_tensor *x TC_SHAPE("f32[N,M]"), unsigned char count) {
  int n = count;
  if (n == 2) {
  } else return NULL;
  if (__builtin_expect(count != 2, 0)) return NULL;
  tc_tensor *h = tc_neg(x);
  for (int i = 0; i < n; i++) h = tc_exp(tc_neg(h));
  printf("%d\n", n);
  for (int i = 0; i < n; i++) h = tc_exp(tc_neg(h));
  return h;
}

// Sizes as well.
TC_COMPILE tc_tensor *rows(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  if (tc_rank(x) != 2 || tc_size(x, 0) != 4) return NULL;
  tc_tensor *h = tc_select(x, 0, 0);
  for (int i = 1; i < tc_size(x, 0); i++) h = tc_maximum(h, tc_select(x, 0, i));
  return h;
}

// In functions that are called, too, several at once; the member is read in front of all of them.
static tc_tensor *folded(const struct model *m, const tc_tensor *x, int64_t n) {
  if (tc_size(m->w[0], 0) != n || tc_size(m->w[0], 1) != tc_size(x, 1) || tc_size(x, 0) != n)
    return tc_fail_as(TC_ERROR_ARGUMENT, "not %d rows", (int)n);
  tc_tensor *h = tc_select(m->w[0], 0, 0);
  for (int i = 1; i < tc_size(m->w[0], 0); i++)
    h = tc_maximum(h, tc_select(tc_add(m->w[0], x), 0, i));
  return h;
}
TC_COMPILE tc_tensor *sizes(const struct model *m, const tc_tensor *x TC_SHAPE("f32[N,K]")) {
  return folded(m, x, 5);
}

// What is made in front of a way out that is no error is compiled on both ways.
TC_COMPILE tc_tensor *shortcut(const tc_tensor *x TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = tc_exp(x);
  if (n > 2) return h;
  return tc_neg(h);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 5), 1, TC_F32);
  struct model m = {6, 0, {0}};
  for (int i = 0; i < 6; i++) m.w[i] = tc_randn(TC_DIMS(5, 5), 2 + i, TC_F32);
  tc_tensor *square = tc_randn(TC_DIMS(5, 5), 9, TC_F32);
  for (m.n = 5; m.n < 7; m.n++) show(member(&m, x));
  for (m.n = 1; m.n < 4; m.n++)
    for (m.kind = 0; m.kind < 2; m.kind++) show(chain(&m, x, (short)(m.n + 1)));
  show(chain(NULL, x, 3));
  m.n = 4, m.kind = 1;
  show(asserted(&m, square));
  for (layers = 2; layers < 5; layers++) {
    tc_tensor *out = NULL;
    printf("%d\n", global(&m, square, &out));
    show(out);
  }
  for (int n = 1; n < 4; n++) show(local(x, (unsigned char)n));
  for (int n = 3; n < 6; n++) show(rows(tc_randn(TC_DIMS(n, 5), 1, TC_F32)));
  for (int n = 4; n < 6; n++) show(sizes(&m, tc_randn(TC_DIMS(n, 5), 1, TC_F32)));
  for (int n = 2; n < 4; n++) show(shortcut(x, n));
  return finish();
}
// CHECK-NOT: graph break in 'member'
// CHECK: remark: 'member' compiled: 13 ops in
// CHECK: remark: 'chain' compiled: 13 ops in
// CHECK: remark: 'asserted' compiled: 5 ops in 1 kernel
// CHECK: remark: 'global' compiled: 4 ops in 1 kernel
// CHECK: remark: 'local' compiled: 9 ops in 2 kernels, 2 segments
// CHECK: remark: 'rows' compiled: {{[0-9]+}} ops in 1 kernel
// CHECK: remark: 'sizes' compiled: {{[0-9]+}} ops in 1 kernel
// CHECK: remark: 'shortcut' compiled: {{.*}} 2 segments
// CHECK-DAG: member {{.*}} 1 0 0 
// CHECK-DAG: chain {{.*}} 1 0 0 
// CHECK-DAG: asserted {{.*}} 1 0 0 
// CHECK-DAG: global {{.*}} 1 0 0 
// CHECK-DAG: rows {{.*}} 1 0 2 
// CHECK-DAG: sizes {{.*}} 1 0 1 
