// Views that are made again behind the kernels: an operand stays the caller's, whatever becomes of its views; a view
// that the function names twice is one tensor; what nobody is handed does not live on.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *fixed(const tc_tensor *x TC_SHAPE("f32[M,N]")) { return tc_reshape(x, TC_DIMS(24)); }

TC_COMPILE tc_tensor *grouped(const tc_tensor *x TC_SHAPE("f32[M,N]")) {
  return tc_reshape(x, TC_DIMS(tc_size(x, 0), 3, -1));
}

TC_COMPILE tc_tensor *rows(const tc_tensor *x TC_SHAPE("f32[M,N]")) { return tc_reshape(x, TC_DIMS(-1, 3)); }

TC_COMPILE tc_tensor *flat(const tc_tensor *x TC_SHAPE("f32[M,N]")) {
  return tc_contiguous(tc_flatten(tc_reshape(x, TC_DIMS(2, -1)), 0, -1));
}

TC_COMPILE tc_tensor *turned(const tc_tensor *x TC_SHAPE("f32[M,N]")) {
  return tc_reshape(tc_transpose(tc_slice(x, 0, 0, 4, 1), 0, 1), TC_DIMS(-1));
}

TC_COMPILE tc_tensor *passed_on(const tc_tensor *x TC_SHAPE("f32[M,N]")) {
  tc_tensor *y = tc_reshape(x, TC_DIMS(24)), *z = tc_exp(x);
  printf("between %d\n", (int)tc_numel(z));
  tc_free(z);
  return y;
}

// The exponential has no name behind the break; its views share it.
TC_COMPILE tc_tensor *shared(const tc_tensor *x TC_SHAPE("f32[M,N]")) {
  tc_tensor *h = tc_exp(x), *first = tc_slice(tc_transpose(h, 0, 1), 0, 0, 2, 1), *rest = tc_select(h, 0, 1);
  printf("between\n");
  tc_mul_(first, first);
  tc_tensor *y = tc_reshape(rest, TC_DIMS(-1));
  tc_free(first);
  if (y != rest) tc_free(rest);
  return y;
}

static tc_tensor *seen;

TC_COMPILE void named_twice(const tc_tensor *x TC_SHAPE("f32[M,N]"), tc_tensor **first, tc_tensor **second) {
  seen = tc_exp(x);
  tc_tensor *v = tc_transpose(tc_slice(x, 0, 1, 3, 1), 0, 1);
  *first = v;
  *second = v;
}

// Three calls, each result freed: where kernels ran, nothing is left but what the caller made, and that is whole.
static void look(tc_tensor *f(const tc_tensor *), const tc_tensor *x) {
  const size_t before = tc_memory().live;
  const tc_stats then = tc_stats_of(NULL);
  for (int i = 0; i < 3; i++) {
    tc_tensor *y = f(x);
    TC_SCOPE show(y);
    tc_free(y);
  }
  const tc_stats now = tc_stats_of(NULL);
  if (now.hits > then.hits && now.fallbacks == then.fallbacks && tc_memory().live != before)
    printf("%d bytes left\n", (int)(tc_memory().live - before));
  tc_tensor *other = tc_full(TC_DIMS(6, 4), 9, TC_F32);
  TC_SCOPE show(x);
  tc_free(other);
}

static tc_tensor *same(const tc_tensor *x) {
  tc_tensor *a, *b;
  named_twice(x, &a, &b);
  printf("%s\n", a == b ? "one tensor" : "two tensors");
  tc_free(seen);
  return a;
}

int main(void) {
  tc_tensor *(*all[])(const tc_tensor *) = {fixed, grouped, rows, flat, turned, passed_on, same};
  tc_tensor *x = tc_randn(TC_DIMS(4, 6), 1, TC_F32), *wide = tc_randn(TC_DIMS(4, 12), 2, TC_F32);
  for (int i = 0; i < 7; i++) {
    look(all[i], x);
    tc_tensor *stepped = tc_slice(wide, 1, 0, 12, 2);
    look(all[i], stepped);
    tc_free(stepped);
  }
  look(shared, x);
  tc_tensor *(*any[])(const tc_tensor *) = {rows, flat};
  for (int i = 0; i < 2; i++) {
    tc_tensor *empty = tc_zeros(TC_DIMS(0, 6), TC_F32);
    look(any[i], empty);
    tc_free(empty);
  }
  tc_free(x);
  tc_free(wide);
  return finish();
}
// CHECK: remark: 'fixed' not compiled: there is nothing to compile
// CHECK-DAG: turned {{.*}} 6 {{ *}}3 {{ *}}0
// CHECK-DAG: passed_on {{.*}} 6 {{ *}}3 {{ *}}0
// CHECK-DAG: named_twice {{.*}} 6 {{ *}}3 {{ *}}0
