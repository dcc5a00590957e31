/* model.h - Llama (Touvron et al., LLaMA: open and efficient foundation language models, 2023): RMS
 * norms, rotary positions, heads that share keys and values, gated layers; weights laid out as in
 * Hugging Face's files.  T tokens, D channels, V kinds of tokens, P positions, E channels a head.
 *
 * LLAMA_BITS: 0, weights are of the dtype of everything else; 8, or 4 in groups of 32 inputs: matrices are quantised. */
#ifndef SAMPLE_LLAMA_MODEL_H
#define SAMPLE_LLAMA_MODEL_H

#include <tcompile/nn.h>

enum { MOST_LAYERS = 12 };

/* MATRIX(w, "N", "D"): w[N,D] as it is stored, and where it is quantised scales; PRODUCT(x[..,D], of, w): x w^T. */
#ifndef LLAMA_BITS
#define LLAMA_BITS 0
#endif
#if LLAMA_BITS == 8
#define REAL(sizes) TC_SHAPE("f32" sizes)
#define MATRIX(w, N, D) tc_tensor *w TC_SHAPE("i8[" N "," D "]"), *w##_scale TC_SHAPE("f32[" N "]")
#define PRODUCT(x, of, w) tc_linear_int8(x, (of)->w, (of)->w##_scale, NULL)
#elif LLAMA_BITS == 4
#define REAL(sizes) TC_SHAPE("f32" sizes)
#define MATRIX(w, N, D)                                                                            \
  tc_tensor *w TC_SHAPE("u8[" N ",G" D ",16]"), *w##_scale TC_SHAPE("f32[" N ",G" D "]")
#define PRODUCT(x, of, w) tc_linear_int4(x, (of)->w, (of)->w##_scale, NULL, NULL)
#else
#define REAL(sizes) TC_SHAPE("R=f32|bf16" sizes)
#define MATRIX(w, N, D) tc_tensor *w REAL("[" N "," D "]"), *w##_scale
#define PRODUCT(x, of, w) tc_linear(x, (of)->w, NULL)
#endif

typedef struct block {
  tc_tensor *norm1 REAL("[D]"), *norm2 REAL("[D]");
  MATRIX(q, "Q", "D");
  MATRIX(k, "K", "D");
  MATRIX(v, "K", "D");
  MATRIX(out, "D", "Q");
  MATRIX(gate, "I", "D");
  MATRIX(up, "I", "D");
  MATRIX(down, "D", "I");
  tc_tensor *keys REAL("[1,G,P,E]"), *values REAL("[1,G,P,E]"); /* of the positions so far */
} block;

typedef struct llama {
  int layers, heads, kv_heads;
  double eps;
  int64_t bytes; /* of matrices, all of which are read for each token */
  tc_tensor *embedding REAL("[V,D]"), *norm REAL("[D]");
  MATRIX(head, "V", "D");
  tc_tensor *cosines TC_SHAPE("f32[P,R]"), *sines TC_SHAPE("f32[P,R]");
  block h[MOST_LAYERS];
} llama;

/* x[1,T,N] as heads: [1,heads,T,N/heads] */
static inline tc_tensor *heads_of(const tc_tensor *x, int heads) {
  const tc_ints dims = TC_DIMS(1, tc_size(x, 1), heads, tc_size(x, 2) / heads);
  return tc_transpose(tc_reshape(x, dims), 1, 2);
}

/* x[1,T,D] at the positions `at` and following: each sees itself and those in front. */
static inline tc_tensor *attention(const llama *m, const block *b, const tc_tensor *x, int64_t at) {
  const int64_t T = tc_size(x, 1), end = at + T;
  const tc_tensor *cosines = tc_slice(m->cosines, 0, at, end, 1);
  const tc_tensor *sines = tc_slice(m->sines, 0, at, end, 1);
  const tc_tensor *q = tc_rope(heads_of(PRODUCT(x, b, q), m->heads), cosines, sines, false);
  const tc_tensor *k = tc_rope(heads_of(PRODUCT(x, b, k), m->kv_heads), cosines, sines, false);
  tc_copy_(tc_slice(b->keys, 2, at, end, 1), k);
  tc_copy_(tc_slice(b->values, 2, at, end, 1), heads_of(PRODUCT(x, b, v), m->kv_heads));
  const tc_tensor *keys = tc_slice(b->keys, 2, 0, end, 1);
  const tc_tensor *values = tc_slice(b->values, 2, 0, end, 1);
  const tc_attention_options o = {.causal = true, .offset = at};
  tc_tensor *y = tc_transpose(tc_attention(q, keys, values, o), 1, 2);
  return PRODUCT(tc_reshape(y, TC_DIMS(1, T, tc_size(b->q, 0))), b, out);
}

static inline tc_tensor *feed_forward(const block *b, const tc_tensor *x) {
  tc_tensor *gate = tc_silu(PRODUCT(x, b, gate));
  return PRODUCT(tc_mul(gate, PRODUCT(x, b, up)), b, down);
}

/* Tokens i64[1,T] at the positions `at` and following: their states behind the last block. */
static inline tc_tensor *states(const llama *m, const tc_tensor *tokens, int64_t at) {
  tc_tensor *x = tc_embedding(m->embedding, tokens);
  for (int i = 0; i < m->layers; i++) {
    const block *b = &m->h[i];
    x = tc_add(x, attention(m, b, tc_rms_norm(x, 1, b->norm1, m->eps), at));
    x = tc_add(x, feed_forward(b, tc_rms_norm(x, 1, b->norm2, m->eps)));
  }
  return x;
}

#endif
