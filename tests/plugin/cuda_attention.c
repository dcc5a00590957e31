// Attention of f32 and f64 on GPUs, with gradients: no array has the scores, the weights, the mask or what is made of them.
// RUN: env TC_DUMP=loops,schedule %cuda_texts -c %s -o %t.o > %t.txt 2>&1
// RUN: %if nvrtc %{ %machine_code -c %s -o %t.o %}
// RUN: sed -n '/^; loops of .* for cuda/,/^; schedule/p' %t.txt | %check %s
// RUN: sed -n '/^; schedule of .* for cuda/,/^; loops/p' %t.txt | %check --check-prefix=SCHEDULE %s
#include <math.h>
#include <tcompile.h>
#include <tcompile/nn.h>

#define OPERANDS(t, groups, w)                                                                      \
  const tc_tensor *q TC_SHAPE(t "[B,6,T," w "]"), const tc_tensor *k TC_SHAPE(t "[B," groups ",T," w "]"), \
      const tc_tensor *v TC_SHAPE(t "[B," groups ",T," w "]"), const tc_tensor *g TC_SHAPE(t "[B,6,T," w "]"), tc_tensor **d

static bool trained(const tc_tensor *y, const tc_tensor *g, const tc_tensor *q, const tc_tensor *k, const tc_tensor *v, tc_tensor **d) {
  const tc_tensor *of[] = {q, k, v};
  d[3] = tc_detach(y);
  return tc_grad_with(y, g, 3, of, 0, d);
}

// The product that is reduced beside its rows, sums of rows, gradients of queries, and those of keys and values.
// CHECK-LABEL: program single: 4 kernels
// CHECK-NOT: {{\[.*T,T\]}}
// SCHEDULE-LABEL: schedule of single
// SCHEDULE: template simt
// SCHEDULE: sides 128 64
TC_COMPILE bool single(OPERANDS("f32", "6", "64")) {
  tc_tensor *s = tc_mul_s(tc_matmul(q, tc_transpose(k, -2, -1)), 0.125);
  return trained(tc_matmul(tc_softmax(s, -1), v), g, q, k, v, d);
}

// Heads that share keys, whose gradients are summed afterwards.
// CHECK-LABEL: program shared
// CHECK-NOT: {{\[.*T,T\]}}
// SCHEDULE-LABEL: schedule of shared
TC_COMPILE bool shared(OPERANDS("f64", "2", "40")) {
  return trained(tc_attention(q, k, v, (tc_attention_options){.causal = true}), g, q, k, v, d);
}

#ifndef MACHINE_CODE // functions for many widths and lengths
// Rows that see keys on both sides, of widths that are known at run time only.
// CHECK-LABEL: program window
// CHECK-NOT: {{\[.*T,T\]}}
// SCHEDULE-LABEL: schedule of window
TC_COMPILE bool window(OPERANDS("f32", "6", "D")) {
  return trained(tc_attention(q, k, v, (tc_attention_options){.window = 3}), g, q, k, v, d);
}

// Few rows beside many keys, as in decoding, and what eager code differentiates: nothing is saved of each query and key.
// CHECK-LABEL: program decode
// CHECK-NOT: {{\[.*T,S\]}}
// SCHEDULE-LABEL: schedule of decode
TC_COMPILE tc_tensor *decode(const tc_tensor *q TC_SHAPE("f32[B,6,T,64]"), const tc_tensor *k TC_SHAPE("f32[B,6,S,64]"), const tc_tensor *v TC_SHAPE("f32[B,6,S,64]")) {
  return tc_attention(q, k, v, (tc_attention_options){.scale = 0.125});
}
#endif
