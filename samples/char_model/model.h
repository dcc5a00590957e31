/* model.h - a transformer over characters: rows of T characters in, of each position how likely each character comes
 * next.  Vaswani et al., Attention is all you need, 2017, with norms in front (RMS norms, Zhang and Sennrich 2019). */
#ifndef SAMPLE_CHAR_MODEL_H
#define SAMPLE_CHAR_MODEL_H

#include <math.h>
#include <tcompile.h>

enum { WIDTH = 64, HEADS = 4, INNER = 256, BLOCKS = 2, LENGTH = 64 };

typedef struct block {
  tc_tensor *norm1 TC_SHAPE("f32[D]"), *qkv TC_SHAPE("f32[D,3*D]"), *out TC_SHAPE("f32[D,D]");
  tc_tensor *norm2 TC_SHAPE("f32[D]"), *up TC_SHAPE("f32[D,I]"), *down TC_SHAPE("f32[I,D]");
} block;

enum { OF_BLOCK = 6, PARAMETERS = BLOCKS * OF_BLOCK + 4 };

typedef struct model {
  tc_tensor *character TC_SHAPE("f32[V,D]"), *position TC_SHAPE("f32[L,D]");
  block at[BLOCKS];
  tc_tensor *norm TC_SHAPE("f32[D]"), *head TC_SHAPE("f32[D,V]");
} model;

/* The parameters of a model, in the order of its members. */
static inline void list(const model *m, tc_tensor *p[PARAMETERS]) {
  int n = 0;
  p[n++] = m->character, p[n++] = m->position;
  for (int i = 0; i < BLOCKS; i++) {
    const block *b = &m->at[i];
    p[n++] = b->norm1, p[n++] = b->qkv, p[n++] = b->out;
    p[n++] = b->norm2, p[n++] = b->up, p[n++] = b->down;
  }
  p[n++] = m->norm, p[n++] = m->head;
}

/* x f32[B,T,WIDTH]; each position looks at itself and those in front. */
static inline tc_tensor *attention(const block *b, const tc_tensor *x) {
  const int64_t B = tc_size(x, 0), T = tc_size(x, 1), of_head = WIDTH / HEADS;
  tc_tensor *part[3];
  tc_split(tc_matmul(x, b->qkv), 3, 2, part);
  for (int i = 0; i < 3; i++) /* [B,HEADS,T,of_head] */
    part[i] = tc_transpose(tc_reshape(part[i], TC_DIMS(B, T, HEADS, of_head)), 1, 2);
  tc_tensor *score = tc_matmul(part[0], tc_transpose(part[1], 2, 3));
  tc_tensor *later = tc_triu(tc_ones(TC_DIMS(T, T), TC_BOOL), 1);
  score = tc_masked_fill(tc_mul_s(score, 1 / sqrt((double)of_head)), later, -INFINITY);
  tc_tensor *y = tc_matmul(tc_softmax(score, -1), part[2]);
  return tc_matmul(tc_reshape(tc_transpose(y, 1, 2), TC_DIMS(B, T, WIDTH)), b->out);
}

static inline tc_tensor *apply(const block *b, const tc_tensor *x) {
  x = tc_add(x, attention(b, tc_rms_norm(x, 1, b->norm1, 1e-6)));
  tc_tensor *h = tc_silu(tc_matmul(tc_rms_norm(x, 1, b->norm2, 1e-6), b->up));
  return tc_add(x, tc_matmul(h, b->down));
}

/* i64[B,T], T <= LENGTH, to f32[B,T,V]: the softmax along the last axis is how likely each character is. */
static inline tc_tensor *logits(const model *m, const tc_tensor *text) {
  const tc_tensor *position = tc_slice(m->position, 0, 0, tc_size(text, 1), 1);
  tc_tensor *x = tc_add(tc_embedding(m->character, text), position);
  for (int i = 0; i < BLOCKS; i++) x = apply(&m->at[i], x);
  return tc_matmul(tc_rms_norm(x, 1, m->norm, 1e-6), m->head);
}

#endif
