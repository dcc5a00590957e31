/* tcompile/optim.h: whole steps of training by each optimiser, by kernels, by bodies, and beside PyTorch's (LAMB's: the
 * paper's algorithm in Python); numbers that follow from the formulas; and what is refused.
 * In f64, and with IN_F32 in f32. */
#include "check.h"

#include <math.h>
#include <tcompile/optim.h>

#include "optimisers_expected.h"

#ifdef IN_F32
#define REAL "f32"
static const tc_dtype dtype = TC_F32;
#else
#define REAL "f64"
static const tc_dtype dtype = TC_F64;
#endif

enum { STEPS = 100, COMPARED = 20 };

typedef struct layer {
  tc_tensor *w TC_SHAPE(REAL "[I,O]"), *b TC_SHAPE(REAL "[O]");
} layer;

/* y ~ tanh(x w + b), by layer `p`; the states of the optimiser are layers, too. */
typedef struct problem {
  layer p, first, second, third;
  tc_tensor *x TC_SHAPE(REAL "[B,I]"), *y TC_SHAPE(REAL "[B,O]");
} problem;

enum kind {
  SGD,
  SGD_MOMENTUM,
  SGD_NESTEROV,
  ADAM,
  ADAM_DECAYED,
  ADAMW,
  LAMB,
  LAMB_COSINE,
  RMSPROP,
  RMSPROP_CENTRED,
  ADAGRAD,
  CLIP_VALUE,
  CLIP_NORM
};

static bool update(const problem *q, tc_tensor **g, enum kind kind, int64_t step) {
  tc_tensor *p[] = {q->p.w, q->p.b}, *first[] = {q->first.w, q->first.b};
  tc_tensor *second[] = {q->second.w, q->second.b}, *third[] = {q->third.w, q->third.b};
  const tc_adam_options decayed = {0.02, 0.8, 0.99, 1e-6, 0.1};
  tc_adam_options adamw = tc_adam_defaults(0.02), lamb = tc_lamb_defaults(0.02);
  adamw.weight_decay = 0.1;
  switch (kind) {
  case SGD:
    return tc_sgd(2, p, g, NULL, (tc_sgd_options){.rate = 0.1});
  case SGD_MOMENTUM:
    return tc_sgd(2, p, g, first,
                  (tc_sgd_options){.rate = 0.05, .momentum = 0.9, .weight_decay = 0.01});
  case SGD_NESTEROV:
    return tc_sgd(2, p, g, first,
                  (tc_sgd_options){.rate = 0.05, .momentum = 0.9, .nesterov = true});
  case ADAM:
    return tc_adam(2, p, g, first, second, step, tc_adam_defaults(0.02));
  case ADAM_DECAYED:
    return tc_adam(2, p, g, first, second, step, decayed);
  case ADAMW:
    return tc_adamw(2, p, g, first, second, step, adamw);
  case LAMB:
    return tc_lamb(2, p, g, first, second, step, lamb);
  case LAMB_COSINE:
    lamb.rate = tc_rate_cosine(tc_rate_linear(0.1, step, 10, 0.1, 1), step, STEPS, 0);
    return tc_lamb(2, p, g, first, second, step, lamb);
  case RMSPROP:
    return tc_rmsprop(2, p, g, first, NULL, NULL, tc_rmsprop_defaults(0.01));
  case RMSPROP_CENTRED:
    return tc_rmsprop(2, p, g, first, second, third,
                      (tc_rmsprop_options){0.01, 0.9, 1e-8, 0.5, 0.01});
  case ADAGRAD:
    return tc_adagrad(2, p, g, first, step, (tc_adagrad_options){0.1, 0.01, 1e-10, 0.01});
  case CLIP_VALUE:
    return tc_clip_value_(2, g, 0.01) && tc_sgd(2, p, g, NULL, (tc_sgd_options){.rate = 0.1});
  case CLIP_NORM:
    return tc_clip_norm_(2, g, 0.05) && tc_sgd(2, p, g, NULL, (tc_sgd_options){.rate = 0.1});
  }
  return false;
}

/* One step; the loss before it, or NULL. */
static inline tc_tensor *train(const problem *q, enum kind kind, int64_t step) {
  tc_tensor *p[] = {q->p.w, q->p.b}, *g[2];
  tc_tensor *loss = tc_mse(tc_tanh(tc_add(tc_matmul(q->x, q->p.w), q->p.b)), q->y, TC_MEAN);
  if (!tc_grad(loss, 2, p, g)) return NULL;
  return update(q, g, kind, step) ? loss : NULL;
}

#define CASES(X)                                                                                   \
  X(SGD, sgd)                                                                                      \
  X(SGD_MOMENTUM, sgd_momentum)                                                                    \
  X(SGD_NESTEROV, sgd_nesterov)                                                                    \
  X(ADAM, adam)                                                                                    \
  X(ADAM_DECAYED, adam_decayed)                                                                    \
  X(ADAMW, adamw)                                                                                  \
  X(LAMB, lamb)                                                                                    \
  X(LAMB_COSINE, lamb_cosine)                                                                      \
  X(RMSPROP, rmsprop)                                                                              \
  X(RMSPROP_CENTRED, rmsprop_centred)                                                              \
  X(ADAGRAD, adagrad)                                                                              \
  X(CLIP_VALUE, clip_value)                                                                        \
  X(CLIP_NORM, clip_norm)

#define FUNCTION(kind, name)                                                                       \
  TC_COMPILE static tc_tensor *by_##name(const problem *q, int64_t step) {                         \
    return train(q, kind, step);                                                                   \
  }
CASES(FUNCTION)

static const struct optimiser {
  const char *function;
  tc_tensor *(*train)(const problem *q, int64_t step);
  const double *expected;
} optimisers[] = {
#define ROW(kind, name) {"by_" #name, by_##name, expected_##name},
    CASES(ROW)};

/* TC_DEVICE says where this program works. */
static tc_tensor *from(tc_ints dims, const double *value) {
  return tc_to(tc_from(dims, value, TC_F64), tc_default_device());
}

/* As in optimisers_expected.py. */
static tc_tensor *numbers(tc_ints dims, int a, int b, int m) {
  double v[64];
  int n = 1;
  for (int i = 0; i < dims.n; i++) n *= (int)dims.v[i];
  for (int i = 0; i < n; i++) v[i] = ((i * a + b) % m - m / 2) / 8.0;
  return tc_cast(from(dims, v), dtype);
}

static layer zeros(const layer *like) {
  tc_tensor *p[] = {like->w, like->b}, *state[2];
  CHECK(tc_optim_zeros(2, p, state));
  return (layer){state[0], state[1]};
}

static problem start(void) {
  problem q = {.x = numbers(TC_DIMS(6, 5), 7, 3, 17),
               .y = numbers(TC_DIMS(6, 3), 5, 1, 13),
               .p = {numbers(TC_DIMS(5, 3), 3, 2, 11), numbers(TC_DIMS(3), 1, 1, 5)}};
  tc_requires_grad_(q.p.w, true);
  tc_requires_grad_(q.p.b, true);
  q.first = zeros(&q.p), q.second = zeros(&q.p), q.third = zeros(&q.p);
  return q;
}

/* The weights after that many steps. */
static layer learn(const struct optimiser *o, int steps, bool kernels) {
  problem q = start();
  const bool before = tc_set_enabled(kernels);
  for (int64_t i = 1; i <= steps; i++) TC_SCOPE CHECK(o->train(&q, i));
  tc_set_enabled(before);
  return q.p;
}

static bool is(const layer *got, const double *want) {
  const tc_tensor *w = from(TC_DIMS(5, 3), want);
  return tc_allclose(got->w, w, 1e-7, 1e-7) &&
         tc_allclose(got->b, from(TC_DIMS(3), want + 15), 1e-7, 1e-7);
}

/* In f32 what is rounded adds up over 100 steps. */
static void check_optimiser(const struct optimiser *o) {
  TC_SCOPE {
    const layer kernels = learn(o, COMPARED, true), bodies = learn(o, COMPARED, false);
    const double rtol = dtype == TC_F32 ? 1.3e-6 : 1e-7, atol = dtype == TC_F32 ? 1e-5 : 1e-7;
    CHECK(tc_allclose(kernels.w, bodies.w, rtol, atol));
    CHECK(tc_allclose(kernels.b, bodies.b, rtol, atol));
    for (int way = 0; way < 2 && dtype == TC_F64; way++) {
      const layer learned = learn(o, STEPS, way);
      if (is(&learned, o->expected)) continue;
      fprintf(stderr, "%s is not as in optimisers_expected.h\n", o->function);
      exit(1);
    }
#ifdef TC_HAS_PLUGIN
    CHECK(hits_of(o->function) == COMPARED + (dtype == TC_F64 ? STEPS : 0));
    CHECK(fallbacks_of(o->function) == 0);
#endif
  }
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* Options that are known at run time only. */
TC_COMPILE static bool sgd_of(tc_tensor *p TC_SHAPE("f32[N]"), tc_tensor *g TC_SHAPE("f32[N]"),
                              tc_tensor *v TC_SHAPE("f32[N]"), const tc_sgd_options *o) {
  return tc_sgd(1, &p, &g, &v, *o);
}

/* A gradient of 1 at each step: v_k = (1 - mu^k) / (1 - mu). */
static void check_momentum(void) {
  for (int nesterov = 0; nesterov < 2; nesterov++) TC_SCOPE {
      tc_tensor *p = tc_zeros(TC_DIMS(3), TC_F32), *g = tc_ones(TC_DIMS(3), TC_F32), *v;
      CHECK(tc_optim_zeros(1, &p, &v));
      const tc_sgd_options o = {.rate = 0.5, .momentum = 0.5, .nesterov = nesterov};
      for (int i = 0; i < 3; i++) CHECK(sgd_of(p, g, v, &o));
      CHECK(tc_at(v, TC_INTS(0)) == 1.75);
      const double moved = nesterov ? 1.5 + 1.75 + 1.875 : 1 + 1.5 + 1.75;
      CHECK(tc_at(p, TC_INTS(2)) == -0.5 * moved);
      const tc_sgd_options decay = {.rate = 0.5, .weight_decay = 0.5};
      const double before = tc_at(p, TC_INTS(0));
      CHECK(sgd_of(p, g, v, &decay) && tc_at(p, TC_INTS(0)) == before - 0.5 * (1 + 0.5 * before));
    }
#ifdef TC_HAS_PLUGIN
  CHECK(hits_of("sgd_of") == 8 && fallbacks_of("sgd_of") == 0);
#endif
}

/* Of a constant gradient, m' is it and v' its square: each step of Adam is rate, whatever the gradient; those of
 * Adagrad are rate / sqrt(k). */
static void check_constant_gradient(void) {
  TC_SCOPE {
    const double value[] = {3, -0.01};
    tc_tensor *p = tc_zeros(TC_DIMS(2), TC_F64), *g = from(TC_DIMS(2), value), *m, *v;
    CHECK(tc_optim_zeros(1, &p, &m) && tc_optim_zeros(1, &p, &v));
    for (int i = 1; i <= 10; i++) CHECK(tc_adam(1, &p, &g, &m, &v, i, tc_adam_defaults(0.1)));
    CHECK(fabs(tc_at(p, TC_INTS(0)) + 1) < 1e-6 && fabs(tc_at(p, TC_INTS(1)) - 1) < 1e-5);
    tc_adam_options o = tc_adam_defaults(0.1);
    o.weight_decay = 0.5;
    CHECK(tc_adamw(1, &p, &g, &m, &v, 11, o) && fabs(tc_at(p, TC_INTS(0)) + 1.05) < 1e-6);
    tc_zero_(p), tc_zero_(v);
    double moved = 0;
    for (int i = 1; i <= 10; i++) {
      CHECK(tc_adagrad(1, &p, &g, &v, i, tc_adagrad_defaults(0.1)));
      moved += 0.1 / sqrt(i);
    }
    CHECK(fabs(tc_at(p, TC_INTS(0)) + moved) < 1e-6);
    tc_zero_(p), tc_zero_(v);
    CHECK(tc_rmsprop(1, &p, &g, &v, NULL, NULL, tc_rmsprop_defaults(0.1)));
    CHECK(fabs(tc_at(p, TC_INTS(0)) + 1) < 1e-6 && fabs(tc_at(p, TC_INTS(1)) - 1) < 1e-4);
  }
}

static void check_clipping(void) {
  TC_SCOPE {
    tc_tensor *g[] = {tc_full(TC_DIMS(2, 2), 3, TC_F32), tc_full(TC_DIMS(7), -4, TC_F16)};
    const double norm = sqrt(4 * 9 + 7 * 16); /* 12.17 */
    CHECK(fabs(tc_item(tc_clip_norm_(2, g, 20)) - norm) < 1e-5);
    CHECK(tc_at(g[0], TC_INTS(1, 1)) == 3 && tc_at(g[1], TC_INTS(6)) == -4);
    CHECK(fabs(tc_item(tc_clip_norm_(2, g, norm / 2)) - norm) < 1e-5);
    CHECK(fabs(tc_at(g[0], TC_INTS(1, 1)) - 1.5) < 1e-5 && tc_at(g[1], TC_INTS(6)) == -2);
    CHECK(tc_clip_value_(2, g, 1) && tc_at(g[0], TC_INTS(0, 0)) == 1);
    CHECK(tc_at(g[1], TC_INTS(0)) == -1);
  }
}

/* A norm that is 0 leaves the step as it is: of parameters that are 0, and of no change. */
static void check_lamb(void) {
  TC_SCOPE {
    const double value[] = {3, -4};
    tc_tensor *p = tc_zeros(TC_DIMS(2), TC_F64), *g = from(TC_DIMS(2), value), *m, *v;
    CHECK(tc_optim_zeros(1, &p, &m) && tc_optim_zeros(1, &p, &v));
    tc_adam_options o = tc_lamb_defaults(0.1);
    CHECK(tc_lamb(1, &p, &g, &m, &v, 1, o)); /* p - rate sign(g) */
    CHECK(fabs(tc_at(p, TC_INTS(0)) + 0.1) < 1e-6 && fabs(tc_at(p, TC_INTS(1)) - 0.1) < 1e-6);
    CHECK(tc_copy_(p, g) && tc_zero_(m) && tc_zero_(v));
    o.weight_decay = 0;
    CHECK(tc_lamb(1, &p, &g, &m, &v, 1, o)); /* |p| = 5, |u| = sqrt(2) */
    CHECK(fabs(tc_at(p, TC_INTS(0)) - (3 - 0.5 / sqrt(2))) < 1e-6);
    CHECK(tc_copy_(p, g) && tc_zero_(m) && tc_zero_(v) && tc_zero_(g));
    CHECK(tc_lamb(1, &p, &g, &m, &v, 1, o) && tc_at(p, TC_INTS(0)) == 3);
  }
}

/* ---- 16 bits, and sums of gradients ------------------------------------------------------------ */

typedef struct narrow {
  tc_tensor *w TC_SHAPE("bf16[I,O]"), *master TC_SHAPE("f32[I,O]"), *sum TC_SHAPE("f32[I,O]");
  tc_tensor *mean TC_SHAPE("f32[I,O]"), *square TC_SHAPE("f32[I,O]");
} narrow;

/* Adds the gradient of a part of the batch, 1 of `parts`; the last one is followed by a step of the master weights. */
TC_COMPILE static bool train_part(narrow *q, const tc_tensor *x TC_SHAPE("bf16[B,I]"),
                                  const tc_tensor *y TC_SHAPE("bf16[B,O]"), int parts) {
  tc_tensor *g, *loss = tc_mse(tc_matmul(x, q->w), y, TC_MEAN);
  return tc_grad(loss, 1, &q->w, &g) && tc_optim_accumulate(1, &q->sum, &g, 1.0 / parts);
}
TC_COMPILE static bool update_masters(narrow *q, int64_t step) {
  return tc_adamw(1, &q->master, &q->sum, &q->mean, &q->square, step, tc_adam_defaults(1e-3)) &&
         tc_optim_store(1, &q->w, &q->master) && tc_optim_clear(1, &q->sum);
}

static narrow start_narrow(void) {
  narrow q = {.w = tc_cast(tc_randn(TC_DIMS(8, 3), 1, TC_F32), TC_BF16)};
  CHECK(tc_requires_grad_(q.w, true) && tc_optim_masters(1, &q.w, &q.master));
  CHECK(tc_dtype_of(q.master) == TC_F32 && !tc_requires_grad(q.master));
  CHECK(tc_max_abs_diff(tc_cast(q.w, TC_F32), q.master) == 0);
  CHECK(tc_optim_zeros(1, &q.w, &q.sum) && tc_dtype_of(q.sum) == TC_F32);
  CHECK(tc_optim_zeros(1, &q.w, &q.mean) && tc_optim_zeros(1, &q.w, &q.square));
  return q;
}

/* 20 steps, each of `parts` parts of the batch; the loss of the rounded weights in f32. */
static double learn_narrow(int parts, bool kernels, tc_tensor **master) {
  narrow q = start_narrow();
  tc_tensor *x = tc_cast(tc_randn(TC_DIMS(32, 8), 2, TC_F32), TC_BF16);
  tc_tensor *y = tc_cast(tc_randn(TC_DIMS(32, 3), 3, TC_F32), TC_BF16);
  const int64_t rows = 32 / parts;
  const bool before = tc_set_enabled(kernels);
  for (int step = 1; step <= 20; step++) TC_SCOPE {
      for (int i = 0; i < parts; i++) {
        tc_tensor *a = tc_slice(x, 0, i * rows, (i + 1) * rows, 1);
        CHECK(train_part(&q, a, tc_slice(y, 0, i * rows, (i + 1) * rows, 1), parts));
      }
      TC_NO_GRAD CHECK(update_masters(&q, step));
    }
  tc_set_enabled(before);
  CHECK(tc_max_abs_diff(tc_cast(q.master, TC_BF16), tc_detach(q.w)) == 0);
  *master = q.master;
  return tc_item(tc_mse(tc_matmul(tc_cast(x, TC_F32), q.master), tc_cast(y, TC_F32), TC_MEAN));
}

static void check_narrow(void) {
  TC_SCOPE {
    tc_tensor *whole, *parts, *bodies;
    const double loss = learn_narrow(1, true, &whole);
    CHECK(fabs(learn_narrow(4, true, &parts) - loss) < 1e-2 * loss);
    CHECK(fabs(learn_narrow(4, false, &bodies) - loss) < 1e-2 * loss);
    CHECK(tc_allclose(parts, bodies, 1.6e-2, 1e-3)); /* gradients in bf16, divided by their roots */
#ifdef TC_HAS_PLUGIN
    CHECK(hits_of("train_part") == 100 && fallbacks_of("train_part") == 0);
    CHECK(hits_of("update_masters") == 40 && fallbacks_of("update_masters") == 0);
#endif
    /* bf16's own steps of 2^-8 of its value are too large for what is added up. */
    tc_tensor *p = tc_ones(TC_DIMS(4), TC_BF16), *g = tc_full(TC_DIMS(4), 1e-3, TC_BF16), *master;
    CHECK(tc_optim_masters(1, &p, &master));
    const tc_sgd_options o = {.rate = 1};
    for (int i = 0; i < 10; i++)
      CHECK(tc_sgd(1, &p, &g, NULL, o) && tc_sgd(1, &master, &g, NULL, o));
    CHECK(tc_at(p, TC_INTS(0)) == 1 && fabs(tc_at(master, TC_INTS(0)) - 0.99) < 1e-4);
    CHECK(tc_optim_store(1, &p, &master) && tc_at(p, TC_INTS(0)) < 1);
  }
}

/* Rates of steps 1 to STEPS beside those of torch.optim.lr_scheduler. */
static void check_schedules(void) {
  const tc_one_cycle_options tall = {0.5, 0.1, 10, 100};
  for (int64_t step = 1; step <= STEPS; step++) {
    const double rates[] = {tc_rate_step(0.1, step, 30, 0.5),
                            tc_rate_exponential(0.1, step, 0.97),
                            tc_rate_cosine(0.1, step, 80, 0.01),
                            tc_rate_linear(0.1, step, 20, 0.25, 1),
                            tc_rate_one_cycle(step, STEPS, tc_one_cycle_defaults(0.1)),
                            tc_rate_one_cycle(step, STEPS, tall)};
    for (int i = 0; i < 6; i++)
      CHECK(fabs(rates[i] - expected_rates[i][step - 1]) <= 1e-12 * rates[i]);
  }
  CHECK(tc_rate_one_cycle(1, 1, tall) == 0.5 / 10 / 100);
  const tc_one_cycle_options rising = {1, 1, 4, 100};
  CHECK(tc_rate_one_cycle(1, 5, rising) == 0.25 && tc_rate_one_cycle(5, 5, rising) == 1);
}

static void check_errors(void) {
  TC_SCOPE {
    tc_tensor *p[] = {tc_ones(TC_DIMS(4), TC_F32), tc_ones(TC_DIMS(4), TC_F32)};
    tc_tensor *g[] = {tc_ones(TC_DIMS(4), TC_F32), tc_ones(TC_DIMS(3), TC_F32)}, *state[2];
    CHECK(!tc_sgd(2, p, g, NULL, (tc_sgd_options){.rate = 1}) && tc_error());
    CHECK(tc_at(p[0], TC_INTS(0)) == 0 && tc_at(p[1], TC_INTS(0)) == 1);
    tc_clear_error();
    g[1] = NULL;
    CHECK(!tc_clip_norm_(2, g, 1) && tc_error());
    tc_clear_error();
    CHECK(!tc_clip_value_(2, g, 1) && tc_error());
    tc_clear_error();
    CHECK(!tc_optim_zeros(2, g, state) && tc_error() && !state[0] && !state[1]);
    tc_clear_error();
    CHECK(!tc_optim_masters(2, g, state) && tc_error() && !state[0] && !state[1]);
    tc_clear_error();
    CHECK(!tc_optim_accumulate(2, p, g, 1) && tc_error());
    tc_clear_error();
    CHECK(!tc_optim_store(2, p, g) && tc_error());
    tc_clear_error();
    CHECK(!tc_optim_clear(2, g) && tc_error());
    tc_clear_error();
    CHECK(!tc_lamb(2, p, g, p, p, 1, tc_lamb_defaults(1)) && tc_error());
    tc_clear_error();
  }
}

int main(void) {
  for (size_t i = 0; i < sizeof optimisers / sizeof *optimisers; i++)
    check_optimiser(&optimisers[i]);
  check_momentum();
  check_constant_gradient();
  check_clipping();
  check_lamb();
  check_narrow();
  check_schedules();
  check_errors();
  CHECK(tc_memory().live == 0);
  puts("optimisers: ok");
  return 0;
}
