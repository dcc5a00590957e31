/* gradient_cases.h - a call of every differentiable function that api.def lists as TC_API, for gradients of it.
 *
 * Who includes it defines operands: a[3,4], b[3,4], v[4], w[4,5], u[5], all within (0.2, 0.8) and away from kinks;
 * INDEX and MATRIX_INDEX, the i64 tensors {2, 0, 1} and {{2, 0, 1, 1}, {0, 2, 2, 1}}; HERE, their device. */
#ifndef TC_TESTS_GRADIENT_CASES_H
#define TC_TESTS_GRADIENT_CASES_H

#include <tcompile.h>

#define LIST(...)                                                                                  \
  (const tc_tensor *[]) { __VA_ARGS__ }

/* Both results, the second of which may be missing. */
static tc_tensor *joined(tc_tensor *first, tc_tensor *second) {
  return second ? tc_add(tc_mul_s(first, 0.7), tc_mul(second, second)) : first;
}
static tc_tensor *var_mean(tc_tensor *x) {
  tc_tensor *mean, *var = tc_var_mean(x, TC_AXES(1), 1, false, &mean);
  return joined(var, mean);
}
static tc_tensor *split(tc_tensor *x) {
  tc_tensor *part[2];
  return tc_split(x, 2, 1, part) == 2 ? tc_mul(part[0], tc_exp(part[1])) : NULL;
}
static tc_tensor *frexp_(tc_tensor *x) {
  tc_tensor *exponent;
  return tc_frexp(x, &exponent);
}
static tc_tensor *sorted(tc_tensor *x) {
  tc_tensor *index;
  return tc_sort(x, 1, true, &index);
}
static tc_tensor *highest(tc_tensor *x) { return tc_topk(x, 2, 0, false, NULL); }
static tc_tensor *running(tc_tensor *x, bool most) {
  tc_tensor *index;
  return most ? tc_cummax(x, 1, &index) : tc_cummin(x, 0, &index);
}
static tc_tensor *with_index(tc_tensor *x, bool most) {
  tc_tensor *index;
  return most ? tc_max_with_index(x, TC_AXES(1), false, &index)
              : tc_min_with_index(x, TC_AXES(0), true, &index);
}

#define GRADIENT_CASES(X)                                                                          \
  X(tc_cast, tc_cast(tc_cast(a, TC_F64), TC_F64))                                                  \
  X(tc_full, tc_mul(a, tc_full(TC_DIMS(3, 4), 2, TC_F64)))                                         \
  X(tc_add_s, tc_add_s(a, 3))                                                                      \
  X(tc_sub_s, tc_sub_s(a, 3))                                                                      \
  X(tc_rsub_s, tc_rsub_s(a, 3))                                                                    \
  X(tc_mul_s, tc_mul_s(a, 3))                                                                      \
  X(tc_div_s, tc_div_s(a, 3))                                                                      \
  X(tc_rdiv_s, tc_rdiv_s(a, 3))                                                                    \
  X(tc_pow_s, tc_pow_s(a, 3))                                                                      \
  X(tc_remainder_s, tc_remainder_s(tc_mul_s(a, 3), 0.7))                                           \
  X(tc_maximum_s, tc_maximum_s(a, 0.513))                                                          \
  X(tc_minimum_s, tc_minimum_s(a, 0.513))                                                          \
  X(tc_where, tc_where(tc_gt(a, b), tc_exp(a), tc_mul(a, b)))                                      \
  X(tc_fma, tc_fma(a, b, v))                                                                       \
  X(tc_clamp, tc_clamp(a, 0.313, 0.677))                                                           \
  X(tc_clamp_min, tc_clamp_min(a, 0.313))                                                          \
  X(tc_clamp_max, tc_clamp_max(a, 0.677))                                                          \
  X(tc_lerp, tc_lerp(a, v, 0.3))                                                                   \
  X(tc_masked_fill, tc_masked_fill(a, tc_gt(a, b), 2))                                             \
  X(tc_leaky_relu, tc_leaky_relu(tc_sub_s(a, 0.513), 0.1))                                         \
  X(tc_elu, tc_elu(tc_sub_s(a, 0.513), 0.7))                                                       \
  X(tc_sum, tc_sum(a, TC_AXES(0), false))                                                          \
  X(tc_prod, tc_prod(a, TC_AXES(1), true))                                                         \
  X(tc_mean, tc_mean(a, TC_ALL, false))                                                            \
  X(tc_max, tc_max(a, TC_AXES(1), false))                                                          \
  X(tc_min, tc_min(a, TC_AXES(0), true))                                                           \
  X(tc_var, tc_var(a, TC_AXES(1), 1, false))                                                       \
  X(tc_std, tc_std(a, TC_AXES(0), 0, true))                                                        \
  X(tc_var_mean, var_mean(a))                                                                      \
  X(tc_frexp, frexp_(a))                                                                           \
  X(tc_max_with_index, with_index(a, true))                                                        \
  X(tc_min_with_index, with_index(a, false))                                                       \
  X(tc_logsumexp, tc_logsumexp(a, TC_AXES(1), false))                                              \
  X(tc_norm, tc_add(tc_norm(a, 2, TC_AXES(1), true), tc_norm(a, 3, TC_AXES(0), true)))             \
  X(tc_cumsum, tc_cumsum(a, 1))                                                                    \
  X(tc_sort, sorted(a))                                                                            \
  X(tc_topk, highest(a))                                                                           \
  X(tc_cummax, running(a, true))                                                                   \
  X(tc_cummin, running(a, false))                                                                  \
  X(tc_cumprod, tc_cumprod(a, 0))                                                                  \
  X(tc_reshape,                                                                                    \
    tc_mul(tc_reshape(a, TC_DIMS(4, 3)), tc_reshape(tc_transpose(b, 0, 1), TC_DIMS(4, -1))))       \
  X(tc_permute, tc_matmul(tc_permute(a, TC_AXES(1, 0)), b))                                        \
  X(tc_transpose, tc_matmul(tc_transpose(a, 0, 1), b))                                             \
  X(tc_expand, tc_mul(tc_expand(v, TC_DIMS(2, 3, 4)), a))                                          \
  X(tc_slice, tc_add(tc_slice(a, 1, 0, 4, 2), tc_slice(b, 1, 3, 0, -2)))                           \
  X(tc_select, tc_mul(tc_select(a, 0, -1), v))                                                     \
  X(tc_unfold, tc_square(tc_mul(tc_unfold(a, 1, 3, 1), tc_unfold(b, -1, 3, 1))))                    \
  X(tc_flip, tc_mul(tc_flip(a, TC_AXES(1)), b))                                                    \
  X(tc_squeeze, tc_mul(tc_squeeze(tc_slice(a, 0, 1, 2, 1), 0), v))                                 \
  X(tc_unsqueeze, tc_mul(tc_unsqueeze(v, 1), u))                                                   \
  X(tc_flatten, tc_square(tc_flatten(a, 0, 1)))                                                    \
  X(tc_contiguous, tc_square(tc_contiguous(tc_transpose(a, 0, 1))))                                \
  X(tc_concat, tc_square(tc_concat(LIST(a, b, a), 3, 1)))                                          \
  X(tc_stack, tc_square(tc_stack(LIST(a, b), 2, 1)))                                               \
  X(tc_pad, tc_square(tc_pad(a, TC_INTS(1, 0), TC_INTS(0, 2), 0.5)))                               \
  X(tc_tril, tc_square(tc_tril(a, 0)))                                                             \
  X(tc_triu, tc_square(tc_triu(a, 1)))                                                             \
  X(tc_repeat, tc_square(tc_repeat(a, TC_INTS(2, 1, 2))))                                          \
  X(tc_roll, tc_mul(tc_roll(a, 1, 1), b))                                                          \
  X(tc_gather, tc_square(tc_gather(a, 0, MATRIX_INDEX)))                                           \
  X(tc_index_select, tc_square(tc_index_select(a, 0, INDEX)))                                      \
  X(tc_embedding, tc_square(tc_embedding(w, INDEX)))                                               \
  X(tc_scatter, tc_square(tc_scatter(a, 0, tc_slice(MATRIX_INDEX, 0, 0, 1, 1), b)))                \
  X(tc_scatter_add, tc_square(tc_scatter_add(a, 0, MATRIX_INDEX, b)))                              \
  X(tc_matmul, tc_add(tc_matmul(a, w), tc_matmul(tc_matmul(b, v), tc_matmul(b, w))))               \
  X(tc_linear, tc_linear(a, tc_transpose(w, 0, 1), u))                                             \
  X(tc_outer, tc_outer(v, u))                                                                      \
  X(tc_einsum, tc_einsum("ij,jk,k->ik", LIST(a, w, u), 3))                                         \
  X(tc_softmax, tc_softmax(a, -1))                                                                 \
  X(tc_log_softmax, tc_log_softmax(a, 0))                                                          \
  X(tc_layer_norm, tc_layer_norm(a, 1, v, tc_select(b, 0, 0), 1e-5))                               \
  X(tc_rms_norm, tc_rms_norm(a, 1, v, 1e-5))                                                       \
  X(tc_batch_norm,                                                                                 \
    tc_batch_norm(a, v, tc_select(b, 0, 0), tc_select(b, 0, 1), tc_select(b, 0, 2), 1e-5))         \
  X(tc_cross_entropy, tc_cross_entropy(a, INDEX, TC_MEAN))                                         \
  X(tc_nll, tc_nll(a, INDEX, TC_SUM))                                                              \
  X(tc_mse, tc_mse(a, b, TC_MEAN))                                                                 \
  X(tc_bce_with_logits, tc_bce_with_logits(a, b, TC_NONE))                                         \
  X(tc_split, split(a))                                                                            \
  X(tc_clone, tc_mul(tc_clone(a), b))                                                              \
  X(tc_to, tc_mul(tc_to(a, HERE), b))

#endif
