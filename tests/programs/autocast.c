/* TC_AUTOCAST: kernels beside bodies, the dtypes of results and gradients, training in bf16 and in f16 beside f32, and the
 * scaling of losses. */
#include "check.h"

#include <math.h>
#include <string.h>
#include <tcompile/nn.h>
#include <tcompile/optim.h>

/* max |a - b| / max |b| */
static double apart(const tc_tensor *a, const tc_tensor *b) {
  double e = 0;
  TC_SCOPE {
    a = tc_cast(a, TC_F64);
    b = tc_cast(b, TC_F64);
    const double top = tc_item(tc_max(tc_abs(tc_sub(a, b)), TC_ALL, false));
    e = top / tc_item(tc_max(tc_abs(b), TC_ALL, false));
  }
  return e;
}

/* ---- a block of a transformer ------------------------------------------------------------------- */

enum { DIM = 32, HEADS = 2, TOKENS = 24, CLASSES = 16, BATCH = 2, WEIGHTS = 7 };

typedef struct model {
  tc_tensor *embedding TC_SHAPE("f32[16,32]"), *scale TC_SHAPE("f32[32]"), *qkv TC_SHAPE("f32[96,32]");
  tc_tensor *out TC_SHAPE("f32[32,32]"), *up TC_SHAPE("f32[64,32]"), *down TC_SHAPE("f32[32,64]");
  tc_tensor *last TC_SHAPE("f32[16,32]");
} model;

static void list_of(const model *m, tc_tensor **p) {
  tc_tensor *list[] = {m->embedding, m->scale, m->qkv, m->out, m->up, m->down, m->last};
  for (int i = 0; i < WEIGHTS; i++) p[i] = list[i];
}

static tc_tensor *heads_of(const tc_tensor *x, int part) {
  const tc_tensor *one = tc_slice(x, -1, part * DIM, (part + 1) * DIM, 1);
  return tc_transpose(tc_reshape(one, TC_DIMS(BATCH, TOKENS, HEADS, DIM / HEADS)), 1, 2);
}

static tc_tensor *logits_of(const model *m, const tc_tensor *ids) {
  const tc_tensor *x = tc_embedding(m->embedding, ids);
  const tc_tensor *h = tc_linear(tc_rms_norm(x, 1, m->scale, 1e-6), m->qkv, NULL);
  const tc_tensor *a = tc_attention(heads_of(h, 0), heads_of(h, 1), heads_of(h, 2), (tc_attention_options){.causal = true});
  x = tc_add(x, tc_linear(tc_reshape(tc_transpose(a, 1, 2), TC_DIMS(BATCH, TOKENS, DIM)), m->out, NULL));
  x = tc_add(x, tc_linear(tc_gelu(tc_linear(x, m->up, NULL)), m->down, NULL));
  return tc_linear(x, m->last, NULL);
}

static tc_tensor *loss_of(const model *m, const tc_tensor *ids, const tc_tensor *next) {
  return tc_cross_entropy(tc_reshape(logits_of(m, ids), TC_DIMS(BATCH * TOKENS, CLASSES)), next, TC_MEAN);
}

#define IDS const tc_tensor *ids TC_SHAPE("i64[2,24]"), const tc_tensor *next TC_SHAPE("i64[48]")

/* The loss, and its gradients. */
#define GRADIENTS(name, scope)                                                                     \
  TC_COMPILE_WITH("fullgraph")                                                                     \
  tc_tensor *name(const model *m, IDS, tc_tensor **g) {                                            \
    tc_tensor *p[WEIGHTS], *loss = NULL;                                                           \
    list_of(m, p);                                                                                 \
    scope loss = loss_of(m, ids, next);                                                            \
    return tc_grad(loss, WEIGHTS, p, g) ? loss : NULL;                                             \
  }
GRADIENTS(in_f32, )
GRADIENTS(in_bf16, TC_AUTOCAST(TC_BF16))
GRADIENTS(in_f16, TC_AUTOCAST(TC_F16))

TC_COMPILE_WITH("fullgraph") tc_tensor *logits(const model *m, const tc_tensor *ids TC_SHAPE("i64[2,24]")) {
  tc_tensor *y = NULL;
  TC_AUTOCAST(TC_BF16) y = logits_of(m, ids);
  return y;
}

static model model_new(void) {
  const double s = 1 / sqrt(DIM);
#define WEIGHT(seed, rows, columns) tc_mul_s(tc_randn(TC_DIMS(rows, columns), seed, TC_F32), s)
  model m = {WEIGHT(1, CLASSES, DIM), tc_ones(TC_DIMS(DIM), TC_F32), WEIGHT(2, 3 * DIM, DIM), WEIGHT(3, DIM, DIM),
             WEIGHT(4, 2 * DIM, DIM), WEIGHT(5, DIM, 2 * DIM), WEIGHT(6, CLASSES, DIM)};
  tc_tensor *p[WEIGHTS];
  list_of(&m, p);
  for (int i = 0; i < WEIGHTS; i++) tc_requires_grad_(p[i], true);
  return m;
}

/* The text 0 3 6 9 ... with a step in it that depends on the place. */
static tc_tensor *text(int first) {
  int64_t at[BATCH * TOKENS];
  for (int i = 0; i < BATCH * TOKENS; i++) at[i] = (first + 3 * i + (i / 5) % 2) % CLASSES;
  return tc_from(TC_DIMS(BATCH * TOKENS), at, TC_I64);
}

static tc_tensor *ids_of(int first) { return tc_reshape(text(first), TC_DIMS(BATCH, TOKENS)); }

typedef tc_tensor *gradients_of(const model *, const tc_tensor *, const tc_tensor *, tc_tensor **);

/* Kernels, and the body that they stand in for. */
static void test_gradients(gradients_of *f, const char *name, double tolerance) {
  TC_SCOPE {
    const model m = model_new();
    tc_tensor *g[WEIGHTS], *body[WEIGHTS], *exact[WEIGHTS];
    const tc_tensor *ids = ids_of(0), *next = text(1);
    const tc_tensor *loss = f(&m, ids, next, g);
    CHECK(loss && tc_dtype_of(loss) == TC_F32 && hits_of(name) == 1);
    tc_set_enabled(false);
    const tc_tensor *by_body = f(&m, ids, next, body);
    CHECK(by_body && tc_dtype_of(by_body) == TC_F32);
    CHECK(in_f32(&m, ids, next, exact));
    tc_set_enabled(true);
    CHECK(fabs(tc_item(loss) - tc_item(by_body)) <= tolerance * tc_item(by_body));
    for (int i = 0; i < WEIGHTS; i++) {
      CHECK(tc_dtype_of(g[i]) == TC_F32 && tc_dtype_of(body[i]) == TC_F32);
      CHECK(apart(g[i], exact[i]) <= 2 * apart(body[i], exact[i]) + tolerance);
      CHECK(apart(body[i], exact[i]) < 20 * tolerance);
      CHECK(apart(body[i], exact[i]) > 0); /* there is less precision */
    }
  }
}

/* Eagerly, by the tape. */
static void test_tape(void) {
  TC_SCOPE {
    const model m = model_new();
    tc_tensor *p[WEIGHTS], *loss = NULL, *g[WEIGHTS];
    list_of(&m, p);
    const tc_tensor *ids = ids_of(0), *next = text(1);
    CHECK(in_bf16(&m, ids, next, g));
    TC_AUTOCAST(TC_BF16) {
      loss = loss_of(&m, ids, next);
      CHECK(tc_backward(loss)); /* in the scope: derivatives are as outside */
    }
    for (int i = 0; i < WEIGHTS; i++) {
      CHECK(tc_dtype_of(tc_grad_of(p[i])) == TC_F32);
      CHECK(apart(tc_grad_of(p[i]), g[i]) < 0.03);
    }
    tc_tensor *y = logits(&m, ids);
    CHECK(y && tc_dtype_of(y) == TC_BF16);
  }
}

/* ---- scopes ---------------------------------------------------------------------------------------- */

static tc_dtype product(void) {
  tc_dtype d = TC_DTYPE_COUNT;
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(2, 2), TC_F32);
    d = tc_dtype_of(tc_matmul(x, x));
  }
  return d;
}

static tc_dtype left_by_return(void) {
  TC_AUTOCAST(TC_F16) { return product(); }
  return TC_DTYPE_COUNT;
}

static void test_scopes(void) {
  CHECK(product() == TC_F32 && tc_autocast_dtype() == TC_DTYPE_COUNT);
  TC_AUTOCAST(TC_BF16) {
    CHECK(product() == TC_BF16 && tc_autocast_dtype() == TC_BF16);
    TC_AUTOCAST(TC_F16) CHECK(product() == TC_F16);
    CHECK(product() == TC_BF16 && left_by_return() == TC_F16 && product() == TC_BF16);
    TC_NO_AUTOCAST {
      CHECK(product() == TC_F32);
      TC_AUTOCAST(TC_F16) CHECK(product() == TC_F16);
    }
    for (int i = 0; i < 2; i++) TC_NO_AUTOCAST {
        if (i == 0) break; /* out of TC_NO_AUTOCAST */
      }
    CHECK(product() == TC_BF16);
  }
  CHECK(product() == TC_F32);
  TC_AUTOCAST(TC_F64) CHECK(product() == TC_F32); /* an error, and no scope */
  CHECK(tc_error() && strstr(tc_error(), "tc_set_autocast: f64 is none of f16 and bf16"));
  tc_clear_error();
}

/* ---- what the lists say, eagerly --------------------------------------------------------------- */

static void test_dtypes(void) {
  TC_SCOPE TC_AUTOCAST(TC_BF16) {
    const tc_tensor *x = tc_ones(TC_DIMS(3, 3), TC_F32), *h = tc_ones(TC_DIMS(3, 3), TC_BF16), *two[] = {x, h};
    const tc_tensor *d = tc_ones(TC_DIMS(3, 3), TC_F64), *index = tc_zeros(TC_DIMS(3, 3), TC_I64);
    tc_tensor *mean = NULL;
    CHECK(tc_dtype_of(tc_linear(x, h, tc_ones(TC_DIMS(3), TC_F32))) == TC_BF16);
    CHECK(tc_dtype_of(tc_einsum("ij,jk->ik", two, 2)) == TC_BF16);
    CHECK(tc_dtype_of(tc_matmul(d, x)) == TC_F64);
    CHECK(tc_dtype_of(tc_softmax(h, -1)) == TC_F32 && tc_dtype_of(tc_exp(h)) == TC_F32);
    CHECK(tc_dtype_of(tc_sum(h, TC_ALL, false)) == TC_F32 && tc_dtype_of(tc_cumsum(h, 0)) == TC_F32);
    CHECK(tc_dtype_of(tc_var_mean(h, TC_ALL, 0, false, &mean)) == TC_F32 && tc_dtype_of(mean) == TC_F32);
    CHECK(tc_dtype_of(tc_layer_norm(h, 1, NULL, NULL, 1e-5)) == TC_F32);
    CHECK(tc_dtype_of(tc_huber(h, h, 1, TC_MEAN)) == TC_F32 && tc_dtype_of(tc_mse(h, x, TC_MEAN)) == TC_F32);
    CHECK(tc_dtype_of(tc_relu(h)) == TC_BF16 && tc_dtype_of(tc_add(h, h)) == TC_BF16);
    CHECK(tc_dtype_of(tc_add(h, x)) == TC_F32 && tc_dtype_of(tc_concat(two, 2, 0)) == TC_F32);
    CHECK(tc_dtype_of(tc_scatter_add(h, 0, index, x)) == TC_F32);
    CHECK(tc_dtype_of(tc_max(h, TC_ALL, false)) == TC_BF16);
    CHECK(tc_dtype_of(tc_exp_(tc_clone(h))) == TC_BF16);
    const tc_tensor *image = tc_ones(TC_DIMS(1, 2, 5, 5), TC_F32), *w = tc_ones(TC_DIMS(4, 2, 3, 3), TC_F32);
    CHECK(tc_dtype_of(tc_conv(image, w, tc_ones(TC_DIMS(4), TC_F32), TC_INTS(1), TC_INTS(1), TC_INTS(1), 1)) == TC_BF16);
    CHECK(tc_dtype_of(tc_attention(x, x, x, (tc_attention_options){.causal = true})) == TC_BF16);
  }
}

/* ---- scopes around calls ------------------------------------------------------------------------- */

#define X const tc_tensor *x TC_SHAPE("f32[N,8]")
TC_COMPILE_WITH("autocast=bf16,f16") tc_tensor *for_all(X) { return tc_softmax(tc_matmul(tc_transpose(x, 0, 1), x), -1); }
TC_COMPILE tc_tensor *for_none(X) { return tc_matmul(tc_transpose(x, 0, 1), x); }

static void test_around(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_randn(TC_DIMS(5, 8), 3, TC_F32), *y = for_all(x);
    TC_AUTOCAST(TC_BF16) CHECK(apart(for_all(x), y) > 1e-5 && apart(for_all(x), y) < 0.02);
    TC_AUTOCAST(TC_F16) CHECK(apart(for_all(x), y) > 1e-5 && apart(for_all(x), y) < 0.003);
    CHECK(hits_of("for_all") == 5 && fallbacks_of("for_all") == 0);
    TC_AUTOCAST(TC_BF16) CHECK(tc_dtype_of(for_none(x)) == TC_BF16);
    CHECK(hits_of("for_none") == 0 && fallbacks_of("for_none") == 1);
    TC_AUTOCAST(TC_BF16) TC_NO_AUTOCAST CHECK(tc_dtype_of(for_none(x)) == TC_F32);
    CHECK(hits_of("for_none") == 1 && fallbacks_of("for_none") == 1);
  }
}

/* ---- training -------------------------------------------------------------------------------------- */

typedef struct training {
  model m, mean, square;
  tc_loss_scaler s;
} training;

/* Without a branch: a step whose gradients are not finite is undone. */
TC_COMPILE_WITH("fullgraph") tc_tensor *scaled_step(training *t, IDS, int64_t step, double rate) {
  tc_tensor *p[WEIGHTS], *mean[WEIGHTS], *square[WEIGHTS], *g[WEIGHTS], *all[3 * WEIGHTS], *kept[3 * WEIGHTS], *loss = NULL;
  list_of(&t->m, p);
  list_of(&t->mean, mean);
  list_of(&t->square, square);
  for (int i = 0; i < WEIGHTS; i++) {
    all[i] = p[i];
    all[WEIGHTS + i] = mean[i];
    all[2 * WEIGHTS + i] = square[i];
  }
  TC_AUTOCAST(TC_F16) loss = loss_of(&t->m, ids, next);
  if (!tc_grad(tc_scaled_loss(&t->s, loss), WEIGHTS, p, g)) return NULL;
  const bool done = tc_unscale_(&t->s, WEIGHTS, g) && tc_scaler_save(3 * WEIGHTS, all, kept) &&
                    tc_adamw(WEIGHTS, p, g, mean, square, step, tc_adam_defaults(rate)) &&
                    tc_scaler_undo(&t->s, 3 * WEIGHTS, all, kept) && tc_scaler_update(&t->s);
  return done ? loss : NULL;
}

static training training_new(double scale) {
  training t = {.m = model_new()};
  tc_loss_scaler_options o = tc_loss_scaler_defaults();
  tc_tensor *p[WEIGHTS], *z[2][WEIGHTS];
  o.scale = scale;
  o.interval = 20;
  list_of(&t.m, p);
  for (int k = 0; k < 2; k++) {
    CHECK(tc_optim_zeros(WEIGHTS, p, z[k]));
    model *to = k ? &t.square : &t.mean;
    *to = (model){z[k][0], z[k][1], z[k][2], z[k][3], z[k][4], z[k][5], z[k][6]};
  }
  t.s = tc_loss_scaler_new(o);
  return t;
}

enum { STEPS = 60 };

/* Losses of a run. */
static void train(gradients_of *f, double *loss) {
  TC_SCOPE {
    const training t = training_new(1);
    tc_tensor *p[WEIGHTS], *mean[WEIGHTS], *square[WEIGHTS], *g[WEIGHTS];
    list_of(&t.m, p);
    list_of(&t.mean, mean);
    list_of(&t.square, square);
    for (int i = 0; i < STEPS; i++) TC_SCOPE {
        const tc_tensor *y = f(&t.m, ids_of(i), text(i + 1), g);
        CHECK(y && tc_adamw(WEIGHTS, p, g, mean, square, i + 1, tc_adam_defaults(3e-3)));
        loss[i] = tc_item(y);
      }
  }
}

static void test_training(void) {
  double f32[STEPS], bf16[STEPS];
  train(in_f32, f32);
  train(in_bf16, bf16);
  CHECK(f32[0] > 2 && f32[STEPS - 1] < 0.7 * f32[0]);
  for (int i = 0; i < STEPS; i++) CHECK(fabs(bf16[i] - f32[i]) < 0.02 * f32[0]);
  TC_SCOPE {
    training t = training_new(0x1p30); /* too large by far: steps are left out until it is not */
    int left_out = 0, finite = 0;
    for (int i = 0; finite < STEPS && i < STEPS + 40; i++) TC_SCOPE {
        const tc_tensor *before = tc_clone(t.m.qkv);
        const tc_tensor *y = scaled_step(&t, ids_of(finite), text(finite + 1), finite + 1, 3e-3);
        CHECK(y && isfinite(tc_item(y)));
        const bool bad = tc_scaler_found_inf(&t.s) != 0;
        if (!bad) CHECK(fabs(tc_item(y) - f32[finite]) < 0.02 * f32[0]);
        CHECK((apart(t.m.qkv, before) == 0) == bad);
        left_out += bad;
        finite += !bad;
      }
    CHECK(left_out > 3 && finite == STEPS);
    CHECK(tc_item(t.s.scale) < 0x1p30 && tc_item(t.s.scale) >= 256);
    CHECK(fallbacks_of("scaled_step") == 0);
  }
}

/* The scaler's numbers are PyTorch's: growth behind `interval` finite steps, backoff at once. */
static void test_scaler(void) {
  TC_SCOPE {
    tc_loss_scaler s = tc_loss_scaler_new((tc_loss_scaler_options){8, 2, 0.5, 2});
    const double given[] = {1, 1, INFINITY, 1, NAN, 1, 1, 1}, scale[] = {8, 16, 8, 8, 4, 4, 8, 8};
    for (int i = 0; i < 8; i++) {
      tc_tensor *g[] = {tc_full(TC_DIMS(2), 8, TC_F32), tc_full(TC_DIMS(3), given[i], TC_F32)};
      const double before = tc_item(s.scale);
      CHECK(tc_unscale_(&s, 2, g) && tc_at(g[0], TC_DIMS(1)) == 8 / before);
      CHECK(tc_scaler_found_inf(&s) == !isfinite(given[i]));
      CHECK(tc_scaler_update(&s) && tc_item(s.scale) == scale[i]);
    }
    s = tc_loss_scaler_new((tc_loss_scaler_options){0x1p127, 2, 0.5, 1});
    CHECK(tc_scaler_update(&s) && tc_item(s.scale) == 0x1p127); /* infinite it would be for ever */
  }
}

int main(void) {
  test_scopes();
  test_dtypes();
  test_gradients(in_bf16, "in_bf16", 0.01);
  test_gradients(in_f16, "in_f16", 0.002);
  test_tape();
  test_around();
  test_scaler();
  test_training();
  printf("autocast: passed\n");
  return 0;
}
