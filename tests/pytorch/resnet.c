/* resnet.c - 50 steps of the training of samples/resnet, ResNet-18 on images of 8 x 8, from weights that PyTorch was given
 * too: by kernels the losses are PyTorch's (resnet_expected.h), and so are the first ones by bodies.  Steps behind the first
 * two take no memory. */
#include "../programs/check.h"
#include "resnet/step.h"
#include "resnet_expected.h"

enum { E = 8, B = 8, STEPS = 50, BODIES = 3, CLASSES = 10 };

TC_COMPILE TC_SPECIALIZE("t->net.depth=18,t->net.window=3,t->half=0")
static tc_tensor *train_step(const training *t, const tc_tensor *x TC_SHAPE("f32[N,3,8,8]"),
                             const tc_tensor *classes TC_SHAPE("i64[N]")) {
  return sgd_step(t, x, classes, 0.01);
}

/* From -1 to 1, by number, times `size`; resnet_expected.py has the same. */
static tc_tensor *numbers(uint32_t seed, tc_ints dims, double size) {
  tc_tensor *x = tc_zeros(dims, TC_F32);
  float *v = tc_data(x);
  for (uint32_t i = 0; i < (uint32_t)tc_numel(x); i++) {
    uint32_t h = i * 2654435761u + seed * 40503u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    v[i] = (float)(((double)(h >> 8) / 0x1p23 - 1) * size);
  }
  return x;
}

static layer layer_of(uint32_t *seed, int64_t out, int64_t in, int K) {
  const tc_ints one = TC_DIMS(out);
  layer l = {numbers(++*seed, TC_DIMS(out, in, K, K), sqrt(3.0 / (double)(in * K * K)))};
  l.scale = tc_ones(one, TC_F32), l.shift = tc_zeros(one, TC_F32);
  l.mean = tc_zeros(one, TC_F32), l.var = tc_ones(one, TC_F32);
  return l;
}

static resnet make(void) {
  uint32_t seed = 0;
  resnet m = {.depth = 18, .window = 3, .stem = layer_of(&seed, WIDTH, 3, 3)};
  block *b = m.block;
  for (int stage = 0; stage < STAGES; stage++)
    for (int i = 0; i < blocks_of(18, stage); i++, b++) {
      const shape s = shape_of(18, stage, i);
      b->layer[0] = layer_of(&seed, s.inner, s.in, 3);
      b->layer[1] = layer_of(&seed, s.out, s.inner, 3);
      if (has_beside(s)) b->beside = layer_of(&seed, s.out, s.in, 1);
    }
  m.w = numbers(++seed, TC_DIMS(CLASSES, 512), sqrt(3.0 / 512));
  m.bias = tc_zeros(TC_DIMS(CLASSES), TC_F32);
  return m;
}

/* Zeros in place of the parameters, which become leaves. */
static training start(void) {
  training t = {make(), {0}, false};
  layer *l[1 + 4 * MOST_BLOCKS];
  tc_tensor *p[MOST];
  const int n = list(&t.net, 18, p);
  for (int i = 0; i < n; i++) tc_requires_grad_(p[i], true);
  t.velocity = t.net;
  for (int i = layers_of(&t.velocity, 18, l) - 1; i >= 0; i--) {
    l[i]->w = tc_zeros_like(l[i]->w);
    l[i]->scale = tc_zeros_like(l[i]->scale), l[i]->shift = tc_zeros_like(l[i]->shift);
  }
  t.velocity.w = tc_zeros_like(t.net.w), t.velocity.bias = tc_zeros_like(t.net.bias);
  return t;
}

static void check(const char *way, int steps, bool kernels) {
  double apart = 0;
  uint64_t mallocs = 0;
  const training t = start();
  int64_t class[B];
  for (int i = 0; i < B; i++) class[i] = i % CLASSES;
  const tc_tensor *x = numbers(100, TC_DIMS(B, 3, E, E), 1), *classes = tc_from(TC_DIMS(B), class, TC_I64);
  for (int i = 0; i < steps; i++) TC_SCOPE {
      if (i == 2) mallocs = tc_memory().mallocs;
      const tc_tensor *loss = train_step(&t, x, classes);
      CHECK(loss);
      apart = fmax(apart, fabs(tc_item(loss) - expected[i]));
    }
  mallocs = tc_memory().mallocs - mallocs;
  printf("resnet, %s: losses are apart from PyTorch's by %.1e, and end at %.6f; %d storages\n", way, apart,
         expected[steps - 1], (int)mallocs);
  CHECK(apart < 5e-5);
  if (kernels) CHECK(mallocs == 0); /* bodies take some */
}

int main(void) {
#ifdef TC_HAS_PLUGIN
  TC_SCOPE check("kernels", STEPS, true);
  CHECK(hits_of("train_step") == STEPS && fallbacks_of("train_step") == 0);
#endif
  tc_set_enabled(false);
  TC_SCOPE check("bodies", BODIES, false);
  CHECK(tc_memory().live == 0);
  return 0;
}
