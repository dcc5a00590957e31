/* attention.h - attention as programs write it, and comparisons of kernels with bodies. */
#ifndef TC_TEST_ATTENTION_H
#define TC_TEST_ATTENTION_H

#include "check.h"

#include <math.h>
#include <sys/resource.h>

/* q (B,H,T,D), k (B,H,S,D), v (B,H,S,E) */
static inline tc_tensor *scores_of(const tc_tensor *q, const tc_tensor *k) {
  return tc_mul_s(tc_matmul(q, tc_transpose(k, -2, -1)), 0.17);
}

static inline tc_tensor *attend(const tc_tensor *scores, const tc_tensor *v) {
  return tc_matmul(tc_softmax(scores, -1), v);
}

/* Which keys (S) a query (T,1) sees: those up to its own place, of `window` at most. */
static inline tc_tensor *seen(const tc_tensor *q, const tc_tensor *k, int64_t window) {
  const int64_t t = tc_size(q, 2), s = tc_size(k, 2);
  tc_tensor *at = tc_reshape(tc_arange(t, (double)(s - t), 1, TC_I64), TC_DIMS(t, 1)), *key = tc_arange(s, 0, 1, TC_I64);
  tc_tensor *causal = tc_le(key, at);
  return window ? tc_logical_and(causal, tc_gt(key, tc_sub_s(at, (double)window))) : causal;
}

static inline tc_tensor *hidden(const tc_tensor *mask, const tc_tensor *scores) {
  return tc_where(mask, scores, tc_full_like(scores, -INFINITY));
}

/* With heads that share keys: 6 of queries, 2 of keys. */
static inline tc_tensor *attend_groups(const tc_tensor *q, const tc_tensor *k, const tc_tensor *v, bool causal) {
  const int64_t b = tc_size(q, 0), s = tc_size(k, 2), d = tc_size(k, 3), e = tc_size(v, 3);
  tc_tensor *kk = tc_reshape(tc_expand(tc_reshape(k, TC_DIMS(b, 2, 1, s, d)), TC_DIMS(b, 2, 3, s, d)), TC_DIMS(b, 6, s, d));
  tc_tensor *vv = tc_reshape(tc_expand(tc_reshape(v, TC_DIMS(b, 2, 1, s, e)), TC_DIMS(b, 2, 3, s, e)), TC_DIMS(b, 6, s, e));
  tc_tensor *scores = scores_of(q, kk);
  return attend(causal ? hidden(seen(q, kk, 0), scores) : scores, vv);
}

static inline tc_tensor *capped(const tc_tensor *scores) { return tc_mul_s(tc_tanh(tc_mul_s(scores, 0.5)), 2); }

/* With one in five weights left out. */
static inline tc_tensor *attend_some(const tc_tensor *scores, const tc_tensor *v, int64_t seed) {
  tc_tensor *w = tc_softmax(scores, -1);
  tc_tensor *kept = tc_lt(tc_rand_like(w, (uint64_t)seed, TC_F32), tc_full(TC_DIMS(1), 0.8, TC_F32));
  return tc_matmul(tc_mul_s(tc_mul(w, tc_cast(kept, tc_dtype_of(w))), 1.25), v);
}

/* The same by tc_dropout, which selects, and causal; all queries see the first key, for those that see none are NaN even
 * where all weights are dropped. */
static inline tc_tensor *attend_dropped(const tc_tensor *q, const tc_tensor *k, const tc_tensor *v, int64_t seed) {
  tc_generator g = tc_generator_of((uint64_t)seed);
  tc_tensor *first = tc_eq(tc_arange(tc_size(k, 2), 0, 1, TC_I64), tc_full(TC_DIMS(1), 0, TC_I64));
  tc_tensor *w = tc_softmax(hidden(tc_logical_or(seen(q, k, 0), first), scores_of(q, k)), -1);
  return tc_matmul(tc_dropout(w, 0.2, true, &g), v);
}

/* The softmax written out. */
static inline tc_tensor *attend_written(const tc_tensor *scores, const tc_tensor *v) {
  tc_tensor *e = tc_exp(tc_sub(scores, tc_max(scores, TC_AXES(-1), true)));
  return tc_matmul(tc_div(e, tc_unsqueeze(tc_sum(e, TC_AXES(-1), false), -1)), v);
}

/* Weights of hidden scores are 0, also where all of a row are hidden. */
static inline tc_tensor *attend_seen(const tc_tensor *mask, const tc_tensor *scores, const tc_tensor *v) {
  tc_tensor *w = tc_softmax(hidden(mask, scores), -1);
  return tc_matmul(tc_where(mask, w, tc_zeros_like(w)), v);
}

static inline long peak(void) { /* of memory, KiB */
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return u.ru_maxrss;
}

/* Of queries, keys and values of one projection (B,T,96), two heads of 16: (B,T,32). */
static inline tc_tensor *attend_projected(const tc_tensor *x) {
  tc_tensor *part[3], *h[3];
  if (tc_split(x, 3, -1, part) < 0) return NULL;
  for (int i = 0; i < 3; i++)
    h[i] = tc_transpose(tc_reshape(part[i], TC_DIMS(tc_size(x, 0), tc_size(x, 1), 2, 16)), 1, 2);
  tc_tensor *y = attend(hidden(seen(h[0], h[1], 0), scores_of(h[0], h[1])), h[2]);
  return tc_reshape(tc_transpose(y, 1, 2), TC_DIMS(tc_size(x, 0), tc_size(x, 1), 32));
}

static bool same(const tc_tensor *a, const tc_tensor *b, double tolerance) {
  if (!a || !b || tc_numel(a) != tc_numel(b)) return false;
  const tc_tensor *x = tc_cast(a, TC_F64), *y = tc_cast(b, TC_F64);
  const tc_tensor *both = tc_logical_and(tc_isnan(x), tc_isnan(y));
  const tc_tensor *near = tc_le(tc_abs(tc_sub(x, y)), tc_full(TC_DIMS(1), tolerance, TC_F64));
  return tc_numel(a) == 0 || tc_item_int(tc_all(tc_logical_or(both, near), TC_ALL, false)) == 1;
}

#define COMPARE(f, tolerance, ...)                                                                                     \
  TC_SCOPE {                                                                                                           \
    tc_set_enabled(false);                                                                                             \
    const tc_tensor *want = f(__VA_ARGS__);                                                                            \
    tc_set_enabled(true);                                                                                              \
    const uint64_t before = hits_of(#f);                                                                               \
    const tc_tensor *got = f(__VA_ARGS__);                                                                             \
    CHECK(hits_of(#f) == before + 1);                                                                                  \
    if (!same(got, want, tolerance)) fprintf(stderr, #f " of [%d,%d,%d,%d,%d,%d]\n", B, H, T, S, D, E);                \
    CHECK(same(got, want, tolerance));                                                                                 \
  }

static tc_tensor *numbers(int a, int b, int c, int d, int seed, tc_dtype t) {
  return tc_cast(tc_randn(TC_DIMS(a, b, c, d), (uint64_t)seed, TC_F64), t);
}

static inline tc_tensor *leaf(int a, int b, int c, int d, int seed, tc_dtype t) {
  return tc_requires_grad_(numbers(a, b, c, d, seed, t), true);
}

#endif
