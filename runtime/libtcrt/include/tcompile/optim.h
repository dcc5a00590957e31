/* optim.h - optimisers and clipping of gradients, written with the functions of tcompile.h.
 *
 *   tc_tensor *p[] = {m->w, m->b}, *g[2];
 *   if (!tc_grad(loss, 2, p, g)) return NULL;
 *   tc_clip_norm_(2, g, 1.0);
 *   tc_adamw(2, p, g, mean, square, step, tc_adam_defaults(1e-3));
 *
 * In a compiled function they are inlined: forward pass, backward pass and update are one graph.  Called
 * from elsewhere they run op by op.
 *
 * Rules that hold for every function below:
 *  - p are n parameters, floating, written in place; leaves may be written, as nothing is recorded
 *    inside.  g are their gradients, each of the shape of its parameter, or broadcast to it.
 *  - A state is a list of n tensors of the shapes of p, zeros at first (tc_optim_zeros), that belongs to
 *    the caller and is written in place.  The update is computed in its dtype, which is f32 for f16 and
 *    bf16.
 *  - step counts from 1.  Rates, decays and steps are C numbers: schedules are C (tcompile/schedules.h).
 *  - false, or NULL, with an error: parameters before the one that it is about were updated, and that
 *    one's state may have been. */
#ifndef TCOMPILE_OPTIM_H
#define TCOMPILE_OPTIM_H

#include <math.h>
#include <tcompile.h>
#include <tcompile/schedules.h>
#include <tcompile/library_begin.h>

/* ---- states, master weights, sums of gradients ------------------------------------------------ */

/* f32 for f16 and bf16, else the dtype itself: of states, and of master weights. */
static inline tc_dtype tc_optim_dtype(tc_dtype d) {
  return d == TC_F16 || d == TC_BF16 ? TC_F32 : d;
}

static inline const tc_tensor *tc_optim_as(const tc_tensor *x, tc_dtype dtype) {
  return tc_dtype_of(x) == dtype ? x : tc_cast(x, dtype);
}

/* A state of p has the shape of p and the dtype of tc_optim_dtype: so compiled code takes it where no TC_SHAPE says what it is,
 * as of elements of an array, and a guard asks.  Nothing happens. */
static inline void tc_optim_expect(const tc_tensor *state, const tc_tensor *p) {
  (void)state;
  (void)p;
}

/* state[i] for each p[i]: a copy of it, or zeros like it, in tc_optim_dtype. */
static inline bool tc_optim_make(int n, tc_tensor *const *p, bool copy, tc_tensor **state) {
  bool done = true;
  for (int i = 0; i < n; i++) TC_NO_GRAD TC_SCOPE {
      const tc_tensor *like = copy ? tc_clone(p[i]) : tc_zeros_like(p[i]);
      state[i] = tc_cast(like, tc_optim_dtype(tc_dtype_of(p[i])));
      done = tc_keep(state[i]) && done;
    }
  for (int i = 0; i < n && !done; i++) {
    tc_free(state[i]);
    state[i] = NULL;
  }
  return done;
}

/* Zeros for a state, to state[i], one for each p[i] on its device: f32 for f16 and bf16, else of its
 * dtype.  They are owned as results are.  false with an error, and NULLs. */
static inline bool tc_optim_zeros(int n, tc_tensor *const *p, tc_tensor **state) {
  return tc_optim_make(n, p, false, state);
}

/* Master weights, to master[i]: copies of p[i] of the dtypes of tc_optim_zeros, owned as results are.  f16 and
 * bf16 cannot hold most steps of an optimiser, which are less than half of their last digit:
 *
 *   tc_adamw(n, master, g, mean, square, step, o) && tc_optim_store(n, p, master)
 *
 * where g are gradients with respect to p.  false with an error, and NULLs. */
static inline bool tc_optim_masters(int n, tc_tensor *const *p, tc_tensor **master) {
  return tc_optim_make(n, p, true, master);
}

/* p <- master, rounded to the dtype of p. */
static inline bool tc_optim_store(int n, tc_tensor *const *p, tc_tensor *const *master) {
  bool done = true;
  TC_NO_GRAD {
    for (int i = 0; i < n; i++) {
      tc_optim_expect(master[i], p[i]);
      done = tc_copy_(p[i], master[i]) && done;
    }
  }
  return done;
}

/* sum <- sum + weight g, in the dtype of sum, a state: gradients of k parts of a batch, of weight 1/k where losses are
 * means, add up to those of the batch. */
static inline bool tc_optim_accumulate(int n, tc_tensor *const *sum, tc_tensor *const *g,
                                       double weight) {
  bool done = true;
  for (int i = 0; i < n; i++) TC_NO_GRAD TC_SCOPE {
      tc_optim_expect(sum[i], g[i]);
      const tc_tensor *wide = tc_optim_as(g[i], tc_dtype_of(sum[i]));
      done = tc_add_(sum[i], tc_mul_s(wide, weight)) && done;
    }
  return done;
}

/* state <- 0. */
static inline bool tc_optim_clear(int n, tc_tensor *const *state) {
  bool done = true;
  TC_NO_GRAD {
    for (int i = 0; i < n; i++) done = tc_zero_(state[i]) && done;
  }
  return done;
}

/* g + decay p, in the dtype of `like`: the gradient of loss + decay/2 |p|^2. */
static inline const tc_tensor *tc_optim_gradient(const tc_tensor *g, const tc_tensor *p,
                                                 double decay, const tc_tensor *like) {
  const tc_tensor *wide = tc_optim_as(g, tc_dtype_of(like));
  return decay != 0 ? tc_add(wide, tc_mul_s(p, decay)) : wide;
}

/* ---- stochastic gradient descent ------------------------------------------------------------- */

typedef struct tc_sgd_options {
  double rate;
  double momentum;     /* 0 <= momentum < 1 */
  double weight_decay; /* of loss + weight_decay/2 |p|^2 */
  bool nesterov;
} tc_sgd_options;

/* d = g + weight_decay p;  v <- momentum v + d;  p <- p - rate v, or with nesterov
 * p <- p - rate (d + momentum v).  velocity NULL: p <- p - rate d.
 * Sutskever, Martens, Dahl and Hinton, On the importance of initialization and momentum in deep
 * learning, 2013, in the form of torch.optim.SGD (the rate outside of v; no dampening). */
static inline bool tc_sgd(int n, tc_tensor *const *p, tc_tensor *const *g,
                          tc_tensor *const *velocity, tc_sgd_options o) {
  bool done = true;
  for (int i = 0; i < n; i++) TC_NO_GRAD TC_SCOPE {
      if (velocity) tc_optim_expect(velocity[i], p[i]);
      const tc_tensor *like = velocity ? velocity[i] : p[i];
      const tc_tensor *d = tc_optim_gradient(g[i], p[i], o.weight_decay, like);
      if (velocity) {
        const tc_tensor *v = tc_add_(tc_mul_s_(velocity[i], o.momentum), d);
        d = o.nesterov ? tc_add(d, tc_mul_s(v, o.momentum)) : v;
      }
      done = tc_sub_(p[i], tc_mul_s(d, o.rate)) && done;
    }
  return done;
}

/* ---- Adam ------------------------------------------------------------------------------------ */

typedef struct tc_adam_options {
  double rate;
  double beta1, beta2; /* of the means of gradients and of their squares */
  double eps;          /* added to the root */
  double weight_decay; /* of Adam in the gradient, of AdamW and LAMB in the step */
} tc_adam_options;

/* beta 0.9 and 0.999, eps 1e-8, no weight decay. */
static inline tc_adam_options tc_adam_defaults(double rate) {
  tc_adam_options o = {rate, 0.9, 0.999, 1e-8, 0};
  return o;
}

/* decoupled: weights decay beside the step and not in the gradient. */
static inline bool tc_optim_adam(int n, tc_tensor *const *p, tc_tensor *const *g,
                                 tc_tensor *const *mean, tc_tensor *const *square, int64_t step,
                                 tc_adam_options o, bool decoupled) {
  const double c1 = 1 - pow(o.beta1, (double)step), c2 = 1 - pow(o.beta2, (double)step);
  bool done = true;
  for (int i = 0; i < n; i++) TC_NO_GRAD TC_SCOPE {
      tc_optim_expect(mean[i], p[i]);
      tc_optim_expect(square[i], p[i]);
      const double decay = decoupled ? 0 : o.weight_decay;
      const tc_tensor *d = tc_optim_gradient(g[i], p[i], decay, mean[i]);
      const tc_tensor *m = tc_lerp_(mean[i], d, 1 - o.beta1);
      const tc_tensor *v = tc_lerp_(square[i], tc_square(d), 1 - o.beta2);
      const tc_tensor *scale = tc_add_s(tc_mul_s(tc_sqrt(v), 1 / sqrt(c2)), o.eps);
      const tc_tensor *change = tc_mul_s(tc_div(m, scale), o.rate / c1);
      const bool shrinks = change && decoupled && o.weight_decay != 0;
      if (shrinks) tc_mul_s_(p[i], 1 - o.rate * o.weight_decay);
      done = tc_sub_(p[i], change) && done;
    }
  return done;
}

/* d = g + weight_decay p;  m <- beta1 m + (1 - beta1) d;  v <- beta2 v + (1 - beta2) d^2;
 * p <- p - rate m' / (sqrt(v') + eps), with m' = m / (1 - beta1^step), v' = v / (1 - beta2^step).
 * Kingma and Ba, Adam: A method for stochastic optimization, 2015; as torch.optim.Adam. */
static inline bool tc_adam(int n, tc_tensor *const *p, tc_tensor *const *g, tc_tensor *const *mean,
                           tc_tensor *const *square, int64_t step, tc_adam_options o) {
  return tc_optim_adam(n, p, g, mean, square, step, o, false);
}

/* Adam with d = g, after p <- (1 - rate weight_decay) p.  Loshchilov and Hutter, Decoupled weight
 * decay regularization, 2019; as torch.optim.AdamW, whose default weight_decay is 0.01 and not 0. */
static inline bool tc_adamw(int n, tc_tensor *const *p, tc_tensor *const *g, tc_tensor *const *mean,
                            tc_tensor *const *square, int64_t step, tc_adam_options o) {
  return tc_optim_adam(n, p, g, mean, square, step, o, true);
}

/* ---- LAMB ------------------------------------------------------------------------------------ */

/* beta 0.9 and 0.999, eps 1e-6, weight_decay 0.01. */
static inline tc_adam_options tc_lamb_defaults(double rate) {
  tc_adam_options o = {rate, 0.9, 0.999, 1e-6, 0.01};
  return o;
}

/* |p| / |u|, or 1 where one of them is 0: of rank 0. */
static inline const tc_tensor *tc_optim_trust(const tc_tensor *p, const tc_tensor *u) {
  const tc_tensor *of = tc_norm(tc_optim_as(p, tc_dtype_of(u)), 2, TC_ALL, false);
  const tc_tensor *by = tc_norm(u, 2, TC_ALL, false);
  const tc_tensor *both = tc_logical_and(tc_gt_s(of, 0), tc_gt_s(by, 0));
  return tc_where(both, tc_div(of, by), tc_ones_like(by));
}

/* m and v as in Adam with d = g;  u = m' / (sqrt(v') + eps) + weight_decay p;  p <- p - rate |p| / |u| u, with the
 * 2-norms of the whole tensor; where one of them is 0, p <- p - rate u.
 * You et al., Large batch optimization for deep learning: training BERT in 76 minutes, 2020, algorithm 2
 * with phi(z) = z. */
static inline bool tc_lamb(int n, tc_tensor *const *p, tc_tensor *const *g, tc_tensor *const *mean,
                           tc_tensor *const *square, int64_t step, tc_adam_options o) {
  const double c1 = 1 - pow(o.beta1, (double)step), c2 = 1 - pow(o.beta2, (double)step);
  bool done = true;
  for (int i = 0; i < n; i++) TC_NO_GRAD TC_SCOPE {
      tc_optim_expect(mean[i], p[i]);
      tc_optim_expect(square[i], p[i]);
      const tc_tensor *d = tc_optim_gradient(g[i], p[i], 0, mean[i]);
      const tc_tensor *m = tc_div_s(tc_lerp_(mean[i], d, 1 - o.beta1), c1);
      const tc_tensor *v = tc_div_s(tc_lerp_(square[i], tc_square(d), 1 - o.beta2), c2);
      const tc_tensor *step_of = tc_div(m, tc_add_s(tc_sqrt(v), o.eps));
      const tc_tensor *u = tc_optim_gradient(step_of, p[i], o.weight_decay, mean[i]);
      done = tc_sub_(p[i], tc_mul(u, tc_mul_s(tc_optim_trust(p[i], u), o.rate))) && done;
    }
  return done;
}

/* ---- RMSprop --------------------------------------------------------------------------------- */

typedef struct tc_rmsprop_options {
  double rate;
  double alpha; /* of the means */
  double eps;   /* added to the root */
  double momentum;
  double weight_decay; /* of loss + weight_decay/2 |p|^2 */
} tc_rmsprop_options;

/* alpha 0.99, eps 1e-8, no momentum, no weight decay. */
static inline tc_rmsprop_options tc_rmsprop_defaults(double rate) {
  tc_rmsprop_options o = {rate, 0.99, 1e-8, 0, 0};
  return o;
}

/* d = g + weight_decay p;  s <- alpha s + (1 - alpha) d^2;  c = d / (sqrt(s) + eps);  p <- p - rate c.
 * With `mean`, m <- alpha m + (1 - alpha) d, and the root is of s - m^2, the variance; with `velocity`,
 * v <- momentum v + c, and p <- p - rate v.  Either may be NULL.
 * Tieleman and Hinton, Lecture 6.5 of Neural networks for machine learning, 2012; with a mean, Graves,
 * Generating sequences with recurrent neural networks, 2013; as torch.optim.RMSprop. */
static inline bool tc_rmsprop(int n, tc_tensor *const *p, tc_tensor *const *g,
                              tc_tensor *const *square, tc_tensor *const *mean,
                              tc_tensor *const *velocity, tc_rmsprop_options o) {
  bool done = true;
  for (int i = 0; i < n; i++) TC_NO_GRAD TC_SCOPE {
      tc_optim_expect(square[i], p[i]);
      if (mean) tc_optim_expect(mean[i], p[i]);
      if (velocity) tc_optim_expect(velocity[i], p[i]);
      const tc_tensor *d = tc_optim_gradient(g[i], p[i], o.weight_decay, square[i]);
      const tc_tensor *s = tc_lerp_(square[i], tc_square(d), 1 - o.alpha);
      if (mean) s = tc_sub(s, tc_square(tc_lerp_(mean[i], d, 1 - o.alpha)));
      const tc_tensor *change = tc_div(d, tc_add_s(tc_sqrt(s), o.eps));
      if (velocity) change = tc_add_(tc_mul_s_(velocity[i], o.momentum), change);
      done = tc_sub_(p[i], tc_mul_s(change, o.rate)) && done;
    }
  return done;
}

/* ---- Adagrad --------------------------------------------------------------------------------- */

typedef struct tc_adagrad_options {
  double rate;
  double rate_decay;
  double eps;          /* added to the root */
  double weight_decay; /* of loss + weight_decay/2 |p|^2 */
} tc_adagrad_options;

/* eps 1e-10, no decays. */
static inline tc_adagrad_options tc_adagrad_defaults(double rate) {
  tc_adagrad_options o = {rate, 0, 1e-10, 0};
  return o;
}

/* d = g + weight_decay p;  s <- s + d^2;  p <- p - rate / (1 + (step - 1) rate_decay) d / (sqrt(s) + eps).
 * Duchi, Hazan and Singer, Adaptive subgradient methods for online learning and stochastic
 * optimization, 2011; as torch.optim.Adagrad. */
static inline bool tc_adagrad(int n, tc_tensor *const *p, tc_tensor *const *g,
                              tc_tensor *const *square, int64_t step, tc_adagrad_options o) {
  const double rate = o.rate / (1 + (double)(step - 1) * o.rate_decay);
  bool done = true;
  for (int i = 0; i < n; i++) TC_NO_GRAD TC_SCOPE {
      tc_optim_expect(square[i], p[i]);
      const tc_tensor *d = tc_optim_gradient(g[i], p[i], o.weight_decay, square[i]);
      const tc_tensor *s = tc_add_(square[i], tc_square(d));
      const tc_tensor *change = tc_div(tc_mul_s(d, rate), tc_add_s(tc_sqrt(s), o.eps));
      done = tc_sub_(p[i], change) && done;
    }
  return done;
}

/* ---- clipping; gradients are written in place ------------------------------------------------ */

/* g <- min(max(g, -most), most); NaN stays. */
static inline bool tc_clip_value_(int n, tc_tensor *const *g, double most) {
  bool done = true;
  TC_NO_GRAD {
    for (int i = 0; i < n; i++) done = tc_clamp_(g[i], -most, most) && done;
  }
  return done;
}

/* g <- g min(1, most / (norm + 1e-6)), where norm is that of all gradients taken as one vector, before:
 * the result, of rank 0, f64 if a gradient is f64, else f32.  Squares that leave the range of that dtype give
 * an infinite norm, and finite gradients become 0; a NaN makes all of them NaN.  n >= 1.
 * Pascanu, Mikolov and Bengio, On the difficulty of training recurrent neural networks, 2013; as
 * torch.nn.utils.clip_grad_norm_, which rounds the norms of single gradients to their dtype on the way. */
static inline tc_tensor *tc_clip_norm_(int n, tc_tensor *const *g, double most) {
  tc_tensor *norm = NULL;
  TC_NO_GRAD TC_SCOPE {
    const tc_tensor *sum = NULL;
    for (int i = 0; i < n; i++) {
      const tc_tensor *wide = tc_optim_as(g[i], tc_dtype_of(g[i]) == TC_F64 ? TC_F64 : TC_F32);
      const tc_tensor *part = tc_sum(tc_square(wide), TC_ALL, false);
      sum = i == 0 ? part : tc_add(sum, part);
    }
    norm = tc_sqrt(sum);
    const tc_tensor *scale = tc_clamp_max(tc_rdiv_s(tc_add_s(norm, 1e-6), most), 1);
    for (int i = 0; i < n; i++)
      if (!tc_mul_(g[i], scale)) norm = NULL;
    tc_keep(norm);
  }
  return norm;
}

#include <tcompile/library_end.h>
#endif
