/* every_function.h - a call of every function that makes tensors of tensors and numbers: X(function, call) over the
 * operands of OPERANDS.  The lists of elementwise functions come from graph/ops/api.def (CMakeLists.txt). */
#ifndef EVERY_FUNCTION_H
#define EVERY_FUNCTION_H

#include "elementwise_lists.h"

#define OPERANDS                                                                                   \
  const tc_tensor *x TC_SHAPE("f32[4,6]"), const tc_tensor *y TC_SHAPE("f32[4,6]"),                \
      const tc_tensor *w TC_SHAPE("f32[6,4]"), const tc_tensor *v TC_SHAPE("f32[6]"),              \
      const tc_tensor *i TC_SHAPE("i32[4,6]"), const tc_tensor *j TC_SHAPE("i32[4,6]"),            \
      const tc_tensor *l TC_SHAPE("i64[4]"), const tc_tensor *b TC_SHAPE("bool[4,6]")
#define PASSED x, y, w, v, i, j, l, b
enum { OPERAND_COUNT = 8 };

#define WITH_NUMBER(X)                                                                             \
  X(tc_add_s)                                                                                      \
  X(tc_sub_s) X(tc_rsub_s) X(tc_mul_s) X(tc_div_s) X(tc_rdiv_s) X(tc_pow_s) X(tc_remainder_s)      \
      X(tc_maximum_s) X(tc_minimum_s) X(tc_eq_s) X(tc_ne_s) X(tc_lt_s) X(tc_le_s) X(tc_gt_s)       \
          X(tc_ge_s) X(tc_leaky_relu) X(tc_elu) X(tc_full_like) X(tc_clamp_min) X(tc_clamp_max)
#define OVER_AXES(X)                                                                               \
  X(tc_sum)                                                                                        \
  X(tc_prod) X(tc_mean) X(tc_max) X(tc_min) X(tc_argmax) X(tc_argmin) X(tc_any) X(tc_all)          \
      X(tc_logsumexp)

#define OF_OTHERS(X)                                                                               \
  X(tc_contiguous, tc_contiguous(x))                                                               \
  X(tc_zeros_like, tc_zeros_like(x))                                                               \
  X(tc_ones_like, tc_ones_like(x))                                                                 \
  X(tc_rand_like, tc_rand_like(x, 1, TC_F32))                                                      \
  X(tc_randn_like, tc_randn_like(x, 1, TC_F32))                                                    \
  X(tc_clone, tc_clone(x))                                                                         \
  X(tc_cast, tc_cast(x, TC_F64))                                                                   \
  X(tc_where, tc_where(b, x, y))                                                                   \
  X(tc_fma, tc_fma(x, y, v))                                                                       \
  X(tc_clamp, tc_clamp(x, 0.25, 0.75))                                                             \
  X(tc_lerp, tc_lerp(x, y, 0.3))                                                                   \
  X(tc_masked_fill, tc_masked_fill(x, b, 2))                                                       \
  X(tc_var, tc_var(x, TC_AXES(1), 1, false))                                                       \
  X(tc_std, tc_std(x, TC_ALL, 0, true))                                                            \
  X(tc_norm, tc_norm(x, 2, TC_AXES(0), false))                                                     \
  X(tc_cumsum, tc_cumsum(x, 1))                                                                    \
  X(tc_argsort, tc_argsort(x, 1, false))                                                           \
  X(tc_cumprod, tc_cumprod(x, 0))                                                                  \
  X(tc_reshape, tc_reshape(x, TC_DIMS(3, -1)))                                                     \
  X(tc_permute, tc_permute(x, TC_AXES(1, 0)))                                                      \
  X(tc_transpose, tc_transpose(x, 0, 1))                                                           \
  X(tc_expand, tc_expand(v, TC_DIMS(3, 6)))                                                        \
  X(tc_slice, tc_slice(x, 1, 1, 5, 2))                                                             \
  X(tc_select, tc_select(x, 0, 2))                                                                 \
  X(tc_unfold, tc_unfold(x, 1, 3, 2))                                                              \
  X(tc_flip, tc_flip(x, TC_ALL))                                                                   \
  X(tc_squeeze, tc_squeeze(tc_slice(x, 0, 1, 2, 1), 0))                                            \
  X(tc_unsqueeze, tc_unsqueeze(x, 1))                                                              \
  X(tc_flatten, tc_flatten(x, 0, 1))                                                               \
  X(tc_concat, tc_concat((const tc_tensor *[]){x, y}, 2, 0))                                       \
  X(tc_stack, tc_stack((const tc_tensor *[]){x, y}, 2, 1))                                         \
  X(tc_pad, tc_pad(x, TC_DIMS(1, 0), TC_DIMS(0, 2), 3))                                            \
  X(tc_tril, tc_tril(x, 0))                                                                        \
  X(tc_triu, tc_triu(x, 1))                                                                        \
  X(tc_repeat, tc_repeat(x, TC_DIMS(2, 1)))                                                        \
  X(tc_roll, tc_roll(x, 2, 1))                                                                     \
  X(tc_gather, tc_gather(x, 1, i))                                                                 \
  X(tc_index_select, tc_index_select(x, 0, l))                                                     \
  X(tc_embedding, tc_embedding(w, l))                                                              \
  X(tc_one_hot, tc_one_hot(l, 5))                                                                  \
  X(tc_scatter, tc_scatter(x, 1, i, y))                                                            \
  X(tc_scatter_add, tc_scatter_add(x, 1, i, y))                                                    \
  X(tc_matmul, tc_matmul(x, w))                                                                    \
  X(tc_linear, tc_linear(x, y, NULL))                                                              \
  X(tc_outer, tc_outer(v, v))                                                                      \
  X(tc_einsum, tc_einsum("ij,jk->ki", (const tc_tensor *[]){x, w}, 2))                             \
  X(tc_softmax, tc_softmax(x, -1))                                                                 \
  X(tc_log_softmax, tc_log_softmax(x, 0))                                                          \
  X(tc_layer_norm, tc_layer_norm(x, 1, v, v, 1e-5))                                                \
  X(tc_rms_norm, tc_rms_norm(x, 1, v, 1e-5))                                                       \
  X(tc_batch_norm, tc_batch_norm(x, v, v, v, NULL, 1e-5))                                          \
  X(tc_cross_entropy, tc_cross_entropy(x, l, TC_MEAN))                                             \
  X(tc_nll, tc_nll(x, l, TC_SUM))                                                                  \
  X(tc_mse, tc_mse(x, y, TC_MEAN))                                                                 \
  X(tc_bce_with_logits, tc_bce_with_logits(x, y, TC_NONE))

/* Of numbers alone: added to an operand, so that there is something to refuse. */
#define OF_NUMBERS(X)                                                                              \
  X(tc_zeros, tc_zeros(TC_DIMS(4, 6), TC_F32))                                                     \
  X(tc_ones, tc_ones(TC_DIMS(4, 6), TC_F32))                                                       \
  X(tc_full, tc_full(TC_DIMS(4, 6), 0.5, TC_F32))                                                  \
  X(tc_scalar, tc_scalar(0.5))                                                                     \
  X(tc_scalar_int, tc_scalar_int(2))                                                               \
  X(tc_arange, tc_arange(6, 0, 1, TC_F32))                                                         \
  X(tc_eye, tc_eye(4, 6, TC_F32))                                                                  \
  X(tc_rand, tc_rand(TC_DIMS(4, 6), 1, TC_F32))                                                    \
  X(tc_randn, tc_randn(TC_DIMS(4, 6), 1, TC_F32))

#endif
