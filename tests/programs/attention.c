/* Attention as it is written: scores, their softmax, weights times values are one kernel, which gives what the body
 * gives: of all dtypes, masks, heads and lengths; rows that see nothing, infinite scores, no keys at all. */
#include "attention.h"

#define FORMS(T)                                                                                                       \
  TC_COMPILE static tc_tensor *plain_##T(const tc_tensor *q TC_SHAPE(#T "[B,H,T,D]"),                                  \
                                         const tc_tensor *k TC_SHAPE(#T "[B,H,S,D]"),                                  \
                                         const tc_tensor *v TC_SHAPE(#T "[B,H,S,E]")) {                                \
    return attend(scores_of(q, k), v);                                                                                 \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *causal_##T(const tc_tensor *q TC_SHAPE(#T "[B,H,T,D]"),                                 \
                                          const tc_tensor *k TC_SHAPE(#T "[B,H,S,D]"),                                 \
                                          const tc_tensor *v TC_SHAPE(#T "[B,H,S,E]")) {                               \
    tc_tensor *s = scores_of(q, k);                                                                                    \
    return attend(hidden(seen(q, k, 0), s), v);                                                                        \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *window_##T(const tc_tensor *q TC_SHAPE(#T "[B,H,T,D]"),                                 \
                                          const tc_tensor *k TC_SHAPE(#T "[B,H,S,D]"),                                 \
                                          const tc_tensor *v TC_SHAPE(#T "[B,H,S,E]")) {                               \
    tc_tensor *s = scores_of(q, k);                                                                                    \
    return attend(hidden(seen(q, k, 9), s), v);                                                                        \
  }                                                                                                                    \
  /* what the softmax gives goes on; heads are merged behind it */                                                     \
  TC_COMPILE static tc_tensor *scaled_##T(const tc_tensor *q TC_SHAPE(#T "[B,H,T,D]"),                                 \
                                          const tc_tensor *k TC_SHAPE(#T "[B,H,S,D]"),                                 \
                                          const tc_tensor *v TC_SHAPE(#T "[B,H,S,E]")) {                               \
    tc_tensor *w = tc_mul(tc_softmax(tc_tanh(scores_of(q, k)), -1), tc_arange(tc_size(k, 2), 1, 0.01, TC_F32));        \
    tc_tensor *y = tc_matmul(tc_cast(w, tc_dtype_of(v)), v);                                                           \
    return tc_add_s(tc_contiguous(tc_transpose(y, 1, 2)), 1);                                                          \
  }                                                                                                                    \
  TC_COMPILE_WITH("max_kernels=1")                                                                                     \
  static tc_tensor *dropped_##T(const tc_tensor *q TC_SHAPE(#T "[B,H,T,D]"), const tc_tensor *k TC_SHAPE(#T "[B,H,S,D]"), \
                                const tc_tensor *v TC_SHAPE(#T "[B,H,S,E]"), int64_t seed) {                           \
    return attend_dropped(q, k, v, seed);                                                                              \
  }                                                                                                                    \
  TC_COMPILE_WITH("max_kernels=1")                                                                                     \
  static tc_tensor *of_seen_##T(const tc_tensor *q TC_SHAPE(#T "[B,H,T,D]"), const tc_tensor *k TC_SHAPE(#T "[B,H,S,D]"), \
                                const tc_tensor *v TC_SHAPE(#T "[B,H,S,E]"), const tc_tensor *mask TC_SHAPE("bool[B,1,T,S]")) { \
    return attend_seen(mask, scores_of(q, k), v);                                                                      \
  }
FORMS(f32)
FORMS(f64)
FORMS(bf16)
FORMS(f16)

/* A mask of bool that not all heads have; a bias; queries of one projection; fewer heads of keys. */
TC_COMPILE static tc_tensor *masked(const tc_tensor *q TC_SHAPE("f32[B,H,T,D]"), const tc_tensor *k TC_SHAPE("f32[B,H,S,D]"),
                                    const tc_tensor *v TC_SHAPE("f32[B,H,S,E]"), const tc_tensor *mask TC_SHAPE("bool[B,1,T,S]"),
                                    const tc_tensor *bias TC_SHAPE("f32[H,1,S]")) {
  tc_tensor *s = tc_add(scores_of(q, k), bias);
  return attend(hidden(mask, s), v);
}
TC_COMPILE static tc_tensor *projected(const tc_tensor *x TC_SHAPE("f32[B,T,96]")) {
  return attend_projected(x);
}
TC_COMPILE_WITH("max_kernels=1")
static tc_tensor *grouped(const tc_tensor *q TC_SHAPE("f32[B,6,T,D]"), const tc_tensor *k TC_SHAPE("f32[B,2,S,D]"),
                          const tc_tensor *v TC_SHAPE("f32[B,2,S,E]")) {
  return attend_groups(q, k, v, false);
}
/* Heads that share keys are rows of one product; the mask knows which place a row is of. */
TC_COMPILE_WITH("max_kernels=1")
static tc_tensor *grouped_causal(const tc_tensor *q TC_SHAPE("f32[B,6,T,D]"), const tc_tensor *k TC_SHAPE("f32[B,2,S,D]"),
                                 const tc_tensor *v TC_SHAPE("f32[B,2,S,E]")) {
  return attend_groups(q, k, v, true);
}
TC_COMPILE static tc_tensor *dropped(const tc_tensor *q TC_SHAPE("f32[B,H,T,D]"), const tc_tensor *k TC_SHAPE("f32[B,H,S,D]"),
                                     const tc_tensor *v TC_SHAPE("f32[B,H,S,E]"), int64_t seed) {
  return attend_some(scores_of(q, k), v, seed);
}
/* Hidden before the softmax by one mask and behind it by another, or by a bias; rows that are none.  Where a row's scores are
 * all -inf, weights that the mask leaves are NaN. */
TC_COMPILE static tc_tensor *two_masks(const tc_tensor *q TC_SHAPE("f32[B,H,T,D]"), const tc_tensor *k TC_SHAPE("f32[B,H,S,D]"),
                                       const tc_tensor *v TC_SHAPE("f32[B,H,S,E]"), const tc_tensor *mask TC_SHAPE("bool[B,1,T,S]")) {
  tc_tensor *w = tc_softmax(hidden(seen(q, k, 3), scores_of(q, k)), -1);
  return tc_matmul(tc_where(mask, w, tc_zeros_like(w)), v);
}
TC_COMPILE static tc_tensor *biased(const tc_tensor *q TC_SHAPE("f32[B,H,T,D]"), const tc_tensor *k TC_SHAPE("f32[B,H,S,D]"),
                                    const tc_tensor *v TC_SHAPE("f32[B,H,S,E]"), const tc_tensor *mask TC_SHAPE("bool[B,1,T,S]"),
                                    const tc_tensor *bias TC_SHAPE("f32[B,1,T,S]")) {
  return attend_seen(mask, tc_add(scores_of(q, k), bias), v);
}
TC_COMPILE_WITH("max_kernels=1")
static tc_tensor *some_rows(const tc_tensor *q TC_SHAPE("f32[B,H,T,D]"), const tc_tensor *k TC_SHAPE("f32[B,H,S,D]"),
                            const tc_tensor *v TC_SHAPE("f32[B,H,S,E]"), const tc_tensor *mask TC_SHAPE("bool[B,1,T,S]"),
                            const tc_tensor *none TC_SHAPE("bool[B,1,T,1]")) {
  tc_tensor *w = tc_softmax(hidden(mask, scores_of(q, k)), -1);
  return tc_matmul(tc_where(none, tc_zeros_like(w), w), v);
}
/* The weights are a result, too. */
TC_COMPILE static tc_tensor *shown(const tc_tensor *q TC_SHAPE("f32[B,H,T,D]"), const tc_tensor *k TC_SHAPE("f32[B,H,S,D]"),
                                   const tc_tensor *v TC_SHAPE("f32[B,H,S,E]"), tc_tensor **weights) {
  *weights = tc_softmax(scores_of(q, k), -1);
  return tc_matmul(*weights, v);
}

/* ---- both ways --------------------------------------------------------------------------------- */

#define CHECK_FORMS(T, DTYPE, tolerance)                                                                               \
  {                                                                                                                    \
    const tc_tensor *q = numbers(B, H, T_, D, 1, DTYPE), *k = numbers(B, H, S, D, 2, DTYPE);                           \
    const tc_tensor *v = numbers(B, H, S, E, 3, DTYPE);                                                                \
    COMPARE(plain_##T, tolerance, q, k, v)                                                                             \
    COMPARE(causal_##T, tolerance, q, k, v)                                                                            \
    COMPARE(window_##T, tolerance, q, k, v)                                                                            \
    COMPARE(scaled_##T, tolerance, q, k, v)                                                                            \
    COMPARE(dropped_##T, tolerance, q, k, v, 7)                                                                        \
    COMPARE(of_seen_##T, tolerance, q, k, v, mask)                                                                     \
    COMPARE(of_seen_##T, tolerance, q, k, v, tc_zeros_like(mask)) /* nobody sees anything: 0 */                        \
  }

static void check_forms(int B, int H, int T, int S, int D, int E) {
  const int T_ = T;
  TC_SCOPE {
    const tc_tensor *mask = tc_gt(tc_rand(TC_DIMS(B, 1, T, S), 4, TC_F32), tc_full(TC_DIMS(1), 0.7, TC_F32));
    CHECK_FORMS(f32, TC_F32, 1e-5)
    CHECK_FORMS(f64, TC_F64, 1e-12)
    CHECK_FORMS(bf16, TC_BF16, 0.05)
    CHECK_FORMS(f16, TC_F16, 0.01)
  }
}

static void check_others(int B, int H, int T, int S, int D, int E) {
  TC_SCOPE {
    const tc_tensor *q = numbers(B, H, T, D, 1, TC_F32), *k = numbers(B, H, S, D, 2, TC_F32), *v = numbers(B, H, S, E, 3, TC_F32);
    const tc_tensor *mask = tc_gt(tc_rand(TC_DIMS(B, 1, T, S), 4, TC_F32), tc_full(TC_DIMS(1), 0.6, TC_F32));
    const tc_tensor *bias = tc_randn(TC_DIMS(H, 1, S), 5, TC_F32);
    COMPARE(masked, 1e-5, q, k, v, mask, bias)
    COMPARE(masked, 1e-5, q, k, v, tc_zeros_like(mask), bias) /* nobody sees anything: NaN */
    COMPARE(dropped, 1e-5, q, k, v, 7)
    const tc_tensor *low = tc_log(tc_relu(numbers(B, 1, T, S, 9, TC_F32))); /* half of it -inf */
    COMPARE(two_masks, 1e-5, q, k, v, mask)
    COMPARE(biased, 1e-5, q, k, v, mask, low)
    COMPARE(some_rows, 1e-5, q, k, v, mask, tc_logical_not(tc_any(mask, TC_DIMS(-1), true)))
    if (T) COMPARE(projected, 1e-5, tc_randn(TC_DIMS(B, T, 96), 6, TC_F32))
    tc_tensor *weights[2];
    COMPARE(shown, 1e-5, q, k, v, weights)
  }
  TC_SCOPE {
    const tc_tensor *q = numbers(B, 6, T, D, 1, TC_F32), *k = numbers(B, 2, S, D, 2, TC_F32), *v = numbers(B, 2, S, E, 3, TC_F32);
    COMPARE(grouped, 1e-5, q, k, v)
    COMPARE(grouped_causal, 1e-5, q, k, v)
    /* scores of inf are NaN; of -inf they are no key */
    const tc_tensor *far = tc_mul_s(numbers(B, 6, T, D, 8, TC_F32), 1e38);
    COMPARE(grouped, 1e-5, far, tc_mul_s(k, 1e38), v)
    COMPARE(grouped, 1e-5, tc_mul_s(q, 1e18), tc_mul_s(k, 1e18), v)
  }
}

/* The maximum of no keys is nothing that kernels know: bodies sum nothing. */
static void check_no_keys(void) {
  TC_SCOPE {
    const tc_tensor *y = plain_f32(numbers(1, 2, 5, 8, 1, TC_F32), numbers(1, 2, 0, 8, 2, TC_F32), numbers(1, 2, 0, 7, 3, TC_F32));
    CHECK(same(y, tc_zeros(TC_DIMS(1, 2, 5, 7), TC_F32), 0));
  }
}

int main(void) {
  static const int size[][6] = {{1, 2, 5, 5, 8, 8},     {2, 3, 33, 70, 16, 20}, {1, 1, 1, 40, 8, 3},  {1, 2, 70, 33, 24, 8},
                                {1, 2, 130, 401, 17, 9}, {2, 1, 64, 385, 64, 64}, {1, 1, 40, 1, 4, 4}, {0, 2, 5, 5, 8, 8}, {1, 2, 0, 5, 8, 8},
                                {1, 1, 3, 800, 5, 200},  {1, 2, 50, 50, 1, 1}};
  for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
    const int *s = size[i];
    check_forms(s[0], s[1], s[2], s[3], s[4], s[5]);
    check_others(s[0], s[1], s[2], s[3], s[4], s[5]);
  }
  check_no_keys();
  printf("attention: ok\n");
  return 0;
}
