// Products of halves on GPUs: what many blocks would compute is an array first; f32 results, and updates of f32 weights,
// are left to the library in f32.
// RUN: env TC_DUMP=loops,schedule %cuda_texts -c %s -o %t.o > %t.txt 2>&1
// RUN: %if nvrtc %{ %machine_code -c %s -o %t.o %}
// RUN: sed -n '/^; loops of .* for cuda/,/^; schedule/p' %t.txt | %check %s
// RUN: sed -n '/^; schedule of .* for cuda/,/^; loops/p' %t.txt | %check --check-prefix=SCHEDULE %s
#include <tcompile.h>

#define HALF(x) tc_cast(x, TC_BF16)

// CHECK-LABEL: program many
// CHECK: kernel copy
// CHECK: matmul bf16 m < B n < 512 k < 512
// CHECK: load cast
// CHECK-NOT: load w
// SCHEDULE-LABEL: schedule of many
// SCHEDULE: library
TC_COMPILE tc_tensor *many(const tc_tensor *x TC_SHAPE("bf16[B,512]"), const tc_tensor *w TC_SHAPE("f32[512,512]")) {
  return tc_matmul(x, HALF(w));
}

// CHECK-LABEL: program few
// CHECK-NOT: kernel copy
// CHECK: load w
// SCHEDULE-LABEL: schedule of few
// SCHEDULE-NOT: library
// SCHEDULE: k-parts
TC_COMPILE tc_tensor *few(const tc_tensor *x TC_SHAPE("bf16[128,512]"), const tc_tensor *w TC_SHAPE("f32[512,512]")) {
  return tc_matmul(x, HALF(w));
}

// A short k is not shared out.
// SCHEDULE-LABEL: schedule of short_k
// SCHEDULE-NOT: k-parts
TC_COMPILE tc_tensor *short_k(const tc_tensor *x TC_SHAPE("bf16[128,256]"), const tc_tensor *w TC_SHAPE("f32[256,512]")) {
  return tc_matmul(x, HALF(w));
}

// CHECK-LABEL: program update
// CHECK: matmul bf16 m < 512 n < 512 k < B
// CHECK: product
// SCHEDULE-LABEL: schedule of update
// SCHEDULE: library
TC_COMPILE bool update(tc_tensor *w TC_SHAPE("f32[512,512]"), const tc_tensor *x TC_SHAPE("bf16[B,512]"),
                       const tc_tensor *dy TC_SHAPE("bf16[B,512]")) {
  const tc_tensor *g = tc_cast(tc_matmul(tc_transpose(x, 0, 1), dy), TC_F32);
  return tc_copy_(w, tc_sub(w, tc_mul_s(g, 0.1)));
}

// CHECK-LABEL: program wide
// CHECK: matmul bf16
// SCHEDULE-LABEL: schedule of wide
// SCHEDULE: library
TC_COMPILE tc_tensor *wide(const tc_tensor *x TC_SHAPE("bf16[B,512]"), const tc_tensor *w TC_SHAPE("bf16[512,512]")) {
  return tc_exp(tc_cast(tc_matmul(x, w), TC_F32));
}

// RUN: %not %cuda_texts -c %s -o %t.o -fplugin-arg-tc-matmul_precision=low 2>&1 | %check --check-prefix=WRONG %s
// WRONG: matmul_precision{{.*}}highest or high
// SCHEDULE-LABEL: schedule of rounded
// SCHEDULE: library
// SCHEDULE-NEXT: tf32
TC_COMPILE_WITH("matmul_precision=high")
tc_tensor *rounded(const tc_tensor *x TC_SHAPE("f32[B,512]"), const tc_tensor *w TC_SHAPE("f32[512,512]")) {
  return tc_exp(tc_matmul(x, w));
}

// SCHEDULE-LABEL: schedule of exact
// SCHEDULE-NOT: tf32
TC_COMPILE tc_tensor *exact(const tc_tensor *x TC_SHAPE("f32[B,512]"), const tc_tensor *w TC_SHAPE("f32[512,512]")) {
  return tc_exp(tc_matmul(x, w));
}
