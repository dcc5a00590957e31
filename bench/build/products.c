/* products.c - five functions around matrix products. */
#include <tcompile.h>

#include "mlp.c"

TC_COMPILE tc_tensor *dense(const tc_tensor *x TC_SHAPE("f32[B,I]"),
                            const tc_tensor *w TC_SHAPE("f32[O,I]"),
                            const tc_tensor *b TC_SHAPE("f32[O]")) {
  return tc_gelu(tc_linear(x, w, b));
}

TC_COMPILE tc_tensor *gated(const tc_tensor *x TC_SHAPE("f32[B,I]"),
                            const tc_tensor *gate TC_SHAPE("f32[I,H]"),
                            const tc_tensor *up TC_SHAPE("f32[I,H]"),
                            const tc_tensor *down TC_SHAPE("f32[H,I]")) {
  return tc_matmul(tc_mul(tc_silu(tc_matmul(x, gate)), tc_matmul(x, up)), down);
}

TC_COMPILE tc_tensor *gram(const tc_tensor *x TC_SHAPE("f32[N,D]")) {
  return tc_div_s(tc_matmul(tc_transpose(x, 0, 1), x), (double)tc_size(x, 0));
}

TC_COMPILE tc_tensor *distances(const tc_tensor *a TC_SHAPE("f32[N,D]"),
                                const tc_tensor *b TC_SHAPE("f32[M,D]")) {
  tc_tensor *aa = tc_sum(tc_square(a), TC_AXES(-1), true),
            *bb = tc_sum(tc_square(b), TC_AXES(-1), false);
  tc_tensor *ab = tc_matmul(a, tc_transpose(b, 0, 1));
  return tc_sqrt(tc_maximum_s(tc_sub(tc_add(aa, bb), tc_mul_s(ab, 2)), 0));
}
