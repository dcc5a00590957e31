/* model.c - the forward pass.  `forward` is the function that is compiled; what it calls is part of
 * it.  Its loop runs as often as the model has layers, the block within is compiled once. */
#include "ggml_style/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- building blocks ------------------------------------------------------------------------- */

static tc_tensor *rms_norm(const tc_tensor *x, const struct tensor *weight, float eps) {
  return tc_rms_norm(x, 1, view(weight, 1), eps);
}

/* x[T,H,D]: the halves of each head, turned by the angle of the position. */
static tc_tensor *rotary(const tc_tensor *x, const tc_tensor *cosine, const tc_tensor *sine) {
  const int64_t d = tc_size(x, 2), half = d / 2;
  tc_tensor *a = tc_slice(x, 2, 0, half, 1), *b = tc_slice(x, 2, half, d, 1);
  const tc_tensor *turned[] = {tc_sub(tc_mul(a, cosine), tc_mul(b, sine)),
                               tc_add(tc_mul(a, sine), tc_mul(b, cosine))};
  return tc_concat(turned, 2, 2);
}

/* One of q, k, v out of qkv[T,3E], as [T,H,D]. */
static tc_tensor *heads(const tc_tensor *qkv, int which, int64_t embd) {
  tc_tensor *part = tc_slice(qkv, 1, which * embd, (which + 1) * embd, 1);
  return tc_reshape(part, TC_DIMS(tc_size(qkv, 0), embd / HEAD, HEAD));
}

static tc_tensor *attention(const struct model *m, const struct layer *l, const tc_tensor *x) {
  const int64_t tokens = tc_size(x, 0), embd = tc_size(x, 1);
  tc_tensor *qkv = tc_matmul(x, view(&l->wqkv, 2));
  tc_tensor *cosine = tc_unsqueeze(tc_slice(view(&m->cosine, 2), 0, 0, tokens, 1), 1);
  tc_tensor *sine = tc_unsqueeze(tc_slice(view(&m->sine, 2), 0, 0, tokens, 1), 1);
  tc_tensor *q = tc_permute(rotary(heads(qkv, 0, embd), cosine, sine), TC_AXES(1, 0, 2));
  tc_tensor *k = tc_permute(rotary(heads(qkv, 1, embd), cosine, sine), TC_AXES(1, 2, 0));
  tc_tensor *v = tc_permute(heads(qkv, 2, embd), TC_AXES(1, 0, 2));
  /* scores[H,T,T]: a token looks at itself and at those in front of it */
  tc_tensor *scores = tc_mul_s(tc_matmul(q, k), 1 / sqrt(HEAD));
  tc_tensor *position = tc_arange(tokens, 0, 1, TC_I64);
  tc_tensor *later = tc_gt(tc_unsqueeze(position, 0), tc_unsqueeze(position, 1));
  tc_tensor *weights = tc_softmax(tc_masked_fill(scores, later, -INFINITY), -1);
  tc_tensor *mixed = tc_permute(tc_matmul(weights, v), TC_AXES(1, 0, 2));
  return tc_matmul(tc_reshape(mixed, TC_DIMS(tokens, embd)), view(&l->wo, 2));
}

static tc_tensor *feed_forward(const struct layer *l, const tc_tensor *x) {
  tc_tensor *gate = tc_silu(tc_matmul(x, view(&l->gate, 2)));
  return tc_matmul(tc_mul(gate, tc_matmul(x, view(&l->up, 2))), view(&l->down, 2));
}

static tc_tensor *block(const struct model *m, const struct layer *l, const tc_tensor *x) {
  tc_tensor *h = tc_add(x, attention(m, l, rms_norm(x, &l->norm, m->eps)));
  return tc_add(h, feed_forward(l, rms_norm(h, &l->ff_norm, m->eps)));
}

/* ---- the pass -------------------------------------------------------------------------------- */

TC_COMPILE static bool forward(const struct model *m,
                               const struct tensor *x TC_SHAPE("f32[T<=256,E%32]"),
                               struct tensor *out TC_SHAPE("f32[T<=256,E%32]")) {
  const char *why = "no memory";
  TC_SCOPE {
    if (x->ne[1] > m->max_tokens) {
      why = "too many tokens";
      goto fail;
    }
    tc_tensor *h TC_SHAPE("f32[T<=256,E%32]") = view(x, 2);
    for (int i = 0; i < m->layers; i++) {
      h = block(m, &m->layer[i], h);
      if (!h) goto fail;
      if (m->debug) fprintf(stderr, "layer %d: %f\n", i, tc_at(h, TC_INTS(0, 0)));
    }
    if (!tc_copy_(view(out, 2), rms_norm(h, &m->norm, m->eps))) goto fail;
  }
  return true;
fail:
  fprintf(stderr, "forward: %s\n", tc_error() ? tc_error() : why);
  return false;
}

bool model_forward(const struct model *m, const struct tensor *x, struct tensor *out) {
  return forward(m, x, out);
}

/* ---- weights --------------------------------------------------------------------------------- */

enum { ROOM = 4096 /* for alignment */ };

static struct tensor weight(struct model *m, enum type type, int64_t n0, int64_t n1) {
  struct tensor t = tensor_new(&m->pool, type, n0, n1);
  const double scale = n1 == 1 ? 0.5 : 1 / sqrt((double)n1);
  if (t.data) tensor_fill(&t, m->pool.tensors, scale);
  for (int64_t i = 0; t.data && n1 == 1 && i < n0; i++) /* norms are near 1 */
    tensor_set(&t, i, 0, 1 + tensor_at(&t, i, 0));
  return t;
}

static void rotary_tables(struct model *m, enum type type) {
  const int half = HEAD / 2;
  m->cosine = tensor_new(&m->pool, type, half, MOST_TOKENS);
  m->sine = tensor_new(&m->pool, type, half, MOST_TOKENS);
  for (int p = 0; p < MOST_TOKENS; p++)
    for (int i = 0; i < half; i++) {
      const double angle = p * pow(10000, -(double)i / half);
      tensor_set(&m->cosine, i, p, (float)cos(angle));
      tensor_set(&m->sine, i, p, (float)sin(angle));
    }
}

bool model_new(struct model *m, enum type type, int embd, int ff, int layers) {
  const size_t element = type == TYPE_F64 ? 8 : 4, e = (size_t)embd, f = (size_t)ff;
  const size_t numbers = (size_t)layers * (4 * e * e + 3 * e * f + 2 * e) + e + MOST_TOKENS * HEAD;
  *m = (struct model){
      .embd = embd, .ff = ff, .layers = layers, .max_tokens = MOST_TOKENS, .eps = 1e-5f};
  m->pool.size = element * numbers + ROOM * (size_t)(layers + 1);
  m->pool.memory = aligned_alloc(ROOM, (m->pool.size + ROOM - 1) / ROOM * ROOM);
  m->layer = calloc((size_t)layers, sizeof *m->layer);
  if (!m->pool.memory || !m->layer) return false;
  for (int i = 0; i < layers; i++) {
    struct layer *l = &m->layer[i];
    l->norm = weight(m, type, embd, 1);
    l->ff_norm = weight(m, type, embd, 1);
    l->wqkv = weight(m, type, 3 * embd, embd);
    l->wo = weight(m, type, embd, embd);
    l->gate = weight(m, type, ff, embd);
    l->up = weight(m, type, ff, embd);
    l->down = weight(m, type, embd, ff);
  }
  m->norm = weight(m, type, embd, 1);
  rotary_tables(m, type);
  return true;
}

void model_free(struct model *m) {
  free(m->layer);
  free(m->pool.memory);
}
