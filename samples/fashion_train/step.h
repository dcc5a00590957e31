/* step.h - a step of training of fashion_train, and the weights that it starts with. */
#ifndef SAMPLE_FASHION_STEP_H
#define SAMPLE_FASHION_STEP_H

#include <math.h>
#include <tcompile/optim.h>

#include "mlp.h"

enum { HIDDEN = 256, BATCH = 128 };

typedef struct training {
  network net, mean, square; /* weights, and what AdamW keeps of their gradients */
} training;

static inline void list(const network *n, tc_tensor *out[PARAMETERS]) {
  out[0] = n->w1, out[1] = n->b1, out[2] = n->w2, out[3] = n->b2;
}

/* A step on the images whose numbers are in `batch`; the loss before it, or NULL.  The first step is 1. */
TC_COMPILE static tc_tensor *train_step(const training *t, const images *all,
                                        const tc_tensor *batch TC_SHAPE("i64[B]"), double rate,
                                        int64_t step) {
  tc_tensor *p[PARAMETERS], *g[PARAMETERS], *mean[PARAMETERS], *square[PARAMETERS];
  list(&t->net, p);
  list(&t->mean, mean);
  list(&t->square, square);
  const tc_tensor *pixels = tc_index_select(all->pixels, 0, batch);
  const tc_tensor *classes = tc_index_select(all->classes, 0, batch);
  tc_tensor *loss = tc_cross_entropy(logits(&t->net, pixels), classes, TC_MEAN);
  if (!tc_grad(loss, PARAMETERS, p, g)) return NULL;
  tc_adam_options o = tc_adam_defaults(rate);
  o.weight_decay = 0.01;
  if (!tc_adamw(PARAMETERS, p, g, mean, square, step, o)) return NULL;
  return loss;
}

static inline tc_tensor *random_weights(int64_t in, int64_t out, uint64_t seed) {
  tc_tensor *w = tc_mul_s(tc_randn(TC_DIMS(in, out), seed, TC_F32), sqrt(2.0 / (double)in));
  return sample_check(tc_requires_grad_(w, true));
}

static inline tc_tensor *zero_weights(int64_t n) {
  return sample_check(tc_requires_grad_(tc_zeros(TC_DIMS(n), TC_F32), true));
}

static inline network zeros(const network *like) {
  tc_tensor *p[PARAMETERS], *z[PARAMETERS];
  list(like, p);
  if (!tc_optim_zeros(PARAMETERS, p, z)) sample_check(NULL);
  return (network){z[0], z[1], z[2], z[3]};
}

static inline training start(void) {
  training t = {.net = {random_weights(PIXELS, HIDDEN, 1), zero_weights(HIDDEN),
                        random_weights(HIDDEN, CLASSES, 2), zero_weights(CLASSES)}};
  t.mean = zeros(&t.net), t.square = zeros(&t.net);
  return t;
}

#endif
