/* training.c - families of `tools/bench cpu --only training`: a block with its gradients, and whole steps of
 * training.  Compiled once for each dtype, as cases.c is.
 *
 * Operands stand in the order: leaves, other operands, cotangent or states of the optimiser.  Results: the value or
 * loss, then gradients; a step writes its leaves. */
#include "cases.h"

#include "dtype.h"

#include "mlp.h" /* of DTYPE */

/* ---- a transformer block, of products, softmax and norms --------------------------------------- */

enum { BLOCK = 12, HEAD = 64 };

typedef struct block {
  tc_tensor *norm1 TC_SHAPE(DTYPE "[64*H]"), *bias1 TC_SHAPE(DTYPE "[64*H]");
  tc_tensor *qkv TC_SHAPE(DTYPE "[64*H,192*H]"), *qkv_bias TC_SHAPE(DTYPE "[192*H]");
  tc_tensor *project TC_SHAPE(DTYPE "[64*H,64*H]"), *project_bias TC_SHAPE(DTYPE "[64*H]");
  tc_tensor *norm2 TC_SHAPE(DTYPE "[64*H]"), *bias2 TC_SHAPE(DTYPE "[64*H]");
  tc_tensor *up TC_SHAPE(DTYPE "[64*H,256*H]"), *up_bias TC_SHAPE(DTYPE "[256*H]");
  tc_tensor *down TC_SHAPE(DTYPE "[256*H,64*H]"), *down_bias TC_SHAPE(DTYPE "[64*H]");
} block;

/* x[B,T,H*HEAD] as [B,H,T,HEAD] */
static inline tc_tensor *heads(const tc_tensor *x) {
  const int64_t b = tc_size(x, 0), t = tc_size(x, 1), c = tc_size(x, 2);
  return tc_transpose(tc_reshape(x, TC_DIMS(b, t, c / HEAD, HEAD)), 1, 2);
}

static inline tc_tensor *self_attention(const block *m, const tc_tensor *x) {
  tc_tensor *part[3];
  tc_split(affine(x, m->qkv, m->qkv_bias), 3, 2, part);
  const tc_tensor *scores = tc_matmul(heads(part[0]), tc_transpose(heads(part[1]), -1, -2));
  const tc_tensor *y = tc_matmul(tc_softmax(tc_mul_s(scores, 0.125), -1), heads(part[2]));
  return affine(tc_reshape(tc_transpose(y, 1, 2), tc_shape(x)), m->project, m->project_bias);
}

TC_COMPILE static bool block_grad(const block *m, tc_tensor *x TC_SHAPE(DTYPE "[B,T,64*H]"),
                                  const tc_tensor *dy TC_SHAPE(DTYPE "[B,T,64*H]"),
                                  tc_tensor **out) {
  tc_tensor *g[BLOCK + 1];
  const tc_tensor *wrt[] = {m->norm1,        m->bias1,     m->qkv,   m->qkv_bias, m->project,
                            m->project_bias, m->norm2,     m->bias2, m->up,       m->up_bias,
                            m->down,         m->down_bias, x};
  const tc_tensor *h = tc_add(x, self_attention(m, tc_layer_norm(x, 1, m->norm1, m->bias1, 1e-5)));
  const tc_tensor *wide = affine(tc_layer_norm(h, 1, m->norm2, m->bias2, 1e-5), m->up, m->up_bias);
  const tc_tensor *y = tc_add(h, affine(tc_gelu(wide), m->down, m->down_bias));
  if (!tc_vjp(y, dy, BLOCK + 1, wrt, g)) return false;
  out[0] = tc_detach(y);
  for (int i = 0; i < BLOCK + 1; i++) out[1 + i] = g[i];
  return true;
}
static bool run_block_grad(tc_tensor *const *in, tc_tensor **out) {
  const block m = {in[0], in[1], in[2], in[3], in[4],  in[5],
                   in[6], in[7], in[8], in[9], in[10], in[11]};
  return block_grad(&m, in[12], in[13], out);
}

/* ---- steps of a multilayer perceptron ---------------------------------------------------------- */

TC_COMPILE static tc_tensor *mlp_sgd(const perceptron *m, const tc_tensor *x TC_SHAPE(DTYPE "[B,I]"),
                                     const tc_tensor *t TC_SHAPE("i64[B]")) {
  return mlp_sgd_step(m, x, t);
}
static bool run_mlp_sgd(tc_tensor *const *in, tc_tensor **out) {
  const perceptron m = mlp_of(in);
  return (out[0] = mlp_sgd(&m, in[4], in[5])) != NULL;
}

TC_COMPILE static tc_tensor *mlp_adam(const perceptron *m, const perceptron *mean, const perceptron *square,
                                      const tc_tensor *x TC_SHAPE(DTYPE "[B,I]"),
                                      const tc_tensor *t TC_SHAPE("i64[B]"), int64_t step) {
  return mlp_adam_step(m, mean, square, x, t, step);
}
static bool run_mlp_adam(tc_tensor *const *in, tc_tensor **out) {
  const perceptron m = mlp_of(in), mean = mlp_of(in + 6), square = mlp_of(in + 10);
  return (out[0] = mlp_adam(&m, &mean, &square, in[4], in[5], 10)) != NULL;
}

const bench_case JOIN(bench_training_, BENCH_DTYPE)[BENCH_TRAINING] = {
    {"block_grad", DTYPE, BLOCK + 2, run_block_grad, .leaves = BLOCK + 1, .results = BLOCK + 2},
    {"mlp_sgd", DTYPE, MLP + 2, run_mlp_sgd, .leaves = MLP, .results = 1, .written = MLP},
    {"mlp_adam", DTYPE, 3 * MLP + 2, run_mlp_adam, .leaves = MLP, .results = 1, .written = MLP},
};
