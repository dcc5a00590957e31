/* Attention and its gradients in one function: no array of weights is there, and kernels give what bodies give: of all
 * dtypes, masks, heads and lengths. */
#include "attention.h"

/* y of the scores, and its gradients by q, k, v where the cotangent is g, one behind the other. */
static inline tc_tensor *with_gradients(tc_tensor *y, const tc_tensor *g, const tc_tensor *q, const tc_tensor *k,
                                        const tc_tensor *v) {
  const tc_tensor *of[] = {q, k, v};
  tc_tensor *d[3];
  if (!tc_grad_with(y, g, 3, of, 0, d)) return NULL;
  const tc_tensor *all[] = {tc_flatten(y, 0, -1), tc_flatten(d[0], 0, -1), tc_flatten(d[1], 0, -1), tc_flatten(d[2], 0, -1)};
  return tc_concat(all, 4, 0);
}

/* The gradients without y. */
static inline tc_tensor *gradients(const tc_tensor *y, const tc_tensor *g, const tc_tensor *q, const tc_tensor *k, const tc_tensor *v) {
  const tc_tensor *of[] = {q, k, v};
  tc_tensor *d[3];
  if (!tc_grad_with(y, g, 3, of, 0, d)) return NULL;
  return tc_concat((const tc_tensor *[]){tc_flatten(d[0], 0, -1), tc_flatten(d[1], 0, -1), tc_flatten(d[2], 0, -1)}, 3, 0);
}

#define OPERANDS(T, HEADS)                                                                                             \
  const tc_tensor *q TC_SHAPE(#T "[B,H,T,D]"), const tc_tensor *k TC_SHAPE(#T "[B," HEADS ",S,D]"),                    \
      const tc_tensor *v TC_SHAPE(#T "[B," HEADS ",S,E]"), const tc_tensor *g TC_SHAPE(#T "[B,H,T,E]")

#define FORMS(T)                                                                                                       \
  TC_COMPILE static tc_tensor *plain_##T(OPERANDS(T, "H")) {                                                           \
    return with_gradients(attend(scores_of(q, k), v), g, q, k, v);                                                     \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *causal_##T(OPERANDS(T, "H")) {                                                          \
    tc_tensor *s = scores_of(q, k);                                                                                    \
    return with_gradients(attend(hidden(seen(q, k, 0), s), v), g, q, k, v);                                            \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *window_##T(OPERANDS(T, "H")) {                                                          \
    tc_tensor *s = scores_of(q, k);                                                                                    \
    return with_gradients(attend(hidden(seen(q, k, 9), s), v), g, q, k, v);                                            \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *alone_##T(OPERANDS(T, "H")) {                                                           \
    return gradients(attend(hidden(seen(q, k, 0), scores_of(q, k)), v), g, q, k, v);                                   \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *dropped_##T(OPERANDS(T, "H"), int64_t seed) {                                           \
    return with_gradients(attend_some(scores_of(q, k), v, seed), g, q, k, v);                                          \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *dropped_alone_##T(OPERANDS(T, "H"), int64_t seed) {                                     \
    return gradients(attend_some(capped(scores_of(q, k)), v, seed), g, q, k, v);                                       \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *selected_##T(OPERANDS(T, "H"), int64_t seed) {                                          \
    return with_gradients(attend_dropped(q, k, v, seed), g, q, k, v);                                                  \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *selected_alone_##T(OPERANDS(T, "H"), int64_t seed) {                                    \
    return gradients(attend_dropped(q, k, v, seed), g, q, k, v);                                                       \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *written_##T(OPERANDS(T, "H")) {                                                         \
    return with_gradients(attend_written(hidden(seen(q, k, 0), scores_of(q, k)), v), g, q, k, v);                      \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *of_seen_##T(OPERANDS(T, "H"), const tc_tensor *mask TC_SHAPE("bool[B,1,T,S]")) {        \
    return with_gradients(attend_seen(mask, scores_of(q, k), v), g, q, k, v);                                          \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *capped_##T(OPERANDS(T, "H")) {                                                          \
    return with_gradients(attend(capped(scores_of(q, k)), v), g, q, k, v);                                             \
  }
FORMS(f32)
FORMS(f64)
FORMS(bf16)
FORMS(f16)

TC_COMPILE static tc_tensor *masked(OPERANDS(f32, "H"), const tc_tensor *mask TC_SHAPE("bool[B,1,T,S]"),
                                    const tc_tensor *bias TC_SHAPE("f32[H,1,S]")) {
  tc_tensor *s = tc_add(scores_of(q, k), bias);
  return with_gradients(attend(hidden(mask, s), v), g, q, k, v);
}
/* Queries, keys and values of one projection; gradients by that. */
TC_COMPILE static tc_tensor *projected(const tc_tensor *x TC_SHAPE("f32[B,T,96]"), const tc_tensor *g TC_SHAPE("f32[B,T,32]")) {
  tc_tensor *dx, *y = attend_projected(x);
  if (!tc_grad_with(y, g, 1, &x, 0, &dx)) return NULL;
  return tc_concat((const tc_tensor *[]){y, dx}, 2, 2);
}
TC_COMPILE static tc_tensor *grouped(const tc_tensor *q TC_SHAPE("f32[B,6,T,D]"), const tc_tensor *k TC_SHAPE("f32[B,2,S,D]"),
                                     const tc_tensor *v TC_SHAPE("f32[B,2,S,E]"), const tc_tensor *g TC_SHAPE("f32[B,6,T,E]")) {
  return with_gradients(attend_groups(q, k, v, false), g, q, k, v);
}

/* ---- both ways --------------------------------------------------------------------------------- */

#define CHECK_FORMS(T_NAME, DTYPE, tolerance)                                                                          \
  {                                                                                                                    \
    const tc_tensor *q = leaf(B, H, T, D, 1, DTYPE), *k = leaf(B, H, S, D, 2, DTYPE), *v = leaf(B, H, S, E, 3, DTYPE); \
    const tc_tensor *g = numbers(B, H, T, E, 4, DTYPE);                                                                \
    COMPARE(plain_##T_NAME, tolerance, q, k, v, g)                                                                     \
    COMPARE(causal_##T_NAME, tolerance, q, k, v, g)                                                                    \
    COMPARE(window_##T_NAME, tolerance, q, k, v, g)                                                                    \
    COMPARE(alone_##T_NAME, tolerance, q, k, v, g)                                                                     \
    COMPARE(capped_##T_NAME, tolerance, q, k, v, g)                                                                    \
    COMPARE(dropped_##T_NAME, tolerance, q, k, v, g, 7)                                                                \
    COMPARE(dropped_alone_##T_NAME, tolerance, q, k, v, g, 7)                                                          \
    COMPARE(selected_##T_NAME, tolerance, q, k, v, g, 7)                                                               \
    COMPARE(selected_alone_##T_NAME, tolerance, q, k, v, g, 7)                                                         \
    COMPARE(written_##T_NAME, tolerance, q, k, v, g)                                                                   \
    COMPARE(of_seen_##T_NAME, tolerance, q, k, v, g, mask)                                                             \
  }

static void check_forms(int B, int H, int T, int S, int D, int E) {
  TC_SCOPE {
    const tc_tensor *mask = tc_gt(tc_rand(TC_DIMS(B, 1, T, S), 4, TC_F32), tc_full(TC_DIMS(1), 0.6, TC_F32));
    CHECK_FORMS(f32, TC_F32, 5e-5)
    CHECK_FORMS(f64, TC_F64, 2e-12)
    CHECK_FORMS(bf16, TC_BF16, 0.15)
    CHECK_FORMS(f16, TC_F16, 0.02)
  }
}

static void check_others(int B, int H, int T, int S, int D, int E) {
  TC_SCOPE {
    const tc_tensor *q = leaf(B, H, T, D, 1, TC_F32), *k = leaf(B, H, S, D, 2, TC_F32), *v = leaf(B, H, S, E, 3, TC_F32);
    const tc_tensor *g = numbers(B, H, T, E, 4, TC_F32);
    const tc_tensor *mask = tc_gt(tc_rand(TC_DIMS(B, 1, T, S), 4, TC_F32), tc_full(TC_DIMS(1), 0.6, TC_F32));
    const tc_tensor *bias = tc_randn(TC_DIMS(H, 1, S), 5, TC_F32);
    COMPARE(masked, 1e-4, q, k, v, g, mask, bias)
    tc_tensor *x = tc_requires_grad_(tc_randn(TC_DIMS(B, T, 96), 6, TC_F32), true);
    if (T) COMPARE(projected, 1e-4, x, tc_randn(TC_DIMS(B, T, 32), 7, TC_F32))
  }
  TC_SCOPE {
    const tc_tensor *q = leaf(B, 6, T, D, 1, TC_F32), *k = leaf(B, 2, S, D, 2, TC_F32), *v = leaf(B, 2, S, E, 3, TC_F32);
    COMPARE(grouped, 1e-4, q, k, v, numbers(B, 6, T, E, 4, TC_F32))
  }
}

/* A sequence whose weights would take 64 MiB. */
static void check_memory(void) {
  enum { T = 4096, D = 8 };
  TC_SCOPE {
    const tc_tensor *q = leaf(1, 1, T, D, 1, TC_F32), *k = leaf(1, 1, T, D, 2, TC_F32), *v = leaf(1, 1, T, D, 3, TC_F32);
    const tc_tensor *g = numbers(1, 1, T, D, 4, TC_F32);
    const long before = peak();
    CHECK(plain_f32(q, k, v, g) && alone_f32(q, k, v, g) && dropped_f32(q, k, v, g, 7) && dropped_alone_f32(q, k, v, g, 7) &&
          capped_f32(q, k, v, g) && selected_f32(q, k, v, g, 7) && selected_alone_f32(q, k, v, g, 7) && written_f32(q, k, v, g));
    CHECK(peak() - before < 24 << 10);
  }
}

int main(void) {
  static const int size[][6] = {{1, 2, 5, 5, 8, 8},      {2, 3, 33, 70, 16, 20}, {1, 1, 1, 40, 8, 3},  {1, 2, 70, 33, 24, 8},
                                {1, 2, 130, 401, 17, 9}, {2, 1, 64, 385, 64, 64}, {1, 1, 40, 1, 4, 4}, {0, 2, 5, 5, 8, 8}, {1, 2, 0, 5, 8, 8},
                                {1, 1, 3, 800, 5, 200},  {1, 2, 50, 50, 1, 1},
                                {3, 1, 400, 1030, 8, 8}};
  for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
    const int *s = size[i];
    check_forms(s[0], s[1], s[2], s[3], s[4], s[5]);
    check_others(s[0], s[1], s[2], s[3], s[4], s[5]);
  }
  check_memory();
  printf("gradients of attention: ok\n");
  return 0;
}
