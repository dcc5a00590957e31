// A number that the integers beside it do not hold is an error at the number.
// RUN: %not %tc -c %s -o %t.o 2>&1 | %check %s
// RUN: %plain -c %s -o %t.o
#include <tcompile.h>

TC_COMPILE tc_tensor *sum(const tc_tensor *x TC_SHAPE("u8[N]")) {
  return tc_add_s(x, 300);
  // CHECK: scalar_errors.c:[[#@LINE-1]]:22: error: tc_add_s: 300 does not fit u8, which holds 0 to 255
  // CHECK-NEXT: return tc_add_s(x, 300);
  // CHECK-NEXT: {{^ +(\| +)?}}^~~
}
TC_COMPILE tc_tensor *hide(const tc_tensor *x TC_SHAPE("i32[N]"), const tc_tensor *m TC_SHAPE("bool[N]")) {
  return tc_masked_fill(x, m, -__builtin_inf());
  // CHECK: scalar_errors.c:[[#@LINE-1]]:31: error: tc_masked_fill: -inf does not fit i32, which holds -2147483648 to 2147483647
}
TC_COMPILE tc_tensor *pad(const tc_tensor *x TC_SHAPE("i8[N]")) {
  return tc_pad(x, TC_DIMS(1), TC_DIMS(1), 128);
  // CHECK: scalar_errors.c:[[#@LINE-1]]:44: error: tc_pad: 128 does not fit i8, which holds -128 to 127
}
TC_COMPILE tc_tensor *fresh(const tc_tensor *x TC_SHAPE("i16[N]")) {
  return tc_add(x, tc_full(TC_DIMS(1), 1e9, TC_I16));
  // CHECK: scalar_errors.c:[[#@LINE-1]]:40: error: tc_full: 1000000000 does not fit i16
}
TC_COMPILE tc_tensor *like(const tc_tensor *x TC_SHAPE("u8[N]")) {
  return tc_add(x, tc_full_like(x, -1));
  // CHECK: scalar_errors.c:[[#@LINE-1]]:36: error: tc_full_like: -1 does not fit u8
}
TC_COMPILE void fill(tc_tensor *x TC_SHAPE("u8[N]")) {
  tc_fill_(x, 256);
  // CHECK: scalar_errors.c:[[#@LINE-1]]:15: error: tc_fill_: 256 does not fit u8
}
TC_COMPILE tc_tensor *bound(const tc_tensor *x TC_SHAPE("i64[N]")) {
  return tc_clamp_min(x, __builtin_nan(""));
  // CHECK: scalar_errors.c:[[#@LINE-1]]:26: error: tc_clamp_min: NaN does not fit i64
}
TC_COMPILE tc_tensor *mixed(const tc_tensor *x TC_SHAPE("u8[N]")) {
  return tc_mul(x, tc_scalar(256));
  // CHECK: scalar_errors.c:[[#@LINE-1]]:10: error: mul: 256 does not fit u8, which holds 0 to 255
}
// What means something is none.
TC_COMPILE tc_tensor *fine(const tc_tensor *x TC_SHAPE("u8[N]")) {
  return tc_logical_and(tc_lt_s(tc_clamp(x, -1, 300), 300), tc_gt_s(tc_div_s(x, 300), 0.5));
  // CHECK-NOT: error:
}
