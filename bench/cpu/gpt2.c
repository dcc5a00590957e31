/* gpt2.c - families of `tools/bench cpu --only models`: GPT-2 124M (samples/gpt2), the scores of T tokens, of the one behind
 * T - 1 whose keys and values are kept, and a step of training.
 *
 * Operands: parameters, then tokens and, of decoding, keys and values of each layer; of a step, what follows each token and
 * what AdamW keeps.  A step writes its parameters. */
#include "cases.h"

#include <tcompile/optim.h>

#include "gpt2/model.h"

enum { LAYERS = 12, HEADS = 12, PARAMETERS = 4 + 12 * LAYERS };

// clang-format off
TC_COMPILE TC_SPECIALIZE("m->layers=12")
static tc_tensor *gpt2_scores(const gpt2 *m, const tc_tensor *tokens TC_SHAPE("i64[B,T]")) {
  // clang-format on
  return scores(m, states(m, tokens, NULL, 0, tc_dtype_of(m->wte)));
}
static bool run_gpt2(tc_tensor *const *in, tc_tensor **out) {
  const gpt2 m = model_of(LAYERS, HEADS, in);
  return (out[0] = gpt2_scores(&m, in[PARAMETERS])) != NULL;
}

// clang-format off
TC_COMPILE TC_SPECIALIZE("m->layers=12")
static tc_tensor *next_scores(const gpt2 *m, const cache *c, const tc_tensor *token TC_SHAPE("i64[1,1]"), int64_t at) {
  // clang-format on
  if (!c) return NULL;
  return scores(m, states(m, token, c, at, tc_dtype_of(m->wte)));
}
static bool run_gpt2_decode(tc_tensor *const *in, tc_tensor **out) {
  const gpt2 m = model_of(LAYERS, HEADS, in);
  cache c[LAYERS];
  for (int i = 0; i < LAYERS; i++) c[i] = (cache){in[PARAMETERS + 1 + 2 * i], in[PARAMETERS + 2 + 2 * i]};
  return (out[0] = next_scores(&m, c, in[PARAMETERS], tc_size(c->k, 2) - 1)) != NULL;
}

// clang-format off
TC_COMPILE TC_SPECIALIZE("m->layers=12")
static tc_tensor *step(const gpt2 *m, const gpt2 *mean, const gpt2 *square, const tc_tensor *tokens TC_SHAPE("i64[B,T]"),
                       const tc_tensor *next TC_SHAPE("i64[B,T]")) {
  // clang-format on
  tc_tensor *p[MOST], *g[MOST], *first[MOST], *second[MOST];
  if (tc_dtype_of(m->wte) == TC_BF16) return NULL;
  const int n = list(m, m->layers, p);
  list(mean, m->layers, first);
  list(square, m->layers, second);
  const tc_tensor *y = scores(m, states(m, tokens, NULL, 0, tc_dtype_of(m->wte)));
  tc_tensor *loss = tc_cross_entropy(tc_flatten(y, 0, 1), tc_flatten(next, 0, 1), TC_MEAN);
  tc_adam_options o = tc_adam_defaults(1e-3);
  o.weight_decay = 0.01;
  return tc_grad(loss, n, p, g) && tc_adamw(n, p, g, first, second, 10, o) ? loss : NULL;
}
static bool run_gpt2_step(tc_tensor *const *in, tc_tensor **out) {
  const gpt2 m = model_of(LAYERS, HEADS, in), mean = model_of(LAYERS, HEADS, in + PARAMETERS + 2),
             square = model_of(LAYERS, HEADS, in + 2 * PARAMETERS + 2);
  return (out[0] = step(&m, &mean, &square, in[PARAMETERS], in[PARAMETERS + 1])) != NULL;
}

#define FORWARD_OF(dtype)                                                                                              \
  {"gpt2", dtype, PARAMETERS + 1, run_gpt2, .results = 1},                                                             \
      {"gpt2_decode", dtype, PARAMETERS + 1 + 2 * LAYERS, run_gpt2_decode, .results = 1}

const bench_case bench_gpt2[BENCH_GPT2] = {
    FORWARD_OF("f32"), FORWARD_OF("bf16"),
    {"gpt2_step", "f32", 3 * PARAMETERS + 2, run_gpt2_step, .leaves = PARAMETERS, .results = 1, .written = PARAMETERS}};
