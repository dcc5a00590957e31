/* loss.h - losses, and distances.  tcompile.h has tc_mse, tc_bce_with_logits, tc_cross_entropy and tc_nll of class indices.
 *
 *   tc_tensor *l = tc_huber(y, target, 1, TC_MEAN);
 *   tc_tensor *c = tc_cross_entropy_with(logits, target, (tc_class_options){.label_smoothing = 0.1}, TC_MEAN);
 *
 * Operands of a loss broadcast; the last argument says what is returned: the loss of each element (TC_NONE), their mean or
 * their sum, of rank 0.  Operands are floating; 16-bit ones are computed in f32, and results have the dtype of the first one,
 * or inside of TC_AUTOCAST that in which they are computed.
 * Formulas are those of PyTorch, and so is what is called default. */
#ifndef TCOMPILE_NN_LOSS_H
#define TCOMPILE_NN_LOSS_H

#include <tcompile/nn/common.h>
#include <tcompile/library_begin.h>

static inline const tc_tensor *tc_loss_wide(const tc_tensor *x, const tc_tensor *of) {
  return tc_nn_as(x, tc_nn_wide(tc_dtype_of(of)));
}

/* The dtype of a loss of x: that of x, or inside of TC_AUTOCAST, where losses are not rounded, that in which it is computed. */
static inline tc_dtype tc_loss_dtype(const tc_tensor *x) {
  const tc_dtype d = tc_dtype_of(x), wide = tc_nn_wide(d);
  return d == wide || tc_autocast_dtype() == TC_DTYPE_COUNT ? d : wide;
}

static inline tc_tensor *tc_loss_reduced(const tc_tensor *loss, const tc_tensor *of, tc_reduction r) {
  if (r != TC_NONE) loss = r == TC_MEAN ? tc_mean(loss, TC_ALL, false) : tc_sum(loss, TC_ALL, false);
  return tc_cast(loss, tc_loss_dtype(of));
}

/* ---- of differences ---------------------------------------------------------------------------- */

/* |x - target|. */
static inline tc_tensor *tc_l1(const tc_tensor *x, const tc_tensor *target, tc_reduction r) {
  tc_tensor *y = NULL;
  TC_SCOPE y = tc_keep(tc_loss_reduced(tc_abs(tc_sub(tc_loss_wide(x, x), target)), x, r));
  return y;
}

/* d^2 / 2 where |d| = |x - target| is less than delta, else delta (|d| - delta / 2).  delta > 0, default 1.
 * Huber, Robust estimation of a location parameter, 1964. */
static inline tc_tensor *tc_huber(const tc_tensor *x, const tc_tensor *target, double delta, tc_reduction r) {
  tc_tensor *y = NULL;
  if (!(delta > 0)) return TC_NN_FAIL("tc_huber: delta is %g", delta);
  TC_SCOPE {
    const tc_tensor *d = tc_abs(tc_sub(tc_loss_wide(x, x), target));
    const tc_tensor *inside = tc_mul_s(tc_square(d), 0.5), *outside = tc_mul_s(tc_sub_s(d, delta / 2), delta);
    y = tc_keep(tc_loss_reduced(tc_where(tc_lt_s(d, delta), inside, outside), x, r));
  }
  return y;
}

/* d^2 / (2 beta) where |d| = |x - target| is less than beta, else |d| - beta / 2.  beta >= 0, default 1.
 * Girshick, Fast R-CNN, 2015. */
static inline tc_tensor *tc_smooth_l1(const tc_tensor *x, const tc_tensor *target, double beta, tc_reduction r) {
  tc_tensor *y = NULL;
  if (!(beta >= 0)) return TC_NN_FAIL("tc_smooth_l1: beta is %g", beta);
  if (beta == 0) return tc_l1(x, target, r);
  TC_SCOPE y = tc_keep(tc_div_s(tc_huber(x, target, beta, r), beta));
  return y;
}

/* ---- of probabilities -------------------------------------------------------------------------- */

/* -(t log x + (1 - t) log(1 - x)) of probabilities x and targets t in [0,1], times weight where that is not NULL.  Logarithms
 * are -100 at least. */
static inline tc_tensor *tc_bce(const tc_tensor *x, const tc_tensor *target, const tc_tensor *weight, tc_reduction r) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *p = tc_loss_wide(x, x), *t = tc_loss_wide(target, x);
    const tc_tensor *yes = tc_maximum_s(tc_log(p), -100), *no = tc_maximum_s(tc_log1p(tc_neg(p)), -100);
    const tc_tensor *loss = tc_neg(tc_add(tc_mul(t, yes), tc_mul(tc_rsub_s(t, 1), no)));
    if (weight) loss = tc_mul(loss, weight);
    y = tc_keep(tc_loss_reduced(loss, x, r));
  }
  return y;
}

/* tc_bce of sigmoid(x), by the logits x, where the first term counts pos_weight times: 1 - t of x, 1 + (pos_weight - 1) t of
 * softplus(-x).  Both weights may be NULL. */
static inline tc_tensor *tc_bce_with_logits_weighted(const tc_tensor *x, const tc_tensor *target, const tc_tensor *weight,
                                                     const tc_tensor *pos_weight, tc_reduction r) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *z = tc_loss_wide(x, x), *t = tc_loss_wide(target, x);
    const tc_tensor *yes = tc_softplus(tc_neg(z));
    if (pos_weight) yes = tc_mul(yes, tc_add_s(tc_mul(tc_sub_s(pos_weight, 1), t), 1));
    const tc_tensor *loss = tc_add(tc_mul(tc_rsub_s(t, 1), z), yes);
    if (weight) loss = tc_mul(loss, weight);
    y = tc_keep(tc_loss_reduced(loss, x, r));
  }
  return y;
}

/* tc_bce_with_logits of x and t in {0, 1}, times (1 - p)^gamma, where p is the probability of t, and times alpha for t = 1,
 * 1 - alpha for t = 0 (alpha < 0: 1 for both).  Default alpha 0.25 and gamma 2.
 * Lin, Goyal, Girshick, He and Dollar, Focal loss for dense object detection, 2017; as sigmoid_focal_loss of torchvision. */
static inline tc_tensor *tc_sigmoid_focal(const tc_tensor *x, const tc_tensor *target, double alpha, double gamma,
                                          tc_reduction r) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *z = tc_loss_wide(x, x), *t = tc_loss_wide(target, x), *p = tc_sigmoid(z), *not_t = tc_rsub_s(t, 1);
    const tc_tensor *loss = tc_add(tc_mul(not_t, z), tc_softplus(tc_neg(z)));
    const tc_tensor *wrong = tc_add(tc_mul(p, not_t), tc_mul(tc_rsub_s(p, 1), t));
    loss = tc_mul(loss, gamma == 2 ? tc_square(wrong) : tc_pow_s(wrong, gamma));
    if (alpha >= 0) loss = tc_mul(loss, tc_add(tc_mul_s(t, alpha), tc_mul_s(not_t, 1 - alpha)));
    y = tc_keep(tc_loss_reduced(loss, x, r));
  }
  return y;
}

/* t (log t - x) of logarithms of probabilities x and probabilities t, or with log_target their logarithms; 0 where t is 0.
 * The mean over examples ("batchmean" in PyTorch) is the sum divided by their number. */
static inline tc_tensor *tc_kl_div(const tc_tensor *x, const tc_tensor *target, bool log_target, tc_reduction r) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *z = tc_loss_wide(x, x), *t = tc_loss_wide(target, x), *loss;
    if (log_target) {
      loss = tc_mul(tc_exp(t), tc_sub(t, z));
    } else {
      const tc_tensor *some = tc_gt_s(t, 0), *safe = tc_where(some, t, tc_ones_like(t));
      loss = tc_where(some, tc_mul(safe, tc_sub(tc_log(safe), z)), tc_neg(tc_mul(t, z)));
    }
    y = tc_keep(tc_loss_reduced(loss, x, r));
  }
  return y;
}

/* exp(x) - t x of logarithms x of the rates, or without log_input (default true) x - t log(x + eps) of rates x; full adds
 * Stirling's t log t - t + log(2 pi t) / 2 where t > 1. */
static inline tc_tensor *tc_poisson_nll(const tc_tensor *x, const tc_tensor *target, bool log_input, bool full, double eps,
                                        tc_reduction r) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *z = tc_loss_wide(x, x), *t = tc_loss_wide(target, x);
    const tc_tensor *loss = log_input ? tc_sub(tc_exp(z), tc_mul(t, z)) : tc_sub(z, tc_mul(t, tc_log(tc_add_s(z, eps))));
    if (full) {
      const tc_tensor *many = tc_gt_s(t, 1), *safe = tc_where(many, t, tc_ones_like(t));
      const tc_tensor *root = tc_mul_s(tc_log(tc_mul_s(safe, 6.283185307179586)), 0.5);
      const tc_tensor *stirling = tc_add(tc_sub(tc_mul(safe, tc_log(safe)), safe), root);
      loss = tc_add(loss, tc_where(many, stirling, tc_zeros_like(t)));
    }
    y = tc_keep(tc_loss_reduced(loss, x, r));
  }
  return y;
}

/* (log v + (x - t)^2 / v) / 2 with v = max(var, eps), eps > 0; full adds log(2 pi) / 2. */
static inline tc_tensor *tc_gaussian_nll(const tc_tensor *x, const tc_tensor *target, const tc_tensor *var, bool full,
                                         double eps, tc_reduction r) {
  tc_tensor *y = NULL;
  if (!(eps > 0)) return TC_NN_FAIL("tc_gaussian_nll: eps is %g", eps);
  TC_SCOPE {
    const tc_tensor *v = tc_clamp_min(tc_loss_wide(var, x), eps);
    const tc_tensor *d = tc_sub(tc_loss_wide(x, x), target);
    const tc_tensor *loss = tc_mul_s(tc_add(tc_log(v), tc_div(tc_square(d), v)), 0.5);
    y = tc_keep(tc_loss_reduced(full ? tc_add_s(loss, 0.9189385332046727) : loss, x, r));
  }
  return y;
}

/* ---- of classes -------------------------------------------------------------------------------- */

typedef struct tc_class_options {
  const tc_tensor *weight; /* [C]: of the classes; NULL: 1 */
  double label_smoothing;  /* s: the target has 1 - s of the probability, all classes share the rest; of cross entropy */
  bool ignores;            /* targets that are ignore_index count nothing; without it, -100 is that number */
  int64_t ignore_index;
} tc_class_options;

/* weight[C] along axis `axis` of lp, or NULL. */
static inline const tc_tensor *tc_class_weights(const tc_tensor *lp, int axis, tc_class_options o) {
  if (o.weight) return tc_nn_along(o.weight, axis, tc_rank(lp));
  return NULL;
}

/* Of indices of classes: lp[N,C,...] has logarithms of probabilities. */
static inline const tc_tensor *tc_loss_of_indices(const tc_tensor *lp, const tc_tensor *target, int axis, tc_class_options o,
                                                  tc_reduction r) {
  const double s = o.label_smoothing, classes = (double)tc_size(lp, axis);
  const tc_tensor *counts = tc_ne_s(target, o.ignores ? (double)o.ignore_index : -100);
  const tc_tensor *safe = tc_where(counts, target, tc_zeros_like(target)), *weight = tc_class_weights(lp, axis, o);
  const tc_tensor *loss = tc_neg(tc_squeeze(tc_gather(lp, axis, tc_unsqueeze(safe, axis)), axis)), *total = NULL;
  const tc_tensor *each = tc_cast(counts, tc_dtype_of(lp));
  if (weight) {
    const tc_tensor *of_target = tc_reshape(tc_index_select(o.weight, 0, tc_reshape(safe, TC_DIMS(-1))), tc_shape(target));
    each = tc_mul(each, of_target);
  }
  loss = tc_where(counts, weight ? tc_mul(loss, each) : loss, tc_zeros_like(loss)); /* 0 where that is infinite, too */
  if (s != 0) {
    const tc_tensor *weighted = lp;
    if (weight) weighted = tc_mul(lp, weight);
    const tc_tensor *all = tc_sum(weighted, TC_AXES(axis), false);
    const tc_tensor *rest = tc_where(counts, tc_mul_s(all, -s / classes), tc_zeros_like(all));
    loss = tc_add(tc_mul_s(loss, 1 - s), rest);
  }
  if (r == TC_NONE) return loss;
  if (r == TC_MEAN) total = tc_sum(each, TC_ALL, false);
  loss = tc_sum(loss, TC_ALL, false);
  return total ? tc_div(loss, total) : loss;
}

/* Of probabilities of classes. */
static inline const tc_tensor *tc_loss_of_probabilities(const tc_tensor *lp, const tc_tensor *target, int axis,
                                                        tc_class_options o, tc_reduction r) {
  const double s = o.label_smoothing, classes = (double)tc_size(lp, axis);
  const tc_tensor *t = tc_loss_wide(target, lp), *weight = tc_class_weights(lp, axis, o);
  if (s != 0) t = tc_add_s(tc_mul_s(t, 1 - s), s / classes);
  if (weight) t = tc_mul(t, weight);
  const tc_tensor *loss = tc_neg(tc_sum(tc_mul(lp, t), TC_AXES(axis), false));
  if (r == TC_NONE) return loss;
  return r == TC_MEAN ? tc_mean(loss, TC_ALL, false) : tc_sum(loss, TC_ALL, false);
}

static inline tc_tensor *tc_loss_of_classes(const char *name, const tc_tensor *x, const tc_tensor *target,
                                            tc_class_options o, bool logits, tc_reduction r) {
  tc_tensor *y = NULL;
  const int axis = tc_rank(x) == 1 ? 0 : 1;
  if (!x || !target) return NULL;
  const tc_dtype d = tc_dtype_of(target);
  const bool floating = d == TC_F32 || d == TC_F64 || d == TC_F16 || d == TC_BF16;
  if (tc_rank(x) < 1 || tc_rank(target) != tc_rank(x) - !floating || (floating && !logits))
    return TC_NN_FAIL("%s: %s of %d axes are no targets of %d axes", name, tc_dtype_name(d), tc_rank(target), tc_rank(x));
  if (o.weight && (tc_rank(o.weight) != 1 || tc_size(o.weight, 0) != tc_size(x, axis)))
    return TC_NN_FAIL("%s: weights of %lld of %lld classes", name, (long long)tc_numel(o.weight), (long long)tc_size(x, axis));
  if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1))
    return TC_NN_FAIL("%s: smoothing of %g", name, o.label_smoothing);
  TC_SCOPE {
    const tc_tensor *lp = tc_loss_wide(x, x);
    if (logits) lp = tc_log_softmax(lp, axis);
    const tc_tensor *loss =
        floating ? tc_loss_of_probabilities(lp, target, axis, o, r) : tc_loss_of_indices(lp, target, axis, o, r);
    y = tc_keep(tc_cast(loss, tc_loss_dtype(x)));
  }
  return y;
}

/* -log softmax(logits)[target] of logits[N,C,...], or [C]: target is i32|i64[N,...], or probabilities of the shape of the
 * logits.  The mean of weighted classes is divided by the sum of the weights of the targets (of probabilities: by their
 * number).  Smoothing: Szegedy et al., Rethinking the Inception architecture, 2016. */
static inline tc_tensor *tc_cross_entropy_with(const tc_tensor *logits, const tc_tensor *target, tc_class_options o,
                                               tc_reduction r) {
  return tc_loss_of_classes("tc_cross_entropy_with", logits, target, o, true, r);
}

/* The same of logarithms of probabilities, and of indices alone. */
static inline tc_tensor *tc_nll_with(const tc_tensor *log_probability, const tc_tensor *target, tc_class_options o,
                                     tc_reduction r) {
  return tc_loss_of_classes("tc_nll_with", log_probability, target, o, false, r);
}

/* The sum over classes i but the target t of max(0, margin - x[t] + x[i])^p, divided by C, of x[N,C] and i32|i64[N]: [N]. */
static inline tc_tensor *tc_multi_margin(const tc_tensor *x, const tc_tensor *target, double p, double margin, tc_reduction r) {
  tc_tensor *y = NULL;
  if (!x || !target) return NULL;
  if (tc_rank(x) != 2 || tc_rank(target) != 1 || !(p >= 1))
    return TC_NN_FAIL("tc_multi_margin: %d axes, targets of %d; p is %g", tc_rank(x), tc_rank(target), p);
  TC_SCOPE {
    const tc_tensor *z = tc_loss_wide(x, x), *t = tc_unsqueeze(target, -1);
    const tc_tensor *over = tc_relu(tc_add_s(tc_sub(z, tc_gather(z, 1, t)), margin));
    const tc_tensor *other = tc_ne(tc_arange(tc_size(x, 1), 0, 1, TC_I64), t);
    const tc_tensor *each = p == 1 ? over : p == 2 ? tc_square(over) : tc_pow_s(over, p);
    each = tc_where(other, each, tc_zeros_like(each));
    y = tc_keep(tc_loss_reduced(tc_div_s(tc_sum(each, TC_AXES(-1), false), (double)tc_size(x, 1)), x, r));
  }
  return y;
}

/* ---- of signs ---------------------------------------------------------------------------------- */

/* x where target is 1, else (-1) max(0, margin - x); default margin 1. */
static inline tc_tensor *tc_hinge_embedding(const tc_tensor *x, const tc_tensor *target, double margin, tc_reduction r) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *z = tc_loss_wide(x, x);
    y = tc_keep(tc_loss_reduced(tc_where(tc_gt_s(target, 0), z, tc_relu(tc_rsub_s(z, margin))), x, r));
  }
  return y;
}

/* max(0, margin - target (a - b)): a should be larger where target is 1, b where it is -1.  Default margin 0. */
static inline tc_tensor *tc_margin_ranking(const tc_tensor *a, const tc_tensor *b, const tc_tensor *target, double margin,
                                           tc_reduction r) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *d = tc_mul(tc_sub(tc_loss_wide(a, a), b), target);
    y = tc_keep(tc_loss_reduced(tc_relu(tc_rsub_s(d, margin)), a, r));
  }
  return y;
}

/* log(1 + exp(-target x)) of targets 1 and -1. */
static inline tc_tensor *tc_soft_margin(const tc_tensor *x, const tc_tensor *target, tc_reduction r) {
  tc_tensor *y = NULL;
  TC_SCOPE y = tc_keep(tc_loss_reduced(tc_softplus(tc_neg(tc_mul(tc_loss_wide(x, x), target))), x, r));
  return y;
}

/* ---- distances --------------------------------------------------------------------------------- */

/* a b / (max(|a|, eps) max(|b|, eps)) along an axis of what a and b broadcast to, which is dropped.  Default axis 1, eps 1e-8. */
static inline tc_tensor *tc_cosine_similarity(const tc_tensor *a, const tc_tensor *b, int axis, double eps) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *p = tc_loss_wide(a, a), *q = tc_loss_wide(b, a);
    const tc_tensor *each = tc_mul(p, q);
    const tc_ints along = TC_AXES(axis), dims = tc_shape(each);
    const tc_tensor *square = tc_clamp_min(tc_sum(tc_square(tc_expand(p, dims)), along, false), eps * eps);
    const tc_tensor *of_b = tc_clamp_min(tc_sum(tc_square(tc_expand(q, dims)), along, false), eps * eps);
    y = tc_keep(tc_cast(tc_div(tc_sum(each, along, false), tc_mul(tc_sqrt(square), tc_sqrt(of_b))), tc_dtype_of(a)));
  }
  return y;
}

/* The p-norm of a - b + eps along the last axis, kept with keepdim.  Default p 2, eps 1e-6. */
static inline tc_tensor *tc_pairwise_distance(const tc_tensor *a, const tc_tensor *b, double p, double eps, bool keepdim) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *d = tc_add_s(tc_sub(tc_loss_wide(a, a), b), eps);
    y = tc_keep(tc_cast(tc_norm(d, p, TC_AXES(-1), keepdim), tc_dtype_of(a)));
  }
  return y;
}

/* x / max(|x|, eps), with the p-norm along an axis.  Default p 2, axis 1, eps 1e-12. */
static inline tc_tensor *tc_normalize(const tc_tensor *x, double p, int axis, double eps) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *z = tc_loss_wide(x, x);
    y = tc_keep(tc_cast(tc_div(z, tc_clamp_min(tc_norm(z, p, TC_AXES(axis), true), eps)), tc_dtype_of(x)));
  }
  return y;
}

/* 1 - c where target is 1, else (-1) max(0, c - margin), with c the cosine similarity of a[N,D] and b[N,D], or [D]. */
static inline tc_tensor *tc_cosine_embedding(const tc_tensor *a, const tc_tensor *b, const tc_tensor *target, double margin,
                                             tc_reduction r) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *c = tc_cosine_similarity(tc_loss_wide(a, a), b, -1, 1e-6);
    y = tc_keep(tc_loss_reduced(tc_where(tc_gt_s(target, 0), tc_rsub_s(c, 1), tc_relu(tc_sub_s(c, margin))), a, r));
  }
  return y;
}

/* max(0, d(a,p) - d(a,n) + margin) with tc_pairwise_distance of p-norms; with swap, d(p,n) in place of d(a,n) where that is
 * smaller.  Default margin 1, p 2, eps 1e-6.  Balntas, Riba, Ponsa and Mikolajczyk, Learning local feature
 * descriptors with triplets, 2016. */
static inline tc_tensor *tc_triplet_margin(const tc_tensor *anchor, const tc_tensor *positive, const tc_tensor *negative,
                                           double margin, double p, double eps, bool swap, tc_reduction r) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *a = tc_loss_wide(anchor, anchor), *near = tc_pairwise_distance(a, positive, p, eps, false);
    const tc_tensor *far = tc_pairwise_distance(a, negative, p, eps, false);
    if (swap) far = tc_minimum(far, tc_pairwise_distance(tc_loss_wide(positive, anchor), negative, p, eps, false));
    y = tc_keep(tc_loss_reduced(tc_relu(tc_add_s(tc_sub(near, far), margin)), anchor, r));
  }
  return y;
}

#include <tcompile/library_end.h>
#endif
