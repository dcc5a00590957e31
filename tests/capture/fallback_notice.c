// The third fallback in a row is told of once, with the guard and what to do; hits begin a new row.
// RUN: %capture > %t.txt && %check < %t.txt
// RUN: env TC_FALLBACK=default %t > %t.out 2> %t.silent && ! grep "in a row" %t.silent
// RUN: env TC_FALLBACK=notice %t > %t.out 2> %t.told && grep "in a row" %t.told
#include "capture.h"

TC_COMPILE tc_tensor *tokens(const tc_tensor *w TC_SHAPE("f32[V,D]"), const tc_tensor *ids TC_SHAPE("i64[B,T]")) {
  return tc_exp(tc_embedding(w, ids));
}
TC_COMPILE tc_tensor *sized(const tc_tensor *x TC_SHAPE("f32[N,4]")) { return tc_exp(x); }
TC_COMPILE tc_tensor *sometimes(const tc_tensor *x TC_SHAPE("f32[N,4]")) { return tc_exp(x); }
TC_COMPILE tc_tensor *few(const tc_tensor *x TC_SHAPE("f32[N<=4]")) { return tc_exp(x); }
TC_COMPILE tc_tensor *many(const tc_tensor *x TC_SHAPE("f32[N>=16]")) { return tc_exp(x); }
TC_COMPILE tc_tensor *eights(const tc_tensor *x TC_SHAPE("f32[N%8]")) { return tc_exp(x); }
TC_COMPILE TC_SPECIALIZE("N=1") tc_tensor *variant(const tc_tensor *x TC_SHAPE("f32[N,4]")) { return tc_exp(x); }

int main(void) {
  tc_tensor *w = tc_randn(TC_DIMS(6, 4), 1, TC_F32), *ids = tc_cast(tc_ones(TC_DIMS(2, 3), TC_F32), TC_I32);
  for (int i = 0; i < 5; i++) show(tokens(w, ids));
  for (int i = 0; i < 3; i++) show(sized(tc_ones(TC_DIMS(2, 3), TC_F32)));
  for (int i = 0; i < 3; i++) show(tc_add(tc_add(few(tc_ones(TC_DIMS(9), TC_F32)), many(tc_ones(TC_DIMS(9), TC_F32))), eights(tc_ones(TC_DIMS(9), TC_F32))));
  for (int i = 0; i < 9; i++) show(sometimes(tc_ones(TC_DIMS(2, i % 3 ? 3 : 4), TC_F32)));
  for (int i = 0; i < 5; i++) show(variant(tc_ones(TC_DIMS(2, 4), TC_F32)));
  return finish();
}
// CHECK-NOT: sometimes {{.*}}in a row
// CHECK-NOT: variant {{.*}}in a row
// CHECK-DAG: tcompile: tokens ({{.*}}fallback_notice.c:7) ran its body 3 times in a row, which is slow: operand 2 ({{[a-z]+}}) is i32, compiled for i64; write TC_SHAPE("i64|i32[...]"), or convert it with tc_cast (TC_FALLBACK=default silences this)
// CHECK-NOT: in a row
// CHECK-DAG: tcompile: sized ({{.*}}) ran its body 3 times in a row, which is slow: operand 1 ({{[a-z]+}}) has size 3 along axis 1, compiled for 4; write a name for it in TC_SHAPE, or add TC_SPECIALIZE
// CHECK-DAG: tcompile: few ({{.*}}: operand 1 ({{[a-z]+}}) has size 9 along axis 0, compiled for at most 4; write a wider range for it in TC_SHAPE, or add TC_SPECIALIZE
// CHECK-DAG: tcompile: many ({{.*}}: operand 1 ({{[a-z]+}}) has size 9 along axis 0, compiled for at least 16; write a wider range
// CHECK-DAG: tcompile: eights ({{.*}}: operand 1 ({{[a-z]+}}) has size 9 along axis 0, compiled for a multiple of 8; write a wider range
// CHECK-NOT: in a row
// CHECK-DAG: tokens {{.*}} 0 0 5 
