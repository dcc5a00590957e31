/* step.h - a step of training, and what it needs. */
#ifndef SAMPLE_GPT2_STEP_H
#define SAMPLE_GPT2_STEP_H

#include <tcompile/optim.h>

#include "model.h"

typedef struct training {
  gpt2 net, mean, square; /* weights, and what AdamW keeps of their gradients */
  bool half;              /* what is computed of them is bf16 */
} training;

/* A step on `pieces`, of L - 1 tokens and the one behind; the loss before it, or NULL.  The first
 * step is 1. */
// clang-format off
TC_COMPILE TC_SPECIALIZE("t->net.layers=4,t->half=0") TC_SPECIALIZE("t->net.layers=4,t->half=1")
TC_SPECIALIZE("t->net.layers=12,t->half=0") TC_SPECIALIZE("t->net.layers=12,t->half=1")
static tc_tensor *train_step(const training *t, const tc_tensor *pieces TC_SHAPE("i64[B,L]"),
                             double rate, int64_t step) {
  // clang-format on
  tc_tensor *p[MOST], *g[MOST], *mean[MOST], *square[MOST];
  const tc_dtype dtype = tc_dtype_of(t->net.wte);
  if (dtype == TC_BF16) return NULL; /* which cannot hold most steps */
  const int n = list(&t->net, t->net.layers, p);
  list(&t->mean, t->net.layers, mean);
  list(&t->square, t->net.layers, square);
  const int64_t T = tc_size(pieces, 1) - 1;
  const tc_tensor *tokens = tc_slice(pieces, 1, 0, T, 1), *next = tc_slice(pieces, 1, 1, T + 1, 1);
  tc_tensor *y = scores(&t->net, states(&t->net, tokens, NULL, 0, t->half ? TC_BF16 : dtype));
  y = tc_cast(tc_flatten(y, 0, 1), dtype);
  tc_tensor *loss = tc_cross_entropy(y, tc_flatten(next, 0, 1), TC_MEAN);
  if (!tc_grad(loss, n, p, g) || !tc_clip_norm_(n, g, 1)) return NULL;
  tc_adam_options o = tc_adam_defaults(rate);
  o.weight_decay = 0.1;
  return tc_adamw(n, p, g, mean, square, step, o) ? loss : NULL;
}

/* NULLs where there is not enough memory. */
static inline training training_of(gpt2 m, bool half) {
  tc_tensor *p[MOST], *mean[MOST], *square[MOST];
  const int n = list(&m, m.layers, p);
  if (!tc_optim_zeros(n, p, mean) || !tc_optim_zeros(n, p, square)) return (training){0};
  const gpt2 of_mean = model_of(m.layers, m.heads, mean);
  return (training){m, of_mean, model_of(m.layers, m.heads, square), half};
}

#endif
