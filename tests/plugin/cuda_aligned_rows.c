// Rows of operands of products of halves are copied to where they are aligned, where that pays.
// REQUIRES: nvrtc
// RUN: env TC_DUMP=entries,cuda %tc_cuda -c %s -o %t.o -fplugin-arg-tc-cuda-arch=90 -fplugin-arg-tc-backend=cuda -fplugin-arg-tc-isa=v2 > %t.txt 2>&1
// RUN: grep -A400 '^static int .*_cuda(const struct tc_tensor' %t.txt | %check %s
// RUN: %check --check-prefix=FILL %s < %t.txt
#include <tcompile.h>

// CHECK-LABEL: {{^}}static int __tc_product_{{.*}}_cuda(
// CHECK: int64_t s_pitch0 = apart0 ?
// CHECK: const int off0 = tc_begins_off(in[0], s_pitch0 * 2, 16);
// CHECK: const int pays0 = (0 + off0 + off1) && tc_cuda_copies_pay(1.0 * (s_M) * (s_N) * (s_K),
// CHECK: const int worth1 = 0 | pays0;
// CHECK: const int align0 = off0 && (worth0 || tc_is_packed(in[0], apart0));
// CHECK-NEXT: if (align0) s_pitch0 = (in[0]->dim[1] + 7) / 8 * 8;
// CHECK: if (tc_is_packed(x0, apart0) || align0)
// CHECK-NEXT: bytes += ((s_M * s_pitch0) * 2 + 63) / 64 * 64;
// CHECK: tc_cuda_pack_rows(&call, x1, d1, s_pitch1);
// FILL: tc_hold_first<L>(b0 +
TC_COMPILE tc_tensor *product(const tc_tensor *x TC_SHAPE("bf16[M,K]"), const tc_tensor *w TC_SHAPE("bf16[K,N]")) { return tc_matmul(x, w); }

// Both products of a chain count; what they do not read stays as it is.
// CHECK-LABEL: {{^}}static int __tc_attention_{{.*}}_cuda(
// CHECK: const int64_t s_pitch3 = apart3 ?
// CHECK: const int off2 =
// CHECK-NOT: off3
// CHECK: const int pays0 = (0 + off0 + off1 + off2) && tc_cuda_chain_copies_pay(1.0 * (s_B) * (s_T) * (37) * (s_T) + 1.0 * (s_B) * (s_T) * (s_T) * (37),
// CHECK: const int worth2 =
TC_COMPILE tc_tensor *attention(const tc_tensor *q TC_SHAPE("f16[B,T,37]"), const tc_tensor *k TC_SHAPE("f16[B,T,37]"), const tc_tensor *v TC_SHAPE("f16[B,T,37]"),
                                const tc_tensor *r TC_SHAPE("f16[B,T,37]")) {
  return tc_add(tc_matmul(tc_softmax(tc_matmul(q, tc_transpose(k, -2, -1)), -1), v), r);
}

// Copies of four bytes need no more.
// CHECK-LABEL: {{^}}static int __tc_singles_{{.*}}_cuda(
// CHECK-NOT: off0
// CHECK: tcrt_cuda_pack(&call, x0, d0)
TC_COMPILE tc_tensor *singles(const tc_tensor *x TC_SHAPE("f32[M,K]"), const tc_tensor *w TC_SHAPE("f32[K,N]")) { return tc_matmul(x, w); }
