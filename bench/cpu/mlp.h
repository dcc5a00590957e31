/* mlp.h - steps of training of a multilayer perceptron of DTYPE, a string that is defined in front.  Leaves stand in
 * the order w1, b1, w2, b2. */
#ifndef TC_BENCH_MLP_H
#define TC_BENCH_MLP_H

#include <tcompile/optim.h>

enum { MLP = 4 };

typedef struct perceptron {
  tc_tensor *w1 TC_SHAPE(DTYPE "[I,H]"), *b1 TC_SHAPE(DTYPE "[H]");
  tc_tensor *w2 TC_SHAPE(DTYPE "[H,O]"), *b2 TC_SHAPE(DTYPE "[O]");
} perceptron;

static inline perceptron mlp_of(tc_tensor *const *in) {
  return (perceptron){in[0], in[1], in[2], in[3]};
}

static inline void mlp_list(const perceptron *m, tc_tensor *out[MLP]) {
  out[0] = m->w1, out[1] = m->b1, out[2] = m->w2, out[3] = m->b2;
}

static inline tc_tensor *affine(const tc_tensor *x, const tc_tensor *w, const tc_tensor *b) {
  return tc_add(tc_matmul(x, w), b);
}

static inline tc_tensor *mlp_loss(const perceptron *m, const tc_tensor *x, const tc_tensor *t) {
  return tc_cross_entropy(affine(tc_relu(affine(x, m->w1, m->b1)), m->w2, m->b2), t, TC_MEAN);
}

/* One step; the loss before it, or NULL. */
static inline tc_tensor *mlp_sgd_step(const perceptron *m, const tc_tensor *x, const tc_tensor *t) {
  tc_tensor *p[MLP], *g[MLP], *loss = mlp_loss(m, x, t);
  const tc_sgd_options options = {.rate = 0.05};
  mlp_list(m, p);
  if (!tc_grad(loss, MLP, p, g) || !tc_sgd(MLP, p, g, NULL, options)) return NULL;
  return loss;
}

static inline tc_tensor *mlp_adam_step(const perceptron *m, const perceptron *mean,
                                       const perceptron *square, const tc_tensor *x,
                                       const tc_tensor *t, int64_t step) {
  tc_tensor *p[MLP], *g[MLP], *first[MLP], *second[MLP], *loss = mlp_loss(m, x, t);
  mlp_list(m, p);
  mlp_list(mean, first);
  mlp_list(square, second);
  if (!tc_grad(loss, MLP, p, g)) return NULL;
  return tc_adam(MLP, p, g, first, second, step, tc_adam_defaults(1e-3)) ? loss : NULL;
}

#endif
