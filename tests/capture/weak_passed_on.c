// Numbers as tensors (tc_scalar) that pass a graph break promote behind it as they do in the body.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

// The dtypes of what k and an f32, a bf16 and an i32 give.
static void meet(const tc_tensor *k) {
  tc_tensor *one = tc_ones(TC_DIMS(2), TC_F32);
  const tc_dtype dtypes[] = {TC_F32, TC_BF16, TC_I32};
  for (int i = 0; i < 3; i++) printf("%s ", tc_dtype_name(tc_dtype_of(tc_mul(tc_cast(one, dtypes[i]), k))));
  printf("\n");
}

TC_COMPILE tc_tensor *number(const tc_tensor *x TC_SHAPE("bf16[N]"), double s, tc_tensor **kept) {
  tc_tensor *k = tc_exp(tc_scalar(s));
  printf("between\n");
  *kept = k;
  return tc_mul(x, k);
}

TC_COMPILE tc_tensor *integer(const tc_tensor *x TC_SHAPE("i32[N]"), double s, tc_tensor **kept) {
  tc_tensor *k = tc_add(tc_mul_s(tc_scalar(s), 2), tc_scalar(1));
  printf("between\n");
  tc_tensor *l = tc_maximum(k, tc_scalar(0.25));
  printf("and\n");
  *kept = l;
  return tc_mul(x, l);
}

// Rank 0 by way of an array: a tensor like any other.
TC_COMPILE tc_tensor *array(const tc_tensor *x TC_SHAPE("i32[N]"), double s, tc_tensor **kept) {
  tc_tensor *k = tc_exp(tc_select(tc_reshape(tc_scalar(s), TC_DIMS(1)), 0, 0));
  printf("between\n");
  *kept = k;
  return tc_mul(x, k);
}

TC_COMPILE tc_tensor *squeezed(const tc_tensor *x TC_SHAPE("i32[N]"), double s, tc_tensor **kept) {
  tc_tensor *k = tc_squeeze(tc_neg(tc_unsqueeze(tc_scalar(s), 0)), 0);
  *kept = tc_neg(k);
  return tc_mul(x, k);
}

TC_COMPILE tc_tensor *reduced(const tc_tensor *x TC_SHAPE("i32[N]"), double s, tc_tensor **kept) {
  tc_tensor *k = tc_max(tc_flip(tc_reshape(tc_mul_s(tc_scalar(s), 3), TC_DIMS(1, 1)), TC_ALL), TC_ALL, false);
  printf("between\n");
  *kept = k;
  return tc_mul(x, k);
}

TC_COMPILE tc_tensor *summed(const tc_tensor *x TC_SHAPE("f32[N]"), double s, tc_tensor **kept) {
  tc_tensor *k = tc_sum(tc_cast(x, TC_F64), TC_ALL, false), *l = tc_mul(tc_scalar(s), k);
  printf("between\n");
  *kept = l;
  return tc_mul(x, l);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(5), 1, TC_F32), *i = tc_cast(tc_mul_s(x, 10), TC_I32), *kept;
  tc_tensor *(*integers[])(const tc_tensor *, double, tc_tensor **) = {integer, array, squeezed, reduced};
  for (int n = 0; n < 4; n++) {
    tc_tensor *y = integers[n](i, 0.5, &kept);
    printf("%s ", tc_dtype_name(tc_dtype_of(y))), show(y);
    meet(kept);
  }
  tc_tensor *y = number(tc_cast(x, TC_BF16), 0.5, &kept);
  printf("%s ", tc_dtype_name(tc_dtype_of(y))), show(y);
  meet(kept);
  y = summed(x, 0.5, &kept);
  printf("%s ", tc_dtype_name(tc_dtype_of(y))), show(y);
  meet(kept);
  return finish();
}
// CHECK-NOT: another dtype
