// TC_AUTOCAST: scopes, what they convert, scopes around calls, which are guards, and breaks in scopes.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

#define X const tc_tensor *x TC_SHAPE("f32[4,4]")
#define W const tc_tensor *w TC_SHAPE("f32[4,4]")

TC_COMPILE tc_tensor *twice(X, W) {
  tc_tensor *y;
  TC_AUTOCAST(TC_BF16) y = tc_softmax(tc_matmul(tc_matmul(x, w), w), -1);
  return y;
}

// The inner scope, and what is behind both.
TC_COMPILE tc_tensor *nested(X, W) {
  tc_tensor *y;
  TC_AUTOCAST(TC_BF16) {
    y = tc_matmul(x, w);
    TC_AUTOCAST(TC_F16) y = tc_matmul(y, w);
    TC_NO_AUTOCAST y = tc_matmul(y, w);
  }
  return tc_matmul(y, w);
}

static tc_tensor *layer(const tc_tensor *x, const tc_tensor *w) { return tc_relu(tc_matmul(x, w)); }

// Of functions that are called, too; left by return.
TC_COMPILE tc_tensor *called(X, W) {
  TC_AUTOCAST(TC_BF16) { return layer(x, w); }
  return NULL;
}

// A number has the dtype that the operand has by then; a question about the scope is a constant.
TC_COMPILE tc_tensor *numbers(const tc_tensor *x TC_SHAPE("bf16[4]")) {
  tc_tensor *y;
  TC_AUTOCAST(TC_BF16) y = tc_pow_s(x, tc_autocast_dtype() == TC_BF16 ? 1.01 : 0);
  return y;
}

// In place: nothing.
TC_COMPILE void in_place(tc_tensor *x TC_SHAPE("bf16[4]")) { TC_AUTOCAST(TC_BF16) tc_exp_(x); }

// A break inside: segments are in the scope that they stand in.
TC_COMPILE tc_tensor *parted(X, W) {
  tc_tensor *y;
  TC_AUTOCAST(TC_BF16) {
    y = tc_matmul(x, w);
    printf("%s\n", tc_dtype_name(tc_dtype_of(y)));
    y = tc_add(tc_matmul(y, w), x);
  }
  return y;
}

// Code for scopes around the calls as well, and without.
TC_COMPILE_WITH("autocast=bf16") tc_tensor *around(X, W) { return tc_matmul(x, w); }
TC_COMPILE tc_tensor *plain(X, W) { return tc_matmul(x, w); }
// Where it is all the same, there is no guard.
TC_COMPILE tc_tensor *same(X, W) { return tc_add(x, w); }

static tc_tensor *whole(int seed) { return tc_round(tc_mul_s(tc_randn(TC_DIMS(4, 4), (uint64_t)seed, TC_F32), 2)); }

int main(void) {
  const tc_tensor *x = whole(1), *w = whole(2);
  show(twice(x, w));
  show(nested(x, w));
  show(called(x, w));
  tc_tensor *h = tc_full(TC_DIMS(4), 2, TC_BF16);
  show(numbers(h));
  in_place(h);
  show(h);
  show(parted(x, w));
  printf("%s\n", tc_dtype_name(tc_dtype_of(around(x, w))));
  show(plain(x, w));
  TC_AUTOCAST(TC_BF16) {
    printf("%s\n", tc_dtype_name(tc_dtype_of(around(x, w))));
    printf("%s\n", tc_dtype_name(tc_dtype_of(plain(x, w))));
    show(same(x, w));
    show(twice(x, w));
  }
  TC_AUTOCAST(TC_F16) printf("%s\n", tc_dtype_name(tc_dtype_of(around(x, w))));
  return finish();
}
// CHECK-DAG: twice {{.*}} 2 0 0
// CHECK-DAG: nested {{.*}} 1 0 0
// CHECK-DAG: called {{.*}} 1 0 0
// CHECK-DAG: numbers {{.*}} 1 0 0
// CHECK-DAG: in_place {{.*}} 1 0 0
// CHECK-DAG: parted {{.*}} 1 0 0
// CHECK-DAG: around [autocast=bf16] {{.*}} 1 0 0
// CHECK-DAG: around {{.*}} 1 0 1
// CHECK-DAG: plain {{.*}} 1 0 1
// CHECK-DAG: same {{.*}} 1 0 0
