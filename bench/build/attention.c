/* attention.c - scaled dot-product attention of H heads with a causal mask. */
#include <math.h>
#include <tcompile.h>

TC_COMPILE tc_tensor *attention(const tc_tensor *q TC_SHAPE("f32[B,H,T,64]"),
                                const tc_tensor *k TC_SHAPE("f32[B,H,S,64]"),
                                const tc_tensor *v TC_SHAPE("f32[B,H,S,64]"),
                                const tc_tensor *mask TC_SHAPE("bool[T,S]")) {
  tc_tensor *scores = tc_mul_s(tc_matmul(q, tc_transpose(k, -2, -1)), 0.125); // (B,H,T,S)
  return tc_matmul(tc_softmax(tc_masked_fill(scores, mask, -INFINITY), -1), v);
}
