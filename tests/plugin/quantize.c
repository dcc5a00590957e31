// Products with weights of 8 and 4 bits: no array has them in another form, and scales of channels are in the epilogue.
// RUN: env TC_DUMP=loops %tc -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v2 2>&1 | %check %s
//
// What kernels ask of the optimiser and do not get is no warning of the user's module.
// RUN: %tc -O2 -flto -Werror -c %s -o %t.o -fplugin-arg-tc-backend=openmp -fplugin-arg-tc-isa=v2
#include <tcompile/nn.h>

// CHECK-LABEL: program int8: 1 kernels, workspace 0 bytes
// CHECK: matmul f32
// CHECK: load q[
// CHECK-NEXT: cast
// CHECK-NEXT: epilogue
// CHECK-NEXT: load s[n]
TC_COMPILE tc_tensor *int8(const tc_tensor *x TC_SHAPE("f32[N,I]"), const tc_tensor *q TC_SHAPE("i8[O,I]"), const tc_tensor *s TC_SHAPE("f32[O]")) {
  return tc_linear(x, tc_mul(tc_cast(q, TC_F32), tc_unsqueeze(s, -1)), NULL);
}

// CHECK-LABEL: program one_row: 1 kernels, workspace 0 bytes
// CHECK: nest i < O | j < I
// CHECK: load q[
// CHECK: sum
// CHECK: load s[i]
TC_COMPILE tc_tensor *one_row(const tc_tensor *x TC_SHAPE("f32[1,I]"), const tc_tensor *q TC_SHAPE("i8[O,I]"), const tc_tensor *s TC_SHAPE("f32[O]")) {
  return tc_linear(x, tc_mul(tc_cast(q, TC_F32), tc_unsqueeze(s, -1)), NULL);
}

#define W4 const tc_tensor *q TC_SHAPE("u8[O,G,16]"), const tc_tensor *s TC_SHAPE("f32[O,G]"), const tc_tensor *z TC_SHAPE("f32[O,G]")
// CHECK-LABEL: program int4: 1 kernels, workspace 0 bytes
// CHECK: matmul f32 m < N n < O k < 32*G (k0 < G, k1 < 2, k2 < 16)
TC_COMPILE tc_tensor *int4(const tc_tensor *x TC_SHAPE("f32[N,I]"), W4) { return tc_linear_int4(x, q, s, z, NULL); }

// CHECK-LABEL: program int4_row: 1 kernels, workspace 0 bytes
// CHECK: nest i < O | j < G k < 2 l < 16{{ +}}lanes l
TC_COMPILE tc_tensor *int4_row(const tc_tensor *x TC_SHAPE("f32[1,I]"), W4) { return tc_linear_int4(x, q, s, z, NULL); }

// Rows that are quantised in front of the product are stored as bytes, which it widens.
// CHECK-LABEL: program int8_rows: 2 kernels
// CHECK: buffer {{[0-9]+}} arena cast i8[N,I]
// CHECK: matmul i32
TC_COMPILE tc_tensor *int8_rows(const tc_tensor *x TC_SHAPE("f32[N,I]"), const tc_tensor *q TC_SHAPE("i8[O,I]"), const tc_tensor *s TC_SHAPE("f32[O]")) {
  tc_tensor *scale, *bytes = tc_quantize_rows(x, &scale);
  return tc_linear_int8_rows(bytes, scale, q, s, NULL);
}
