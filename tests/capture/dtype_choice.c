// Dtypes to choose from: code for each, tried in order; none of them is a fallback.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *embed(const tc_tensor *w TC_SHAPE("f32|bf16[V,D]"), const tc_tensor *ids TC_SHAPE("i32|i64[B,T]")) {
  tc_tensor *h = tc_embedding(w, ids);
  return tc_mul(h, tc_add_s(tc_cast(tc_unsqueeze(ids, -1), tc_dtype_of(w)), 1));
}

// With sizes of variants, and statements that do not depend on the dtype.
TC_COMPILE TC_SPECIALIZE("B=1") tc_tensor *counted(const tc_tensor *x TC_SHAPE("f32[B]"), const tc_tensor *n TC_SHAPE("u8|i32[B]")) {
  tc_tensor *h = tc_exp(x);
  printf("between\n");
  return tc_add(h, tc_sum(n, TC_ALL, false));
}

struct batch { tc_tensor *ids TC_SHAPE("i32|i64[N]"), *scale TC_SHAPE("f32[N]"); };
TC_COMPILE tc_tensor *member(const struct batch *b) { return tc_mul(b->scale, b->ids); }

// Inlined: each of the dtypes fits the declaration.
static tc_tensor *either(const tc_tensor *x TC_SHAPE("f32|f64[N]")) { return tc_mul_s(x, 2); }
TC_COMPILE tc_tensor *inlines(const tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *y TC_SHAPE("f64[N]")) {
  return tc_add(either(x), either(y));
}

// The end of statements that are the same for all dtypes stands in front of the code for each of them.
TC_COMPILE tc_tensor *behind(const tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *w TC_SHAPE("bf16|f32|f16[N]"), int n) {
  tc_tensor *result = NULL, *h = tc_exp(x);
  if (n != 3) goto out;
  result = tc_mul(h, w);
out:
  printf("out\n");
  return result;
}

// A choice that has a name is made once for all that have it: two of the eight combinations.
struct layer { tc_tensor *w TC_SHAPE("R=f32|bf16[I,O]"), *b TC_SHAPE("R=f32|bf16[O]"); };
TC_COMPILE tc_tensor *together(const tc_tensor *x TC_SHAPE("R = f32|bf16[N,I]"), const struct layer *l) {
  return tc_add(tc_matmul(x, l->w), l->b);
}

int main(void) {
  for (int w = 0; w < 2; w++)
    for (int i = 0; i < 3; i++) {
      tc_tensor *ids = tc_cast(tc_reshape(tc_arange(6, 0, 1, TC_I64), TC_DIMS(2, 3)), i == 0 ? TC_I32 : i == 1 ? TC_I64 : TC_I16);
      show(embed(tc_cast(tc_randn(TC_DIMS(6, 4), 1, TC_F32), w ? TC_BF16 : TC_F32), i == 2 ? tc_cast(ids, TC_I32) : ids));
    }
  for (int n = 1; n < 3; n++)
    for (int i = 0; i < 3; i++) show(counted(tc_ones(TC_DIMS(n), TC_F32), tc_ones(TC_DIMS(n), i == 0 ? TC_U8 : i == 1 ? TC_I32 : TC_I64)));
  for (int i = 0; i < 2; i++) show(member(&(struct batch){tc_arange(3, 1, 1, i ? TC_I64 : TC_I32), tc_ones(TC_DIMS(3), TC_F32)}));
  show(inlines(tc_ones(TC_DIMS(3), TC_F32), tc_ones(TC_DIMS(3), TC_F64)));
  for (int i = 0; i < 3; i++)
    for (int n = 2; n < 4; n++) show(behind(tc_ones(TC_DIMS(3), TC_F32), tc_ones(TC_DIMS(3), i == 0 ? TC_BF16 : i == 1 ? TC_F32 : TC_F16), n));
  for (int i = 0; i < 3; i++) {
    const tc_dtype d = i ? TC_BF16 : TC_F32;
    show(together(tc_ones(TC_DIMS(3, 4), i == 1 ? TC_BF16 : TC_F32), &(struct layer){tc_ones(TC_DIMS(4, 5), d), tc_ones(TC_DIMS(5), d)}));
  }
  return finish();
}
// CHECK: remark: 'embed' compiled for w=f32,ids=i32: 5 ops in
// CHECK: remark: 'embed' compiled for w=f32,ids=i64: 5 ops in
// CHECK: remark: 'embed' compiled for w=bf16,ids=i32: 5 ops in
// CHECK: remark: 'embed' compiled: 5 ops in
// CHECK: remark: 'counted' compiled for B=1,n=u8: 3 ops in
// CHECK: remark: 'counted' compiled for n=u8: 2 ops in 1 kernel, 1 segment
// CHECK: remark: 'member' compiled for ids=i32: 1 ops in 1 kernel
// CHECK: remark: 'member' compiled: 1 ops in 1 kernel
// CHECK: remark: 'inlines' compiled: 3 ops in 1 kernel
// CHECK: remark: 'together' compiled for R=f32: 2 ops in
// CHECK-NOT: 'together' compiled for
// CHECK: remark: 'together' compiled: 2 ops in
// CHECK-DAG: together [R=f32] {{.*}} 1 0 0 
// CHECK-DAG: together {{.*}}dtype_choice.c:38 {{.*}} 1 0 1 
// CHECK-DAG: embed {{.*}}dtype_choice.c:5 {{.*}} 1 0 0 
// CHECK-DAG: embed [w=f32,ids=i32] {{.*}} 2 0 0 
// CHECK-DAG: counted {{.*}} 1 0 2 
// CHECK-DAG: member [ids=i32] {{.*}} 1 0 0 
// CHECK-DAG: member {{.*}} 1 0 0 
// CHECK-DAG: behind {{.*}}dtype_choice.c:29 {{.*}} 1 0 0 
// CHECK-DAG: behind [w=f32] {{.*}} 1 0 0 
// CHECK-DAG: behind [w=bf16] {{.*}} 1 0 0 
