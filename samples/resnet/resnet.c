/* resnet - a residual network learns to tell ten patterns in pictures that the program draws, and names them in others.
 *
 * A step of training is one compiled function: convolutions, normalisation by the batch, gradients, SGD.  Naming is another,
 * by the running statistics.
 *
 *   --depth N        18 (the default) or 50 layers
 *   --image E        32 (the default), or 224: the network of torchvision's files, which names and does not learn here
 *   --weights FILE   as torchvision's, as safetensors; else random ones
 *   --dtype NAME     f32 (the default) or bf16: of what is computed; weights that learn stay f32
 *   --steps N        of training
 *   --batch N        pictures in each
 *   --name N         other pictures in the end
 *   --least PERCENT  fails where fewer of them are named right */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/sample.h"
#include "common/weights.h"
#include "step.h"

enum { PATTERNS = 10, CLASSES = 1000, MOST_BATCH = 256, MOST_STEPS = 10000 };

// clang-format off
TC_COMPILE TC_SPECIALIZE("t->net.depth=18,t->net.window=3,t->half=0")
TC_SPECIALIZE("t->net.depth=18,t->net.window=3,t->half=1") TC_SPECIALIZE("t->net.depth=50,t->net.window=3,t->half=0")
static tc_tensor *train_step(const training *t, const tc_tensor *x TC_SHAPE("f32[N,3,32,32]"),
                             const tc_tensor *classes TC_SHAPE("i64[N]"), double rate) {
  // clang-format on
  return sgd_step(t, x, classes, rate);
}

// clang-format off
TC_COMPILE TC_SPECIALIZE("E=32,m->depth=18,m->window=3") TC_SPECIALIZE("E=32,m->depth=50,m->window=3")
TC_SPECIALIZE("E=224,m->depth=50,m->window=7")
static tc_tensor *named(const resnet *m, const tc_tensor *x TC_SHAPE("R=f32|bf16[N,3,E,E]")) {
  // clang-format on
  return tc_argmax(scores(m, x, INFERENCE), TC_AXES(1), false);
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* 0 <= r < 1 */
static double random_number(uint64_t *seed) { return (double)sample_random(seed) / 0x1p31; }

/* Waves in one of PATTERNS directions, of any phase and colour, under noise: [3,E,E]. */
static void draw(float *x, int64_t E, int64_t pattern, uint64_t *seed) {
  const double angle = M_PI * (double)pattern / PATTERNS, phase = 2 * M_PI * random_number(seed);
  for (int c = 0; c < 3; c++) {
    const double colour = 2 * random_number(seed) - 1;
    for (int64_t i = 0; i < E * E; i++, x++) {
      const double along = cos(angle) * (double)(i / E) + sin(angle) * (double)(i % E);
      *x = (float)(colour * sin(32.0 / (double)E * along + phase) + random_number(seed) - 0.5);
    }
  }
}

typedef struct pictures {
  tc_tensor *x, *pattern; /* f32[N,3,E,E], i64[N] */
} pictures;

static pictures draw_some(int64_t n, int64_t E, uint64_t *seed) {
  float *x = malloc(sizeof *x * (size_t)(n * 3 * E * E));
  int64_t pattern[MOST_BATCH];
  if (!x) exit(1);
  for (int64_t i = 0; i < n; i++) {
    pattern[i] = (int64_t)(PATTERNS * random_number(seed));
    draw(x + i * 3 * E * E, E, pattern[i], seed);
  }
  const tc_device device = tc_default_device();
  pictures p = {sample_check(tc_to(tc_from(TC_DIMS(n, 3, E, E), x, TC_F32), device)),
                sample_check(tc_to(tc_from(TC_DIMS(n), pattern, TC_I64), device))};
  free(x);
  return p;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The convolution `from`.`conv`, of K x K windows, and the norm `from`.`norm` behind it. */
static layer load_layer(const tc_safetensors *file, const char *from, const char *conv,
                        const char *norm, int64_t out, int64_t in, int K) {
  static const char *const part[] = {"weight", "bias", "running_mean", "running_var"};
  char name[96];
  tc_tensor *z[4];
  snprintf(name, sizeof name, "%s%s.weight", from, conv);
  tc_tensor *w =
      weights_get(file, name, TC_DIMS(out, in, K, K), sqrt(2.0 / (double)(out * K * K)), TC_F32);
  for (int i = 0; i < 4; i++) {
    snprintf(name, sizeof name, "%s%s.%s", from, norm, part[i]);
    z[i] = weights_get(file, name, TC_DIMS(out), i == 0 || i == 3, TC_F32);
  }
  return (layer){w, z[0], z[1], z[2], z[3]};
}

static block load_block(const tc_safetensors *file, int stage, int i, shape s) {
  char at[32];
  block b = {0};
  snprintf(at, sizeof at, "layer%d.%d.", stage + 1, i);
  const bool bottleneck = s.out != s.inner;
  b.layer[0] = load_layer(file, at, "conv1", "bn1", s.inner, s.in, bottleneck ? 1 : 3);
  b.layer[1] = load_layer(file, at, "conv2", "bn2", s.inner, s.inner, 3);
  if (bottleneck) b.layer[2] = load_layer(file, at, "conv3", "bn3", s.out, s.inner, 1);
  if (has_beside(s))
    b.beside = load_layer(file, at, "downsample.0", "downsample.1", s.out, s.in, 1);
  return b;
}

static resnet load(int depth, int window, const char *path) {
  tc_safetensors *file = weights_open(path);
  resnet m = {.depth = depth,
              .window = window,
              .stem = load_layer(file, "", "conv1", "bn1", WIDTH, 3, window)};
  block *b = m.block;
  for (int stage = 0; stage < STAGES; stage++)
    for (int i = 0; i < blocks_of(depth, stage); i++)
      *b++ = load_block(file, stage, i, shape_of(depth, stage, i));
  const int64_t last = shape_of(depth, STAGES - 1, 1).out,
                classes = window == 7 ? CLASSES : PATTERNS;
  m.w = weights_get(file, "fc.weight", TC_DIMS(classes, last), 0.01, TC_F32);
  m.bias = weights_get(file, "fc.bias", TC_DIMS(classes), 0, TC_F32);
  tc_safetensors_close(file);
  return m;
}

/* Zeros in place of the parameters. */
static resnet zeros_of(const resnet *m) {
  layer *l[1 + 4 * MOST_BLOCKS];
  resnet z = *m;
  const int n = layers_of(&z, m->depth, l);
  for (int i = 0; i < n; i++) {
    l[i]->w = sample_check(tc_zeros_like(l[i]->w));
    l[i]->scale = sample_check(tc_zeros_like(l[i]->scale)),
    l[i]->shift = sample_check(tc_zeros_like(l[i]->shift));
  }
  z.w = sample_check(tc_zeros_like(z.w)), z.bias = sample_check(tc_zeros_like(z.bias));
  return z;
}

static tc_tensor *cast_of(const tc_tensor *x, tc_dtype dtype) {
  return sample_check(tc_clone(tc_cast(tc_detach(x), dtype)));
}

/* The same network in this dtype. */
static resnet cast(const resnet *m, tc_dtype dtype) {
  layer *l[1 + 4 * MOST_BLOCKS];
  resnet z = *m;
  const int n = layers_of(&z, m->depth, l);
  for (int i = 0; i < n; i++) {
    tc_tensor **part[] = {&l[i]->w, &l[i]->scale, &l[i]->shift, &l[i]->mean, &l[i]->var};
    for (int k = 0; k < 5; k++) *part[k] = cast_of(*part[k], dtype);
  }
  z.w = cast_of(z.w, dtype), z.bias = cast_of(z.bias, dtype);
  return z;
}

/* ---- training and naming --------------------------------------------------------------------- */

static void train(const training *t, int64_t steps, int64_t batch) {
  static double loss[MOST_STEPS];
  double started = 0;
  uint64_t seed = 1;
  for (int64_t i = 0; i < steps; i++) TC_SCOPE {
      const pictures p = draw_some(batch, 32, &seed);
      loss[i] = tc_item(sample_check(train_step(t, p.x, p.pattern, 0.02)));
      if (i == 0) started = seconds_now();
    }
  printf("# %.1f pictures/s\n", (double)((steps - 1) * batch) / (seconds_now() - started));
  sample_print_close("loss", t->half ? 5e-2 : 5e-3, loss, steps < 4 ? (int)steps : 4);
  printf("# loss %.3f, and %.3f in the end\n", loss[0], loss[steps - 1]);
}

/* The share of other pictures that are named right, in percent. */
static double share_named(const resnet *m, int64_t E, int64_t n, tc_dtype dtype) {
  uint64_t seed = 2;
  double right = 0;
  TC_SCOPE TC_NO_GRAD {
    const pictures p = draw_some(n, E, &seed);
    const tc_tensor *x = sample_check(tc_cast(p.x, dtype));
    const double started = seconds_now();
    const tc_tensor *names = sample_check(named(m, x));
    printf("# %.1f pictures/s by name\n", (double)n / (seconds_now() - started));
    right = 100 * tc_item(sample_check(tc_mean(tc_eq(names, p.pattern), TC_ALL, false)));
  }
  printf("# %.1f %% of %lld pictures are named right\n", right, (long long)n);
  return right;
}

/* The row of the table: steps of rate 0, which leave the weights as they are. */
static void measure(const training *t) {
  uint64_t seed = 3;
  const pictures p = draw_some(8, 32, &seed);
  for (sample_run run = sample_run_begin("train_step", NULL); sample_run_next(&run);) {
    training wide = *t;
    if (run.way == SAMPLE_WIDE)
      wide.net = cast(&t->net, TC_F64), wide.velocity = zeros_of(&wide.net);
    sample_run_done(&run, train_step(run.way == SAMPLE_WIDE ? &wide : t, p.x, p.pattern, 0));
  }
}

int main(int argc, char **argv) {
  sample_begin(argc, argv,
               "[--depth 18|50] [--image 32|224] [--weights FILE] [--dtype f32|bf16] [--steps N] "
               "[--batch N] [--name N] [--least PERCENT]");
  const int depth = strcmp(sample_option("--depth", "18"), "50") ? 18 : 50;
  const int64_t E = strcmp(sample_option("--image", "32"), "224") ? 32 : 224;
  const bool half = !strcmp(sample_option("--dtype", "f32"), "bf16");
  const int64_t steps = atoll(sample_option("--steps", E == 32 ? "60" : "0")),
                batch = atoll(sample_option("--batch", "32")),
                others = atoll(sample_option("--name", E == 32 ? "100" : "4"));
  if (steps < 0 || steps > MOST_STEPS || batch < 1 || batch > MOST_BATCH || others < 1 ||
      others > MOST_BATCH || (steps && E != 32))
    return fprintf(stderr,
                   "--steps, --batch or --name out of range, or --steps of images of 224\n"),
           2;
  bool learned = true;
  TC_SCOPE {
    const resnet net = load(depth, E == 32 ? 3 : 7, sample_option("--weights", NULL));
    training t = {net, zeros_of(&net), half};
    tc_tensor *p[MOST];
    const int n = list(&net, depth, p);
    for (int i = 0; i < n; i++) tc_requires_grad_(p[i], true);
    if (steps) train(&t, steps, batch);
    const resnet low = half ? cast(&net, TC_BF16) : net;
    learned = share_named(&low, E, others, half ? TC_BF16 : TC_F32) >=
              atof(sample_option("--least", "0"));
    puts(learned ? "resnet: learned" : "resnet: did not learn");
    if (sample_is_demo() && E == 32) measure(&t);
  }
  return learned ? 0 : 1;
}
