/* gpt2.c - the forward pass of GPT-2 124M, logits of all positions, for any batch and length; -DSTEP: a step of training by
 * AdamW.  -DBF16: weights and activations of 16 bits.  B sequences, T tokens, C channels. */
#include <math.h>
#ifdef STEP
#include <tcompile/optim.h>
#else
#include <tcompile.h>
#endif

#ifdef BF16
#define DTYPE "bf16"
enum { ELEMENT = TC_BF16 };
#else
#define DTYPE "f32"
enum { ELEMENT = TC_F32 };
#endif
enum { LAYERS = 12, HEADS = 12, CHANNELS = 768, HEAD = CHANNELS / HEADS };

typedef struct {
  tc_tensor *ln1_w TC_SHAPE(DTYPE "[768]"), *ln1_b TC_SHAPE(DTYPE "[768]");
  tc_tensor *qkv_w TC_SHAPE(DTYPE "[768,2304]"), *qkv_b TC_SHAPE(DTYPE "[2304]");
  tc_tensor *out_w TC_SHAPE(DTYPE "[768,768]"), *out_b TC_SHAPE(DTYPE "[768]");
  tc_tensor *ln2_w TC_SHAPE(DTYPE "[768]"), *ln2_b TC_SHAPE(DTYPE "[768]");
  tc_tensor *up_w TC_SHAPE(DTYPE "[768,3072]"), *up_b TC_SHAPE(DTYPE "[3072]");
  tc_tensor *down_w TC_SHAPE(DTYPE "[3072,768]"), *down_b TC_SHAPE(DTYPE "[768]");
} layer;

typedef struct {
  tc_tensor *tokens TC_SHAPE(DTYPE "[50257,768]"), *positions TC_SHAPE(DTYPE "[1024,768]");
  tc_tensor *ln_w TC_SHAPE(DTYPE "[768]"), *ln_b TC_SHAPE(DTYPE "[768]");
  layer layers[LAYERS];
} gpt2;

static inline tc_tensor *affine(const tc_tensor *x, const tc_tensor *w, const tc_tensor *b) {
  return tc_add(tc_matmul(x, w), b);
}

/* x (B,T,C) -> (B,HEADS,T,HEAD) */
static inline tc_tensor *heads(const tc_tensor *x) {
  tc_ints dims = TC_DIMS(tc_size(x, 0), tc_size(x, 1), HEADS, HEAD);
  return tc_transpose(tc_reshape(x, dims), 1, 2);
}

/* mask (T,T): 0 where a token sees another, -inf where not */
static inline tc_tensor *attention(const tc_tensor *x, const layer *l, const tc_tensor *mask) {
  tc_tensor *qkv[3];
  if (tc_split(affine(x, l->qkv_w, l->qkv_b), 3, -1, qkv) < 0) return NULL;
  tc_tensor *q = heads(qkv[0]), *k = heads(qkv[1]), *v = heads(qkv[2]);
  tc_tensor *scores = tc_mul_s(tc_matmul(q, tc_transpose(k, -2, -1)), 1 / sqrt(HEAD)); // (B,H,T,T)
  tc_tensor *weights = tc_softmax(tc_add(scores, mask), -1);
  tc_tensor *y = tc_transpose(tc_matmul(weights, v), 1, 2); // (B,T,H,HEAD)
  return affine(tc_reshape(y, TC_DIMS(tc_size(x, 0), tc_size(x, 1), CHANNELS)), l->out_w, l->out_b);
}

static inline tc_tensor *block(const tc_tensor *x, const layer *l, const tc_tensor *mask) {
  tc_tensor *h = tc_add(x, attention(tc_layer_norm(x, 1, l->ln1_w, l->ln1_b, 1e-5), l, mask));
  tc_tensor *up = affine(tc_layer_norm(h, 1, l->ln2_w, l->ln2_b, 1e-5), l->up_w, l->up_b);
  return tc_add(h, affine(tc_gelu_tanh(up), l->down_w, l->down_b));
}

static inline tc_tensor *logits(const gpt2 *m, const tc_tensor *tokens) {
  const int64_t t = tc_size(tokens, 1);
  tc_tensor *mask = tc_triu(tc_full(TC_DIMS(t, t), -INFINITY, ELEMENT), 1);
  tc_tensor *x = tc_add(tc_embedding(m->tokens, tokens), tc_slice(m->positions, 0, 0, t, 1));
  for (int i = 0; i < LAYERS; ++i) x = block(x, &m->layers[i], mask);
  return tc_matmul(tc_layer_norm(x, 1, m->ln_w, m->ln_b, 1e-5), tc_transpose(m->tokens, 0, 1));
}

#ifndef STEP
TC_COMPILE tc_tensor *gpt2_forward(const gpt2 *m,
                                   const tc_tensor *tokens TC_SHAPE("i64[B,T<=1024]")) {
  return logits(m, tokens);
}
#else
enum { PARAMETERS = 4 + 12 * LAYERS };

static inline void list(const gpt2 *m, tc_tensor *out[PARAMETERS]) {
  tc_tensor *const first[] = {m->tokens, m->positions, m->ln_w, m->ln_b};
  for (int i = 0; i < 4; ++i) out[i] = first[i];
  for (int i = 0; i < LAYERS; ++i) {
    const layer *l = &m->layers[i];
    tc_tensor *const all[] = {l->ln1_w, l->ln1_b, l->qkv_w, l->qkv_b, l->out_w, l->out_b,
                              l->ln2_w, l->ln2_b, l->up_w, l->up_b, l->down_w, l->down_b};
    for (int k = 0; k < 12; ++k) out[4 + 12 * i + k] = all[k];
  }
}

/* The loss in front of step number `step` on tokens and what follows each. */
TC_COMPILE tc_tensor *gpt2_step(const gpt2 *m, const gpt2 *mean, const gpt2 *square,
                                const tc_tensor *tokens TC_SHAPE("i64[B,T<=1024]"),
                                const tc_tensor *next TC_SHAPE("i64[B,T]"), double rate,
                                int64_t step) {
  tc_tensor *p[PARAMETERS], *g[PARAMETERS], *first[PARAMETERS], *second[PARAMETERS];
  list(m, p);
  list(mean, first);
  list(square, second);
  tc_tensor *loss = tc_cross_entropy(tc_flatten(logits(m, tokens), 0, 1), tc_flatten(next, 0, 1), TC_MEAN);
  if (!tc_grad(loss, PARAMETERS, p, g)) return NULL;
  return tc_adamw(PARAMETERS, p, g, first, second, step, tc_adam_defaults(rate)) ? loss : NULL;
}
#endif
