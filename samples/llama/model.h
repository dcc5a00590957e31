/* model.h - Llama (Touvron et al., LLaMA: open and efficient foundation language models, 2023): RMS
 * norms, rotary positions, heads that share keys and values, gated layers; weights laid out as in
 * Hugging Face's files.  T tokens, D channels, V kinds of tokens, P positions, E channels a head. */
#ifndef SAMPLE_LLAMA_MODEL_H
#define SAMPLE_LLAMA_MODEL_H

#include <tcompile/nn.h>

enum { MOST_LAYERS = 12 };

#define REAL(sizes) TC_SHAPE("R=f32|bf16" sizes)

typedef struct block {
  tc_tensor *norm1 REAL("[D]"), *q REAL("[Q,D]"), *k REAL("[K,D]"), *v REAL("[K,D]");
  tc_tensor *out REAL("[D,Q]"), *norm2 REAL("[D]");
  tc_tensor *gate REAL("[I,D]"), *up REAL("[I,D]"), *down REAL("[D,I]");
  tc_tensor *keys REAL("[1,G,P,E]"), *values REAL("[1,G,P,E]"); /* of the positions so far */
} block;

typedef struct llama {
  int layers, heads, kv_heads;
  double eps;
  tc_tensor *embedding REAL("[V,D]"), *norm REAL("[D]"), *head REAL("[V,D]");
  tc_tensor *cosines TC_SHAPE("f32[P,R]"), *sines TC_SHAPE("f32[P,R]");
  block h[MOST_LAYERS];
} llama;

/* x[1,T,D] w[N,D]^T as heads: [1,heads,T,N/heads] */
static inline tc_tensor *heads_of(const tc_tensor *x, const tc_tensor *w, int heads) {
  const tc_ints dims = TC_DIMS(1, tc_size(x, 1), heads, tc_size(w, 0) / heads);
  return tc_transpose(tc_reshape(tc_linear(x, w, NULL), dims), 1, 2);
}

/* x[1,T,D] at the positions `at` and following: each sees itself and those in front. */
static inline tc_tensor *attention(const llama *m, const block *b, const tc_tensor *x, int64_t at) {
  const int64_t T = tc_size(x, 1), end = at + T;
  const tc_tensor *cosines = tc_slice(m->cosines, 0, at, end, 1);
  const tc_tensor *sines = tc_slice(m->sines, 0, at, end, 1);
  const tc_tensor *q = tc_rope(heads_of(x, b->q, m->heads), cosines, sines, false);
  const tc_tensor *k = tc_rope(heads_of(x, b->k, m->kv_heads), cosines, sines, false);
  tc_copy_(tc_slice(b->keys, 2, at, end, 1), k);
  tc_copy_(tc_slice(b->values, 2, at, end, 1), heads_of(x, b->v, m->kv_heads));
  const tc_tensor *keys = tc_slice(b->keys, 2, 0, end, 1);
  const tc_tensor *values = tc_slice(b->values, 2, 0, end, 1);
  const tc_attention_options o = {.causal = true, .offset = at};
  tc_tensor *y = tc_transpose(tc_attention(q, keys, values, o), 1, 2);
  return tc_linear(tc_reshape(y, TC_DIMS(1, T, tc_size(b->q, 0))), b->out, NULL);
}

static inline tc_tensor *feed_forward(const block *b, const tc_tensor *x) {
  tc_tensor *gate = tc_silu(tc_linear(x, b->gate, NULL));
  return tc_linear(tc_mul(gate, tc_linear(x, b->up, NULL)), b->down, NULL);
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
