/* Attention that eager code differentiates: a call of the forward part leaves what its gradients need of each query, and neither
 * part has an array of weights.  Of all dtypes, masks, heads and lengths, against bodies. */
#include "attention.h"

#define OPERANDS(T, HEADS)                                                                                             \
  const tc_tensor *q TC_SHAPE(#T "[B,H,T,D]"), const tc_tensor *k TC_SHAPE(#T "[B," HEADS ",S,D]"),                    \
      const tc_tensor *v TC_SHAPE(#T "[B," HEADS ",S,E]")

#define FORMS(T)                                                                                                       \
  TC_COMPILE static tc_tensor *plain_##T(OPERANDS(T, "H")) { return attend(scores_of(q, k), v); }                      \
  TC_COMPILE static tc_tensor *causal_##T(OPERANDS(T, "H")) {                                                          \
    return attend(hidden(seen(q, k, 0), scores_of(q, k)), v);                                                          \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *window_##T(OPERANDS(T, "H")) {                                                          \
    return attend(hidden(seen(q, k, 9), scores_of(q, k)), v);                                                          \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *selected_##T(OPERANDS(T, "H")) {                                                        \
    return attend_dropped(q, k, v, 7);                                                                                 \
  }
FORMS(f32)
FORMS(f64)
FORMS(bf16)
FORMS(f16)

TC_COMPILE static tc_tensor *capped_scores(OPERANDS(f32, "H")) {
  return attend(capped(scores_of(q, k)), v);
}
TC_COMPILE static tc_tensor *grouped(const tc_tensor *q TC_SHAPE("f32[B,6,T,D]"), const tc_tensor *k TC_SHAPE("f32[B,2,S,D]"),
                                     const tc_tensor *v TC_SHAPE("f32[B,2,S,E]")) {
  return attend_groups(q, k, v, false);
}
TC_COMPILE static tc_tensor *dropped(OPERANDS(f32, "H")) { return attend_some(scores_of(q, k), v, 7); }
/* Weights in f32, and a product of bf16. */
TC_COMPILE static tc_tensor *mixed(OPERANDS(bf16, "H")) {
  tc_tensor *w = tc_softmax(tc_cast(scores_of(q, k), TC_F32), -1);
  return tc_matmul(tc_cast(w, TC_BF16), v);
}
/* Logits are scores of no product: what makes them is not made again. */
TC_COMPILE static tc_tensor *classes(const tc_tensor *x TC_SHAPE("f32[N,D]"), const tc_tensor *w TC_SHAPE("f32[C,D]")) {
  return tc_log_softmax(tc_matmul(x, tc_transpose(w, 0, 1)), -1);
}

/* y and the gradients of g where the function is y, one behind the other. */
typedef tc_tensor *function(const tc_tensor *q, const tc_tensor *k, const tc_tensor *v);
static tc_tensor *with_gradients(function *f, const tc_tensor *g, const tc_tensor *q, const tc_tensor *k, const tc_tensor *v) {
  const tc_tensor *of[] = {q, k, v};
  tc_tensor *d[3], *y = f(q, k, v);
  if (!y || !tc_grad_with(y, g, 3, of, 0, d)) return NULL;
  return tc_concat((const tc_tensor *[]){tc_flatten(tc_detach(y), 0, -1), tc_flatten(d[0], 0, -1), tc_flatten(d[1], 0, -1),
                                         tc_flatten(d[2], 0, -1)}, 4, 0);
}

#define CHECK_TAPE(f, tolerance)                                                                                       \
  TC_SCOPE {                                                                                                           \
    tc_set_enabled(false);                                                                                             \
    const tc_tensor *want = with_gradients(f, g, q, k, v);                                                             \
    tc_set_enabled(true);                                                                                              \
    const uint64_t before = hits_of(#f);                                                                               \
    const tc_tensor *got = with_gradients(f, g, q, k, v);                                                              \
    CHECK(hits_of(#f) > before);                                                                                       \
    if (!same(got, want, tolerance)) fprintf(stderr, #f " of [%d,%d,%d,%d,%d,%d]\n", B, H, T, S, D, E);                \
    CHECK(same(got, want, tolerance));                                                                                 \
  }

#define CHECK_FORMS(T_NAME, DTYPE, tolerance)                                                                          \
  {                                                                                                                    \
    const tc_tensor *q = leaf(B, H, T, D, 1, DTYPE), *k = leaf(B, H, S, D, 2, DTYPE), *v = leaf(B, H, S, E, 3, DTYPE); \
    const tc_tensor *g = numbers(B, H, T, E, 4, DTYPE);                                                                \
    CHECK_TAPE(plain_##T_NAME, tolerance)                                                                              \
    CHECK_TAPE(causal_##T_NAME, tolerance)                                                                             \
    CHECK_TAPE(window_##T_NAME, tolerance)                                                                             \
    CHECK_TAPE(selected_##T_NAME, tolerance)                                                                           \
  }

static void check(int B, int H, int T, int S, int D, int E) {
  TC_SCOPE {
    CHECK_FORMS(f32, TC_F32, 5e-5)
    CHECK_FORMS(f64, TC_F64, 2e-12)
    CHECK_FORMS(bf16, TC_BF16, 0.15)
    CHECK_FORMS(f16, TC_F16, 0.02)
  }
  TC_SCOPE {
    const tc_tensor *q = leaf(B, H, T, D, 1, TC_F32), *k = leaf(B, H, S, D, 2, TC_F32), *v = leaf(B, H, S, E, 3, TC_F32);
    const tc_tensor *g = numbers(B, H, T, E, 4, TC_F32);
    CHECK_TAPE(capped_scores, 1e-4)
    CHECK_TAPE(dropped, 1e-4)
  }
  TC_SCOPE {
    const tc_tensor *q = leaf(B, H, T, D, 1, TC_BF16), *k = leaf(B, H, S, D, 2, TC_BF16), *v = leaf(B, H, S, E, 3, TC_BF16);
    const tc_tensor *g = numbers(B, H, T, E, 4, TC_BF16);
    CHECK_TAPE(mixed, 0.15)
  }
  TC_SCOPE {
    const tc_tensor *q = leaf(B, 6, T, D, 1, TC_F32), *k = leaf(B, 2, S, D, 2, TC_F32), *v = leaf(B, 2, S, E, 3, TC_F32);
    const tc_tensor *g = numbers(B, 6, T, E, 4, TC_F32);
    CHECK_TAPE(grouped, 1e-4)
  }
}

/* A sequence whose weights would take 64 MiB: neither saved nor made. */
static void check_memory(void) {
  enum { T = 4096, D = 8 };
  TC_SCOPE {
    const tc_tensor *q = leaf(1, 1, T, D, 1, TC_F32), *k = leaf(1, 1, T, D, 2, TC_F32), *v = leaf(1, 1, T, D, 3, TC_F32);
    const long before = peak();
    CHECK(with_gradients(causal_f32, numbers(1, 1, T, D, 4, TC_F32), q, k, v));
    CHECK(with_gradients(dropped, numbers(1, 1, T, D, 4, TC_F32), q, k, v));
    CHECK(with_gradients(selected_f32, numbers(1, 1, T, D, 4, TC_F32), q, k, v));
    CHECK(with_gradients(capped_scores, numbers(1, 1, T, D, 4, TC_F32), q, k, v));
    CHECK(peak() - before < 24 << 10);
  }
}

static void check_classes(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_requires_grad_(tc_randn(TC_DIMS(30, 12), 1, TC_F32), true),
                    *w = tc_requires_grad_(tc_randn(TC_DIMS(70, 12), 2, TC_F32), true);
    const uint64_t before = hits_of("classes");
    CHECK(tc_backward(tc_sum(tc_square(classes(x, w)), TC_ALL, false)));
    CHECK(hits_of("classes") > before);
  }
}

int main(void) {
  static const int size[][6] = {{1, 2, 5, 5, 8, 8},    {2, 3, 33, 70, 16, 20}, {1, 1, 1, 40, 8, 3}, {1, 2, 70, 33, 24, 8},
                                {1, 2, 130, 401, 17, 9}, {2, 1, 64, 385, 64, 64}, {1, 1, 40, 1, 4, 4}, {1, 2, 0, 5, 8, 8}, {1, 2, 50, 50, 1, 1}};
  for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
    const int *s = size[i];
    check(s[0], s[1], s[2], s[3], s[4], s[5]);
  }
  check_classes();
  check_memory();
  printf("attention on the tape: ok\n");
  return 0;
}
