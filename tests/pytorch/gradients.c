/* Losses and gradients of the models of models.h against PyTorch's (expected.h), from the same weights: in compiled
 * functions by kernels and by bodies, by the tape, and by the tape of compiled calls.  In f64, and with IN_F32 in f32. */
#include "../programs/check.h"

#include "expected.h"
#include "models.h"

#ifdef IN_F32
static const tc_dtype dtype = TC_F32;
static const double relative = 1.3e-6, absolute = 1e-5;
#else
static const tc_dtype dtype = TC_F64;
static const double relative = 1e-7, absolute = 1e-7;
#endif

#define MODELS(X) X(mlp) X(transformer) X(lstm) X(unet)

/* The loss, and the gradients with respect to all parameters. */
#define COMPILED(model)                                                                            \
  TC_COMPILE static tc_tensor *model##_step(const model *m, tc_tensor **g) {                       \
    tc_tensor *p[MOST_PARAMETERS], *loss = model##_loss(m);                                        \
    return tc_grad(loss, model##_list(m, p), p, g) ? loss : NULL;                                  \
  }                                                                                                \
  TC_COMPILE static tc_tensor *model##_forward(const model *m) { return model##_loss(m); }
MODELS(COMPILED)

/* Multiples of 1/1024 in -size <= v < size, as in expected.py, which every dtype here holds: the generator of MMIX
 * (Knuth). */
static tc_tensor *numbers(tc_ints dims, double size, uint64_t *seed) {
  double v[512];
  int64_t n = 1;
  for (int i = 0; i < dims.n; i++) n *= dims.v[i];
  CHECK(n <= 512);
  for (int64_t i = 0; i < n; i++) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    v[i] = size * ((double)(*seed >> 33) / 1073741824 - 1);
    v[i] = floor(v[i] * 1024) / 1024;
  }
  return tc_cast(tc_from(dims, v, TC_F64), dtype);
}

static tc_tensor *ones_and(tc_ints dims, double size, uint64_t *seed) {
  return tc_add_s(numbers(dims, size, seed), 1);
}

static mlp mlp_make(void) {
  static const int64_t classes[7] = {0, 3, 1, 2, 3, 0, 1};
  uint64_t s = 1;
  mlp m = {.w1 = numbers(TC_DIMS(6, 5), 0.5, &s), .b1 = numbers(TC_DIMS(6), 0.5, &s)};
  m.w2 = numbers(TC_DIMS(4, 6), 0.5, &s), m.b2 = numbers(TC_DIMS(4), 0.5, &s);
  m.x = numbers(TC_DIMS(7, 5), 1, &s), m.y = tc_from(TC_DIMS(7), classes, TC_I64);
  return m;
}

static transformer transformer_make(void) {
  uint64_t s = 2;
  transformer m = {.w_in = numbers(TC_DIMS(24, 8), 0.5, &s), .b_in = numbers(TC_DIMS(24), 0.5, &s)};
  m.w_out = numbers(TC_DIMS(8, 8), 0.5, &s), m.b_out = numbers(TC_DIMS(8), 0.5, &s);
  m.w_up = numbers(TC_DIMS(12, 8), 0.5, &s), m.b_up = numbers(TC_DIMS(12), 0.5, &s);
  m.w_down = numbers(TC_DIMS(8, 12), 0.5, &s), m.b_down = numbers(TC_DIMS(8), 0.5, &s);
  m.norm1 = ones_and(TC_DIMS(8), 0.25, &s), m.shift1 = numbers(TC_DIMS(8), 0.25, &s);
  m.norm2 = ones_and(TC_DIMS(8), 0.25, &s), m.shift2 = numbers(TC_DIMS(8), 0.25, &s);
  m.x = numbers(TC_DIMS(2, 5, 8), 1, &s), m.y = numbers(TC_DIMS(2, 5, 8), 1, &s);
  return m;
}

static lstm lstm_make(void) {
  uint64_t s = 3;
  lstm m = {.w_ih = numbers(TC_DIMS(20, 3), 0.5, &s), .w_hh = numbers(TC_DIMS(20, 5), 0.5, &s)};
  m.b_ih = numbers(TC_DIMS(20), 0.5, &s), m.b_hh = numbers(TC_DIMS(20), 0.5, &s);
  m.w = numbers(TC_DIMS(2, 5), 0.5, &s), m.b = numbers(TC_DIMS(2), 0.5, &s);
  m.x = numbers(TC_DIMS(STEPS, 3, 3), 1, &s), m.y = numbers(TC_DIMS(3, 2), 1, &s);
  return m;
}

static unet unet_make(void) {
  uint64_t s = 4;
  unet m = {.down1 = numbers(TC_DIMS(4, 3), 0.5, &s), .b1 = numbers(TC_DIMS(4), 0.5, &s)};
  m.down2 = numbers(TC_DIMS(6, 4), 0.5, &s), m.b2 = numbers(TC_DIMS(6), 0.5, &s);
  m.lowest = numbers(TC_DIMS(6, 6), 0.5, &s), m.b3 = numbers(TC_DIMS(6), 0.5, &s);
  m.up2 = numbers(TC_DIMS(4, 12), 0.5, &s), m.b4 = numbers(TC_DIMS(4), 0.5, &s);
  m.up1 = numbers(TC_DIMS(2, 8), 0.5, &s), m.b5 = numbers(TC_DIMS(2), 0.5, &s);
  m.norm = ones_and(TC_DIMS(6), 0.25, &s), m.shift = numbers(TC_DIMS(6), 0.25, &s);
  m.x = numbers(TC_DIMS(2, 8, 3), 1, &s), m.y = numbers(TC_DIMS(2, 8, 2), 1, &s);
  return m;
}

/* ---- comparison ------------------------------------------------------------------------------ */

static void compare(const char *model, const char *way, const char *what, const tc_tensor *got,
                    const double *want) {
  const tc_tensor *expected = tc_from(tc_shape(got), want, TC_F64);
  CHECK(got && tc_dtype_of(got) == dtype && expected);
  if (tc_allclose(tc_cast(got, TC_F64), expected, relative, absolute)) return;
  fprintf(stderr, "%s, %s: %s is apart from PyTorch's by %g\n", model, way, what,
          tc_max_abs_diff(tc_cast(got, TC_F64), expected));
  exit(1);
}

/* want: the loss, and the gradients one after the other. */
static int64_t compare_all(const char *model, const char *way, const tc_tensor *loss, int n,
                           tc_tensor *const *g, const double *want) {
  int64_t at = 1;
  char what[32];
  compare(model, way, "the loss", loss, want);
  for (int i = 0; i < n; i++) {
    snprintf(what, sizeof what, "gradient %d", i);
    compare(model, way, what, g[i], want + at);
    at += tc_numel(g[i]);
  }
  return at;
}

static void check_counts(const char *model) {
#ifdef TC_HAS_PLUGIN
  char name[32];
  snprintf(name, sizeof name, "%s_step", model);
  CHECK(hits_of(name) == 1 && fallbacks_of(name) == 0);
  snprintf(name, sizeof name, "%s_forward", model);
  CHECK(hits_of(name) == 1 + 2 && fallbacks_of(name) == 0); /* recorded: forward and backward */
#endif
  (void)model;
}

#define COMPARE(model)                                                                             \
  static int64_t compare_##model(void) {                                                           \
    int64_t n = sizeof expected_##model / sizeof *expected_##model;                                \
    TC_SCOPE {                                                                                     \
      const model m = model##_make();                                                              \
      tc_tensor *p[MOST_PARAMETERS], *g[MOST_PARAMETERS], *loss;                                   \
      const int count = model##_list(&m, p);                                                       \
      for (int i = 0; i < count; i++) CHECK(tc_requires_grad_(p[i], true));                        \
      for (int kernels = 0; kernels < 2; kernels++) {                                              \
        const char *way = kernels ? "kernels" : "bodies";                                          \
        const bool before = tc_set_enabled(kernels);                                               \
        loss = model##_step(&m, g);                                                                \
        CHECK(compare_all(#model, way, loss, count, g, expected_##model) == n);                    \
        TC_NO_GRAD compare(#model, way, "forward", model##_forward(&m), expected_##model);         \
        tc_set_enabled(before);                                                                    \
      }                                                                                            \
      loss = model##_loss(&m);                                                                     \
      CHECK(tc_backward(loss));                                                                    \
      for (int i = 0; i < count; i++) g[i] = tc_grad_of(p[i]);                                     \
      CHECK(compare_all(#model, "tape", loss, count, g, expected_##model) == n);                   \
      tc_zero_grad(count, p);                                                                      \
      loss = model##_forward(&m);                                                                  \
      CHECK(tc_backward(loss));                                                                    \
      for (int i = 0; i < count; i++) g[i] = tc_grad_of(p[i]);                                     \
      CHECK(compare_all(#model, "compiled call", loss, count, g, expected_##model) == n);          \
      check_counts(#model);                                                                        \
    }                                                                                              \
    return n;                                                                                      \
  }
MODELS(COMPARE)

int main(void) {
#define RUN(model) printf(#model ": %lld numbers, four ways\n", (long long)compare_##model());
  MODELS(RUN)
  CHECK(tc_memory().live == 0);
  return 0;
}
