// TC_FUNCTION_SCOPE: a scope up to the end of the function.
// RUN: %capture > %t.txt && %check < %t.txt && ! grep -q 'frees nothing' %t.txt
#include "capture.h"

// The whole body: the scope leaves no trace.
TC_COMPILE tc_tensor *whole(const tc_tensor *x TC_SHAPE("f32[N]")) {
  TC_FUNCTION_SCOPE;
  tc_tensor *h = tc_exp(x);
  return tc_keep(tc_add(h, tc_neg(h)));
}

// No jump leads over it: what is behind it is compiled.
TC_COMPILE tc_tensor *broken(const tc_tensor *x TC_SHAPE("f32[N]")) {
  TC_FUNCTION_SCOPE;
  tc_tensor *h = tc_exp(x);
  printf("break\n");
  return tc_keep(tc_add(h, tc_abs(h)));
}

TC_COMPILE void nothing(tc_tensor *x TC_SHAPE("f32[N]")) {
  TC_FUNCTION_SCOPE;
  tc_copy_(x, tc_exp(tc_neg(x)));
}

static tc_tensor *helper(const tc_tensor *x) {
  TC_FUNCTION_SCOPE;
  return tc_keep(tc_tanh(tc_neg(x)));
}

TC_COMPILE tc_tensor *nested(const tc_tensor *x TC_SHAPE("f32[N]"), int n) {
  TC_FUNCTION_SCOPE;
  tc_tensor *h = helper(x);
  for (int i = 0; i < n; i++) {
    TC_FUNCTION_SCOPE;
    h = tc_keep(tc_add(helper(h), x));
  }
  return tc_keep(h);
}

// Checks in front of it tell what is known behind it.
struct model { int n, kind[2], calls; };
typedef tc_tensor *function(const tc_tensor *);
static tc_tensor *same(const tc_tensor *x) { return (tc_tensor *)x; }
static function *function_of(int kind) {
  static function *const table[] = {tc_exp, same, tc_tanh};
  return kind >= 0 && kind < 3 ? table[kind] : NULL;
}
TC_COMPILE bool checked(struct model *m, const tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor **out) {
  *out = NULL;
  if (m->n != 2 || m->kind[0] != 2) return false;
  if (m->kind[1] != 0) return false;
  TC_FUNCTION_SCOPE;
  const tc_tensor *h = x;
  for (int i = 0; i < m->n; i++) h = function_of(m->kind[i])(h);
  *out = tc_keep((tc_tensor *)h);
  m->calls++;
  return true;
}
// A segment in front of it ends there, and one begins.
TC_COMPILE tc_tensor *between(const tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor **first) {
  *first = tc_exp(x);
  TC_FUNCTION_SCOPE;
  tc_tensor *h = tc_neg(x);
  printf("break\n");
  return tc_keep(tc_add(h, tc_abs(h)));
}
TC_COMPILE void falls(tc_tensor *x TC_SHAPE("f32[N]"), int n) {
  if (n < 1) return;
  TC_FUNCTION_SCOPE;
  tc_copy_(x, tc_tanh(tc_neg(x)));
}
TC_COMPILE tc_tensor *inner(const tc_tensor *x TC_SHAPE("f32[N]"), int n) {
  for (int i = 0; i < n; i++) {
    tc_tensor *h = tc_tanh(x);
    TC_FUNCTION_SCOPE;
    if (i == 1) return tc_keep(tc_add(h, tc_exp(x)));
    tc_copy_(h, tc_exp(h));
    tc_free(h);
  }
  return NULL;
}
TC_COMPILE tc_tensor *unknown(const tc_tensor *x TC_SHAPE("f32[N]"), int k) { return function_of(k)(x); }

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(24), 1, TC_F32);
  show(whole(x));
  show(broken(x));
  nothing(x);
  show(x);
  show(nested(x, 3));
  tc_tensor *y;
  struct model m = {2, {2, 0}, 0};
  bool ok = checked(&m, x, &y);
  printf("%d %d\n", ok, m.calls);
  show(y);
  m.kind[0] = 1;
  ok = checked(&m, x, &y);
  printf("%d %d %d\n", ok, m.calls, y != NULL);
  show(between(x, &y));
  show(y);
  falls(x, 1), falls(x, 0);
  show(x);
  show(inner(x, 3));
  show(unknown(x, 2));
  return finish();
}
// CHECK-DAG: remark: 'whole' compiled: 3 ops in 1 kernel [
// CHECK-DAG: remark: 'broken' compiled: 3 ops in 2 kernels, 2 segments
// CHECK-DAG: remark: 'nothing' compiled: 3 ops in 1 kernel [
// CHECK-DAG: remark: 'nested' compiled: {{.*}} 2 segments
// CHECK-DAG: remark: 'checked' compiled: 2 ops in 1 kernel [
// CHECK-DAG: remark: 'between' compiled: 4 ops in 3 kernels, 3 segments
// CHECK-DAG: remark: 'falls' compiled: 3 ops in 1 kernel [
// CHECK-DAG: 'unknown' not compiled: which element of 'table' is meant is not known
