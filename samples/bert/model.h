/* model.h - BERT (Devlin et al., BERT: Pre-training of deep bidirectional transformers for language
 * understanding, 2019), its parameters laid out as in Hugging Face's files.  B sequences of T
 * tokens, D channels, V kinds of tokens, P positions. */
#ifndef SAMPLE_BERT_MODEL_H
#define SAMPLE_BERT_MODEL_H

#include <string.h>
#include <tcompile/nn.h>

enum { MOST_LAYERS = 12, MOST = 10 + 16 * MOST_LAYERS }; /* parameters */

#define REAL(sizes) TC_SHAPE("R=f32|bf16" sizes)

typedef struct dense {
  tc_tensor *w REAL("[O,I]"), *b REAL("[O]");
} dense;

typedef struct norm {
  tc_tensor *w REAL("[D]"), *b REAL("[D]");
} norm;

typedef struct block {
  dense query, key, value, out;
  norm behind_out;
  dense up, down;
  norm behind_down;
} block;

typedef struct bert {
  int layers, heads;
  tc_tensor *words REAL("[V,D]"), *positions REAL("[P,D]"), *types REAL("[2,D]");
  norm first;
  block h[MOST_LAYERS];
  dense transform;
  norm last;
  tc_tensor *bias REAL("[V]");
} bert;

/* The parameters in the order of the members; how many they are. */
static inline int list(const bert *m, int layers, tc_tensor *p[MOST]) {
  int n = 0;
  p[n++] = m->words, p[n++] = m->positions, p[n++] = m->types;
  p[n++] = m->first.w, p[n++] = m->first.b;
  for (const block *b = m->h; b < m->h + layers; b++) {
    p[n++] = b->query.w, p[n++] = b->query.b, p[n++] = b->key.w, p[n++] = b->key.b;
    p[n++] = b->value.w, p[n++] = b->value.b, p[n++] = b->out.w, p[n++] = b->out.b;
    p[n++] = b->behind_out.w, p[n++] = b->behind_out.b, p[n++] = b->up.w, p[n++] = b->up.b;
    p[n++] = b->down.w, p[n++] = b->down.b, p[n++] = b->behind_down.w, p[n++] = b->behind_down.b;
  }
  p[n++] = m->transform.w, p[n++] = m->transform.b, p[n++] = m->last.w, p[n++] = m->last.b;
  p[n++] = m->bias;
  return n;
}

/* The model with these parameters. */
static inline bert model_of(int layers, int heads, tc_tensor *const z[]) {
  tc_tensor *const *end = z + 5 + 16 * layers;
  bert m = {.layers = layers, .heads = heads, .words = z[0], .positions = z[1], .types = z[2]};
  m.first = (norm){z[3], z[4]};
  memcpy(m.h, z + 5, sizeof(block) * (size_t)layers); /* of nothing but parameters */
  m.transform = (dense){end[0], end[1]};
  m.last = (norm){end[2], end[3]};
  m.bias = end[4];
  return m;
}

/* What is computed has the dtype of x, whatever that of the parameters. */
static inline tc_tensor *affine(const dense *l, const tc_tensor *x) {
  const tc_dtype d = tc_dtype_of(x);
  return tc_linear(x, tc_cast(l->w, d), tc_cast(l->b, d));
}

static inline tc_tensor *normed(const norm *n, const tc_tensor *x) {
  const tc_dtype d = tc_dtype_of(x);
  return tc_layer_norm(x, 1, tc_cast(n->w, d), tc_cast(n->b, d), 1e-12);
}

/* x[B,T,D] through l as [B,heads,T,D/heads] */
static inline tc_tensor *heads_of(const dense *l, const tc_tensor *x, int heads) {
  const int64_t B = tc_size(x, 0), T = tc_size(x, 1), D = tc_size(x, 2);
  return tc_transpose(tc_reshape(affine(l, x), TC_DIMS(B, T, heads, D / heads)), 1, 2);
}

/* Each of x[B,T,D] sees the first `lengths` of its sequence. */
static inline tc_tensor *attention(const block *b, const tc_tensor *x, int heads,
                                   const tc_tensor *lengths) {
  const tc_tensor *q = heads_of(&b->query, x, heads), *k = heads_of(&b->key, x, heads);
  const tc_attention_options o = {.lengths = lengths};
  tc_tensor *y = tc_transpose(tc_attention(q, k, heads_of(&b->value, x, heads), o), 1, 2);
  return affine(&b->out, tc_reshape(y, tc_shape(x)));
}

/* The states [B,T,D], of this dtype, of tokens i64[B,T], the first lengths i64[B] of each sequence. */
static inline tc_tensor *states(const bert *m, const tc_tensor *tokens, const tc_tensor *lengths,
                                tc_dtype dtype) {
  const tc_tensor *position = tc_slice(m->positions, 0, 0, tc_size(tokens, 1), 1);
  const tc_tensor *word = tc_add(tc_embedding(m->words, tokens), tc_select(m->types, 0, 0));
  tc_tensor *x = normed(&m->first, tc_cast(tc_add(word, position), dtype));
  for (int i = 0; i < m->layers; i++) {
    const block *b = &m->h[i];
    x = normed(&b->behind_out, tc_add(x, attention(b, x, m->heads, lengths)));
    x = normed(&b->behind_down, tc_add(x, affine(&b->down, tc_gelu(affine(&b->up, x)))));
  }
  return x;
}

/* Of states [N,D] the scores [N,V] of the tokens that stand there. */
static inline tc_tensor *scores(const bert *m, const tc_tensor *x) {
  const tc_dtype d = tc_dtype_of(x);
  const tc_tensor *h = normed(&m->last, tc_gelu(affine(&m->transform, x)));
  return tc_linear(h, tc_cast(m->words, d), tc_cast(m->bias, d));
}

/* The scores at `places` i64[N] of all tokens, those of the first sequence first. */
static inline tc_tensor *scores_at(const bert *m, const tc_tensor *tokens, const tc_tensor *lengths,
                                   const tc_tensor *places, tc_dtype dtype) {
  const tc_tensor *x = states(m, tokens, lengths, dtype);
  return scores(m, tc_index_select(tc_flatten(x, 0, 1), 0, places));
}

#endif
