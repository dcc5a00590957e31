/* step.h - a step of training, and what it needs. */
#ifndef SAMPLE_BERT_STEP_H
#define SAMPLE_BERT_STEP_H

#include <tcompile/optim.h>

#include "model.h"

typedef struct training {
  bert net, mean, square; /* weights, and what AdamW keeps of their gradients */
  bool half;              /* what is computed of them is bf16 */
} training;

/* NULLs where there is not enough memory. */
static inline training training_of(bert m, bool half) {
  tc_tensor *p[MOST], *mean[MOST], *square[MOST];
  const int n = list(&m, m.layers, p);
  if (!tc_optim_zeros(n, p, mean) || !tc_optim_zeros(n, p, square)) return (training){0};
  const bert of_mean = model_of(m.layers, m.heads, mean);
  return (training){m, of_mean, model_of(m.layers, m.heads, square), half};
}

/* The loss before the step, or NULL.  The first step is 1. */
// clang-format off
TC_COMPILE TC_SPECIALIZE("t->net.layers=4,t->half=0") TC_SPECIALIZE("t->net.layers=4,t->half=1")
static tc_tensor *train_step(const training *t, const tc_tensor *tokens TC_SHAPE("i64[B,T]"),
                             const tc_tensor *lengths TC_SHAPE("i64[B]"), const tc_tensor *places TC_SHAPE("i64[N]"),
                             const tc_tensor *hidden TC_SHAPE("i64[N]"), double rate, int64_t step) {
  // clang-format on
  tc_tensor *p[MOST], *g[MOST], *mean[MOST], *square[MOST];
  const tc_dtype dtype = tc_dtype_of(t->net.words);
  if (dtype == TC_BF16) return NULL; /* which cannot hold most steps */
  const int n = list(&t->net, t->net.layers, p);
  list(&t->mean, t->net.layers, mean);
  list(&t->square, t->net.layers, square);
  const tc_tensor *y = scores_at(&t->net, tokens, lengths, places, t->half ? TC_BF16 : dtype);
  tc_tensor *loss = tc_cross_entropy(tc_cast(y, dtype), hidden, TC_MEAN);
  if (!tc_grad(loss, n, p, g) || !tc_clip_norm_(n, g, 1)) return NULL;
  tc_adam_options o = tc_adam_defaults(rate);
  o.weight_decay = 0.01;
  return tc_adamw(n, p, g, mean, square, step, o) ? loss : NULL;
}

#endif
