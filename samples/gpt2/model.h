/* model.h - GPT-2 (Radford et al., Language models are unsupervised multitask learners, 2019), its
 * parameters laid out as in Hugging Face's files.  B sequences of T tokens, D channels, V kinds of
 * tokens, P positions. */
#ifndef SAMPLE_GPT2_MODEL_H
#define SAMPLE_GPT2_MODEL_H

#include <string.h>
#include <tcompile/nn.h>

enum { MOST_LAYERS = 12, MOST = 4 + 12 * MOST_LAYERS }; /* parameters */

#define REAL(sizes) TC_SHAPE("R=f32|bf16" sizes)

typedef struct block {
  tc_tensor *ln1_w REAL("[D]"), *ln1_b REAL("[D]"), *qkv_w REAL("[D,3*D]"), *qkv_b REAL("[3*D]");
  tc_tensor *out_w REAL("[D,D]"), *out_b REAL("[D]"), *ln2_w REAL("[D]"), *ln2_b REAL("[D]");
  tc_tensor *up_w REAL("[D,4*D]"), *up_b REAL("[4*D]");
  tc_tensor *down_w REAL("[4*D,D]"), *down_b REAL("[D]");
} block;

typedef struct gpt2 {
  int layers, heads;
  tc_tensor *wte REAL("[V,D]"), *wpe REAL("[P,D]"), *ln_w REAL("[D]"), *ln_b REAL("[D]");
  block h[MOST_LAYERS];
} gpt2;

/* Keys and values of a layer, of the positions so far. */
typedef struct cache {
  tc_tensor *k REAL("[B,H,P,E]"), *v REAL("[B,H,P,E]");
} cache;

/* The parameters in the order of the members; how many they are. */
static inline int list(const gpt2 *m, int layers, tc_tensor *p[MOST]) {
  int n = 0;
  p[n++] = m->wte, p[n++] = m->wpe, p[n++] = m->ln_w, p[n++] = m->ln_b;
  for (const block *b = m->h; b < m->h + layers; b++) {
    p[n++] = b->ln1_w, p[n++] = b->ln1_b, p[n++] = b->qkv_w, p[n++] = b->qkv_b;
    p[n++] = b->out_w, p[n++] = b->out_b, p[n++] = b->ln2_w, p[n++] = b->ln2_b;
    p[n++] = b->up_w, p[n++] = b->up_b, p[n++] = b->down_w, p[n++] = b->down_b;
  }
  return n;
}

/* The model with these parameters. */
static inline gpt2 model_of(int layers, int heads, tc_tensor *const z[]) {
  gpt2 m = {layers, heads, z[0], z[1], z[2], z[3], {{0}}};
  memcpy(m.h, z + 4, sizeof(block) * (size_t)layers); /* of nothing but parameters */
  return m;
}

/* What is computed has the dtype of x, whatever that of the parameters. */
static inline tc_tensor *affine(const tc_tensor *x, const tc_tensor *w, const tc_tensor *b) {
  const tc_dtype d = tc_dtype_of(x);
  return tc_add(tc_matmul(x, tc_cast(w, d)), tc_cast(b, d));
}

static inline tc_tensor *norm(const tc_tensor *x, const tc_tensor *w, const tc_tensor *b) {
  const tc_dtype d = tc_dtype_of(x);
  return tc_layer_norm(x, 1, tc_cast(w, d), tc_cast(b, d), 1e-5);
}

/* x[B,T,D] at the positions `at` and following: each sees itself and those in front, in c too,
 * which then has its keys and values (NULL: there are none in front). */
static inline tc_tensor *attention(const block *b, const tc_tensor *x, int heads, const cache *c,
                                   int64_t at) {
  const int64_t B = tc_size(x, 0), T = tc_size(x, 1), D = tc_size(x, 2);
  const tc_attention_options o = {.causal = true, .offset = at};
  tc_tensor *qkv[3];
  if (tc_split(affine(x, b->qkv_w, b->qkv_b), 3, 2, qkv) < 0) return NULL;
  for (int i = 0; i < 3; i++) /* [B,heads,T,D/heads] */
    qkv[i] = tc_transpose(tc_reshape(qkv[i], TC_DIMS(B, T, heads, D / heads)), 1, 2);
  if (c) {
    tc_copy_(tc_slice(c->k, 2, at, at + T, 1), qkv[1]);
    tc_copy_(tc_slice(c->v, 2, at, at + T, 1), qkv[2]);
    qkv[1] = tc_slice(c->k, 2, 0, at + T, 1), qkv[2] = tc_slice(c->v, 2, 0, at + T, 1);
  }
  tc_tensor *y = tc_transpose(tc_attention(qkv[0], qkv[1], qkv[2], o), 1, 2);
  return affine(tc_reshape(y, TC_DIMS(B, T, D)), b->out_w, b->out_b);
}

/* Tokens i64[B,T] at the positions `at` and following: their states behind the last block, of this
 * dtype, [B,T,D]. */
static inline tc_tensor *states(const gpt2 *m, const tc_tensor *tokens, const cache *c, int64_t at,
                                tc_dtype dtype) {
  const tc_tensor *position = tc_slice(m->wpe, 0, at, at + tc_size(tokens, 1), 1);
  tc_tensor *x = tc_cast(tc_add(tc_embedding(m->wte, tokens), position), dtype);
  for (int i = 0; i < m->layers; i++) {
    const block *b = &m->h[i];
    tc_tensor *h = norm(x, b->ln1_w, b->ln1_b);
    x = tc_add(x, attention(b, h, m->heads, c ? &c[i] : NULL, at));
    h = tc_gelu_tanh(affine(norm(x, b->ln2_w, b->ln2_b), b->up_w, b->up_b));
    x = tc_add(x, affine(h, b->down_w, b->down_b));
  }
  return x;
}

/* Of states [..,D] the scores [..,V] of what comes next: their softmax is how likely it is. */
static inline tc_tensor *scores(const gpt2 *m, const tc_tensor *x) {
  return tc_linear(norm(x, m->ln_w, m->ln_b), tc_cast(m->wte, tc_dtype_of(x)), NULL);
}

#endif
