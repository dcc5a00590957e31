// Many operands that are written: none may overlap another one.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum { MANY = 9, N = 8 };

TC_COMPILE void scale(tc_tensor *const p[MANY] TC_SHAPE("f32[N]"), const tc_tensor *x TC_SHAPE("f32[N]")) {
  for (int i = 0; i < MANY; i++) tc_mul_(p[i], tc_add_s(x, i));
}

// Parts of one memory, each `apart` elements behind the one before, in another order; x begins at `at`.
static void parts(int64_t apart, int64_t at, int64_t n) {
  static const int order[MANY] = {4, 7, 1, 0, 8, 5, 2, 6, 3};
  tc_tensor *room = tc_arange(200, 1, 1, TC_F32), *p[MANY];
  for (int i = 0; i < MANY; i++) p[i] = tc_slice(room, 0, apart * order[i], apart * order[i] + n, 1);
  scale(p, tc_slice(room, 0, at, at + n, 1));
  show(room);
}

int main(void) {
  parts(N, N * MANY, N);      // side by side
  parts(N + 3, 190, N);       // with room between
  parts(N, 190, 0);           // no elements
  parts(N - 1, 190, N);       // one element is shared
  parts(N, N * MANY - 1, N);  // x shares one
  parts(N, 3 * N + 1, N - 2); // x lies within one
  parts(0, 190, N);           // all are one
  return finish();
}
// CHECK: remark: 'scale' compiled:
// CHECK: scale {{.*}} 3 0 4 overlap 4
