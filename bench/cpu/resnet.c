/* resnet.c - families of `tools/bench cpu --only models`: ResNet-18 and 50 (samples/resnet), inference and a step of
 * training.
 *
 * Operands: parameters, running statistics, images, then, of a step, classes and what SGD keeps.  Result: scores, or the
 * loss; a step writes its parameters. */
#include "cases.h"

#include "resnet/step.h"

enum { LAYERS_18 = 20, LAYERS_50 = 53 };
#define PARAMETERS(layers) (3 * (layers) + 2)

/* p: the parameters in the order of list(); stats: of each layer mean and variance, or NULL. */
static resnet resnet_of(int depth, int window, tc_tensor *const *p, tc_tensor *const *stats) {
  layer *l[1 + 4 * MOST_BLOCKS];
  resnet m = {.depth = depth, .window = window};
  const int n = layers_of(&m, depth, l);
  for (int i = 0; i < n; i++) {
    *l[i] = (layer){.w = p[3 * i], .scale = p[3 * i + 1], .shift = p[3 * i + 2]};
    if (stats) l[i]->mean = stats[2 * i], l[i]->var = stats[2 * i + 1];
  }
  m.w = p[3 * n], m.bias = p[3 * n + 1];
  return m;
}

// clang-format off
TC_COMPILE TC_SPECIALIZE("E=224,m->depth=18,m->window=7") TC_SPECIALIZE("E=224,m->depth=50,m->window=7")
static tc_tensor *infer(const resnet *m, const tc_tensor *x REAL("[N,3,E,E]")) {
  // clang-format on
  return scores(m, x, INFERENCE);
}

TC_COMPILE TC_SPECIALIZE("t->net.depth=18,t->net.window=3,t->half=0")
TC_SPECIALIZE("t->net.depth=50,t->net.window=3,t->half=0")
static tc_tensor *step(const training *t, const tc_tensor *x TC_SHAPE("f32[N,3,32,32]"), const tc_tensor *classes TC_SHAPE("i64[N]")) {
  return sgd_step(t, x, classes, 0.01);
}

static bool run_infer(int depth, int layers, tc_tensor *const *in, tc_tensor **out) {
  const resnet m = resnet_of(depth, 7, in, in + PARAMETERS(layers));
  return (out[0] = infer(&m, in[PARAMETERS(layers) + 2 * layers])) != NULL;
}
static bool run_resnet18(tc_tensor *const *in, tc_tensor **out) { return run_infer(18, LAYERS_18, in, out); }
static bool run_resnet50(tc_tensor *const *in, tc_tensor **out) { return run_infer(50, LAYERS_50, in, out); }

static bool run_step(int depth, int layers, tc_tensor *const *in, tc_tensor **out) {
  tc_tensor *const *stats = in + PARAMETERS(layers), *const *x = stats + 2 * layers;
  const training t = {resnet_of(depth, 3, in, stats), resnet_of(depth, 3, x + 2, NULL), false};
  return (out[0] = step(&t, x[0], x[1])) != NULL;
}
static bool run_resnet18_step(tc_tensor *const *in, tc_tensor **out) { return run_step(18, LAYERS_18, in, out); }
static bool run_resnet50_step(tc_tensor *const *in, tc_tensor **out) { return run_step(50, LAYERS_50, in, out); }

#define INFERENCE_OF(dtype)                                                                                            \
  {"resnet18", dtype, PARAMETERS(LAYERS_18) + 2 * LAYERS_18 + 1, run_resnet18, .results = 1},                          \
      {"resnet50", dtype, PARAMETERS(LAYERS_50) + 2 * LAYERS_50 + 1, run_resnet50, .results = 1}
#define STEP_OF(depth)                                                                                                 \
  {"resnet" #depth "_step", "f32", 2 * PARAMETERS(LAYERS_##depth) + 2 * LAYERS_##depth + 2, run_resnet##depth##_step,  \
   .leaves = PARAMETERS(LAYERS_##depth), .results = 1, .written = PARAMETERS(LAYERS_##depth)}

const bench_case bench_resnet[BENCH_RESNET] = {INFERENCE_OF("f32"), INFERENCE_OF("bf16"), STEP_OF(18), STEP_OF(50)};
