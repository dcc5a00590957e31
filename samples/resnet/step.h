/* step.h - a step of training, and what it needs. */
#ifndef SAMPLE_RESNET_STEP_H
#define SAMPLE_RESNET_STEP_H

#include <tcompile/optim.h>

#include "model.h"

typedef struct training {
  resnet net, velocity; /* parameters, and what SGD keeps of their gradients */
  bool half;            /* what is computed of them is bf16 */
} training;

/* The layers of the network in order; how many they are. */
static inline int layers_of(resnet *m, int depth, layer *l[1 + 4 * MOST_BLOCKS]) {
  block *b = m->block;
  int n = 0;
  l[n++] = &m->stem;
  for (int stage = 0; stage < STAGES; stage++)
    for (int i = 0; i < blocks_of(depth, stage); i++, b++) {
      for (int k = 0; k < (depth == 50 ? 3 : 2); k++) l[n++] = &b->layer[k];
      if (has_beside(shape_of(depth, stage, i))) l[n++] = &b->beside;
    }
  return n;
}

/* The parameters; how many they are. */
static inline int list(const resnet *m, int depth, tc_tensor *p[MOST]) {
  layer *l[1 + 4 * MOST_BLOCKS];
  int n = 0;
  const int layers = layers_of((resnet *)m, depth, l);
  for (int i = 0; i < layers; i++) p[n++] = l[i]->w, p[n++] = l[i]->scale, p[n++] = l[i]->shift;
  p[n++] = m->w, p[n++] = m->bias;
  return n;
}

/* A step on images of these classes by SGD with momentum; the loss before it, or NULL. */
static inline tc_tensor *sgd_step(const training *t, const tc_tensor *x, const tc_tensor *classes,
                                  double rate) {
  tc_tensor *p[MOST], *g[MOST], *velocity[MOST];
  if (tc_dtype_of(t->net.stem.w) == TC_BF16) return NULL; /* which cannot hold most steps */
  const int n = list(&t->net, t->net.depth, p);
  list(&t->velocity, t->net.depth, velocity);
  tc_tensor *y = scores(&t->net, t->half ? tc_cast(x, TC_BF16) : x, TRAINING);
  tc_tensor *loss = tc_cross_entropy(y, classes, TC_MEAN);
  if (!tc_grad(loss, n, p, g)) return NULL;
  const tc_sgd_options o = {.rate = rate, .momentum = 0.9, .weight_decay = 5e-4};
  return tc_sgd(n, p, g, velocity, o) ? loss : NULL;
}

#endif
