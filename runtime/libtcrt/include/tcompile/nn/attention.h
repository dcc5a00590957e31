/* attention.h - scaled dot-product attention, and rotary position embeddings.
 *
 *   tc_tensor *y = tc_attention(q, k, v, (tc_attention_options){.causal = true});
 *
 * In a compiled function it is one kernel that holds no matrix of scores (docs/programming-model.md). */
#ifndef TCOMPILE_NN_ATTENTION_H
#define TCOMPILE_NN_ATTENTION_H

#include <tcompile/nn/common.h>
#include <tcompile/library_begin.h>

/* Zeros and NULLs leave out what is not wanted.  Query i is at position offset + i, key j at position j. */
typedef struct tc_attention_options {
  double scale;             /* of the scores; 0: 1 / sqrt(D) */
  bool causal;              /* keys at later positions than the query are masked */
  int64_t offset;           /* of the first query; S - T with a cache of keys of earlier steps */
  int64_t window;           /* keys that are `window` positions or more away are masked; 0: none */
  const tc_tensor *lengths; /* i32|i64[B]: keys at positions from it on are masked; with q[B,H,T,D] */
  const tc_tensor *mask;    /* bool, broadcast to [B,H,T,S]: where it is false, the key is masked */
  const tc_tensor *bias;    /* floating, broadcast to [B,H,T,S]: added to the scores, of which it should have the dtype */
  const tc_tensor *slopes;  /* floating[H]: slope (key - query) is added, ALiBi: tc_alibi_slopes */
  double softcap;           /* c tanh(score / c) in place of a score; 0: none */
  double dropout;           /* probability, in [0, 1), with which a weight is 0, others being scaled up */
  tc_generator *generator;  /* of dropout; NULL: that of the thread */
  bool empty_is_zero;       /* queries that see no key give 0, as in PyTorch, at the cost of another kernel; else NaN */
} tc_attention_options;

/* Positions of queries, [T,1], and keys, [S]. */
static inline tc_tensor *tc_nn_queries(const tc_tensor *q, int64_t offset, tc_dtype dtype) {
  return tc_reshape(tc_arange(tc_size(q, -2), (double)offset, 1, dtype), TC_DIMS(tc_size(q, -2), 1));
}
static inline tc_tensor *tc_nn_keys(const tc_tensor *k, tc_dtype dtype) { return tc_arange(tc_size(k, -2), 0, 1, dtype); }

static inline const tc_tensor *tc_nn_both(const tc_tensor *a, const tc_tensor *b) {
  if (a) return tc_logical_and(a, b);
  return b;
}

/* Which keys are seen, broadcast to [B,H,T,S]; NULL: all. */
static inline const tc_tensor *tc_attention_seen(const tc_tensor *q, const tc_tensor *k, tc_attention_options o) {
  const tc_tensor *seen = o.mask;
  if (o.causal || o.window) {
    const tc_tensor *query = tc_nn_queries(q, o.offset, TC_I64), *key = tc_nn_keys(k, TC_I64);
    if (o.causal) seen = tc_nn_both(seen, tc_le(key, query));
    if (o.window) seen = tc_nn_both(seen, tc_gt(key, tc_sub_s(query, (double)o.window)));
    if (o.window && !o.causal) seen = tc_nn_both(seen, tc_lt(key, tc_add_s(query, (double)o.window)));
  }
  if (o.lengths) {
    const tc_tensor *length = tc_reshape(o.lengths, TC_DIMS(tc_size(o.lengths, 0), 1, 1, 1));
    seen = tc_nn_both(seen, tc_lt(tc_nn_keys(k, TC_I64), length));
  }
  return seen;
}

/* What masked keys get in place of a score: -infinity, so that they have no weight; of queries that see none, where
 * some[..,T,1] is not NULL and false, 0, so that weights and gradients are numbers. */
static inline tc_tensor *tc_attention_hidden(const tc_tensor *scores, const tc_tensor *seen, const tc_tensor *some) {
  const tc_dtype d = tc_dtype_of(scores);
  if (!some) return tc_where(seen, scores, tc_full_like(scores, -INFINITY));
  return tc_where(seen, scores, tc_where(some, tc_full(TC_DIMS(1), -INFINITY, d), tc_zeros(TC_DIMS(1), d)));
}

/* What the softmax is of: [..,H,T,S]. */
static inline tc_tensor *tc_attention_scores(const tc_tensor *q, const tc_tensor *k, const tc_tensor *seen,
                                             const tc_tensor *some, tc_attention_options o) {
  const double scale = o.scale != 0 ? o.scale : 1 / sqrt((double)tc_size(q, -1));
  tc_tensor *s = tc_mul_s(tc_matmul(q, tc_transpose(k, -2, -1)), scale);
  if (o.softcap != 0) s = tc_mul_s(tc_tanh(tc_div_s(s, o.softcap)), o.softcap);
  if (o.bias) s = tc_add(s, o.bias);
  if (o.slopes) {
    const tc_dtype d = tc_nn_wide(tc_dtype_of(o.slopes));
    const tc_tensor *away = tc_sub(tc_nn_keys(k, d), tc_nn_queries(q, o.offset, d));
    const tc_tensor *slope = tc_reshape(o.slopes, TC_DIMS(tc_size(o.slopes, 0), 1, 1));
    s = tc_add(s, tc_cast(tc_mul(slope, away), tc_dtype_of(s)));
  }
  return seen ? tc_attention_hidden(s, seen, some) : s;
}

/* x[..,G,S,D] for H heads, each of which comes H/G times: [..,H,S,D]. */
static inline const tc_tensor *tc_attention_shared(const tc_tensor *x, int64_t heads) {
  const int rank = tc_rank(x);
  tc_ints one = tc_shape(x), all = one;
  one.n = rank + 1;
  for (int i = rank; i > rank - 2; i--) one.v[i] = one.v[i - 1];
  one.v[rank - 2] = 1;
  tc_ints each = one;
  each.v[rank - 2] = heads / tc_size(x, -3);
  all.v[rank - 3] = heads;
  return tc_reshape(tc_expand(tc_reshape(x, one), each), all);
}

static inline tc_tensor *tc_attention_dropped(tc_tensor *w, double p, tc_generator *generator) {
  const tc_tensor *kept = tc_ge_s(tc_rand_like(w, tc_next_seed(generator), TC_F32), p);
  return tc_mul_s(tc_mul(w, tc_cast(kept, tc_dtype_of(w))), 1 / (1 - p));
}

/* What is wrong with the operands, as an error; true: nothing. */
static inline bool tc_attention_checked(const tc_tensor *q, const tc_tensor *k, const tc_tensor *v, tc_attention_options o) {
  const int rank = tc_rank(q);
  if (rank < 2 || tc_rank(k) != rank || tc_rank(v) != rank)
    return TC_NN_FAIL("tc_attention: q, k and v have %d, %d and %d axes; all have [..,T,D]", rank, tc_rank(k), tc_rank(v));
  if (rank > 2 && (tc_size(k, -3) != tc_size(v, -3) || tc_size(k, -3) < 1 || tc_size(q, -3) % tc_size(k, -3)))
    return TC_NN_FAIL("tc_attention: %lld heads of queries, %lld of keys and %lld of values", (long long)tc_size(q, -3),
                      (long long)tc_size(k, -3), (long long)tc_size(v, -3));
  if ((o.lengths && (rank != 4 || tc_rank(o.lengths) != 1)) || (o.slopes && (rank < 3 || tc_rank(o.slopes) != 1)))
    return TC_NN_FAIL("tc_attention: lengths are [B] of q[B,H,T,D], slopes [H] of q[..,H,T,D]");
  if (!(o.dropout >= 0 && o.dropout < 1)) return TC_NN_FAIL("tc_attention: %g is no probability of dropout", o.dropout);
  return true;
}

/* softmax(q k^T scale) v along keys: q[..,H,T,D], k[..,G,S,D], v[..,G,S,E], of one floating dtype, give [..,H,T,E].  G
 * divides H: query heads i H/G, ..., (i + 1) H/G - 1 see head i of keys and values (G = 1: multi-query).  Scores are capped,
 * then biased, then masked.  A query that sees no key is NaN, or 0 (empty_is_zero).  Errors: axes, heads, dropout outside
 * of [0, 1).  Inside of TC_AUTOCAST it is a product: q, k and v have the dtype of the scope.
 * Vaswani et al., Attention is all you need, 2017; Shazeer, Fast transformer decoding, 2019; Ainslie et al., GQA, 2023;
 * Press, Smith and Lewis, Train short, test long (ALiBi), 2022; as scaled_dot_product_attention of PyTorch. */
static inline tc_tensor *tc_attention(const tc_tensor *q, const tc_tensor *k, const tc_tensor *v, tc_attention_options o) {
  tc_tensor *y = NULL;
  if (!q || !k || !v || !tc_attention_checked(q, k, v, o)) return NULL;
  TC_SCOPE {
    q = tc_as_in_product(q);
    k = tc_as_in_product(k);
    v = tc_as_in_product(v);
    const bool shared = tc_rank(q) > 2 && tc_size(q, -3) != tc_size(k, -3);
    const tc_tensor *keys = shared ? tc_attention_shared(k, tc_size(q, -3)) : k;
    const tc_tensor *values = shared ? tc_attention_shared(v, tc_size(q, -3)) : v;
    const tc_tensor *seen = tc_attention_seen(q, keys, o);
    const tc_tensor *some = o.empty_is_zero && seen ? tc_any(seen, TC_AXES(-1), true) : NULL;
    tc_tensor *w = tc_softmax(tc_attention_scores(q, keys, seen, some, o), -1);
    if (o.dropout > 0) w = tc_attention_dropped(w, o.dropout, o.generator);
    tc_tensor *z = tc_matmul(w, values);
    y = tc_keep(some ? tc_where(some, z, tc_zeros_like(z)) : z);
  }
  return y;
}

/* The slopes of ALiBi for `heads` heads, f32[heads]: 2^(-8 (i + 1) / heads), as in the paper where heads is a power of 2. */
static inline tc_tensor *tc_alibi_slopes(int64_t heads) {
  tc_tensor *y = NULL;
  if (heads < 1) return TC_NN_FAIL("tc_alibi_slopes: %lld heads", (long long)heads);
  TC_SCOPE y = tc_keep(tc_exp2(tc_arange(heads, -8.0 / (double)heads, -8.0 / (double)heads, TC_F32)));
  return y;
}

/* ---- rotary position embeddings ------------------------------------------------------------------------ */

/* Of positions first, ..., first + n - 1: cos(position base^(-2i/d)), i < d/2, f32[n,d/2], and to *sines the sines.  d is
 * even. */
static inline tc_tensor *tc_rope_tables(int64_t n, int64_t first, int64_t d, double base, tc_tensor **sines) {
  tc_tensor *y = NULL;
  *sines = NULL;
  if (n < 0 || d < 2 || d % 2 || !(base > 0))
    return TC_NN_FAIL("tc_rope_tables: %lld places of %lld elements, base %g", (long long)n, (long long)d, base);
  TC_SCOPE {
    const tc_tensor *rate = tc_exp2(tc_arange(d / 2, 0, -2 * log2(base) / (double)d, TC_F64));
    const tc_tensor *angle = tc_outer(tc_arange(n, (double)first, 1, TC_F64), rate);
    *sines = tc_keep(tc_cast(tc_sin(angle), TC_F32));
    y = tc_keep(tc_cast(tc_cos(angle), TC_F32));
  }
  return y;
}

/* x[..,T,D], each pair of whose elements is rotated by the angle of its position: (a, b) becomes (a cos - b sin, b cos + a sin).
 * Pairs are elements i and i + D/2 (GPT-NeoX, Llama as of Hugging Face), or, interleaved, 2i and 2i + 1 (GPT-J, the paper).
 * cosines and sines broadcast to [..,T,D/2] (tc_rope_tables); 16-bit x is computed in their dtype and rounded at the end.
 * Su et al., RoFormer: Enhanced transformer with rotary position embedding, 2021. */
static inline tc_tensor *tc_rope(const tc_tensor *x, const tc_tensor *cosines, const tc_tensor *sines, bool interleaved) {
  tc_tensor *y = NULL;
  if (!x || !cosines || !sines) return NULL;
  const int64_t d = tc_size(x, -1);
  if (tc_rank(x) < 1 || d % 2 || tc_size(cosines, -1) * 2 != d || tc_size(sines, -1) * 2 != d)
    return TC_NN_FAIL("tc_rope: %lld elements, cosines for %lld and sines for %lld pairs", (long long)d,
                      (long long)tc_size(cosines, -1), (long long)tc_size(sines, -1));
  TC_SCOPE {
    const int pair = interleaved ? -1 : -2; /* the axis of a pair in [..,T,D/2,2] or [..,T,2,D/2] */
    tc_ints pairs = tc_shape(x);
    pairs.n++;
    pairs.v[pairs.n - 1] = interleaved ? 2 : d / 2;
    pairs.v[pairs.n - 2] = interleaved ? d / 2 : 2;
    const tc_tensor *z = tc_reshape(x, pairs), *sign = tc_arange(2, -1, 2, tc_dtype_of(sines));
    const tc_tensor *across = tc_mul(tc_unsqueeze(sines, pair), interleaved ? sign : tc_unsqueeze(sign, -1));
    z = tc_add(tc_mul(z, tc_unsqueeze(cosines, pair)), tc_mul(tc_flip(z, TC_AXES(pair)), across));
    y = tc_keep(tc_cast(tc_reshape(z, tc_shape(x)), tc_dtype_of(x)));
  }
  return y;
}

#include <tcompile/library_end.h>
#endif
