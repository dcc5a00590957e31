/* tcompile/nn/loss.h: losses and distances, with their gradients. */
#define NN_LOSS
#include "nn.h"

#define M "f32[N,D]"
#define I "i64[N]"
#define CLASSES(...) ((tc_class_options){__VA_ARGS__})

static inline tc_tensor *padded(const tc_tensor *target) {
  return tc_where(tc_eq_s(target, 0), tc_full_like(target, -100), target);
}

NN2(l1_none, 2, M, M, tc_l1(a, b, TC_NONE))
NN2(l1_empty, 2, M, M, tc_l1(a, b, TC_SUM))
NN2(smooth, 2, M, M, tc_smooth_l1(a, b, 0.7, TC_MEAN))
NN2(huber, 2, M, M, tc_huber(a, b, 0.7, TC_SUM))
NN3(bce, 2, M, M, "f32[D]", tc_bce(a, b, c, TC_MEAN))
NN4(bce_logits, 2, M, M, "f32[D]", "f32[D]", tc_bce_with_logits_weighted(a, b, c, d, TC_MEAN))
NN2(bce_logits_plain, 2, M, M, tc_bce_with_logits_weighted(a, b, NULL, NULL, TC_MEAN))
NN2(focal, 2, M, M, tc_sigmoid_focal(a, b, 0.3, 2, TC_MEAN))
NN2(kl, 2, M, M, tc_kl_div(a, b, false, TC_SUM))
NN2(kl_log, 2, M, M, tc_kl_div(a, b, true, TC_MEAN))
NN2(poisson, 1, M, M, tc_poisson_nll(a, tc_mul_s(b, 3), true, true, 1e-8, TC_MEAN))
NN2(poisson_rate, 1, M, M, tc_poisson_nll(a, b, false, false, 1e-3, TC_MEAN))
NN3(gaussian, 3, M, M, M, tc_gaussian_nll(a, b, c, true, 1e-6, TC_MEAN))
NN2(entropy, 1, M, I, tc_cross_entropy_with(a, b, CLASSES(0), TC_MEAN))
NN3(entropy_weighted, 1, M, I, "f32[D]",
    tc_cross_entropy_with(a, b, CLASSES(c, .label_smoothing = 0.2, .ignores = true, .ignore_index = 2), TC_MEAN))
NN3(entropy_images, 1, "f32[N,C,H,W]", "i64[N,H,W]", "f32[C]",
    tc_cross_entropy_with(a, b, CLASSES(c, .label_smoothing = 0.1, .ignores = true, .ignore_index = 1), TC_NONE))
NN2(entropy_one, 1, "f32[C]", "i64[]", tc_cross_entropy_with(a, b, CLASSES(0), TC_SUM))
NN3(entropy_soft, 1, M, M, "f32[D]", tc_cross_entropy_with(a, b, CLASSES(c, .label_smoothing = 0.1), TC_MEAN))
NN2(entropy_padded, 1, M, I, tc_cross_entropy_with(a, padded(b), CLASSES(0), TC_SUM))
NN3(nll, 1, M, I, "f32[D]", tc_nll_with(a, b, CLASSES(c, .ignores = true), TC_MEAN))
NN2(multi_margin, 1, M, I, tc_multi_margin(a, b, 2, 0.6, TC_MEAN))
NN2(hinge, 1, M, M, tc_hinge_embedding(a, b, 0.8, TC_MEAN))
NN3(ranking, 2, "f32[N]", "f32[N]", "f32[N]", tc_margin_ranking(a, b, c, 0.3, TC_MEAN))
NN2(soft_margin, 1, M, M, tc_soft_margin(a, b, TC_MEAN))
NN2(cosine, 2, "f32[N,D,M]", "f32[N,D,M]", tc_cosine_similarity(a, b, 1, 1e-8))
NN2(cosine_broadcast, 2, "f32[A,1,B]", "f32[C,B]", tc_cosine_similarity(a, b, -2, 1e-8))
NN2(distance, 2, M, M, tc_pairwise_distance(a, b, 3, 1e-6, false))
NN1(normal, 1, "f32[N,D,M]", tc_normalize(a, 2, 1, 1e-12))
NN3(embedding, 2, M, M, "f32[N]", tc_cosine_embedding(a, b, c, 0.2, TC_MEAN))
NN3(triplet, 3, M, M, M, tc_triplet_margin(a, b, c, 0.7, 2, 1e-6, false, TC_MEAN))
NN3(triplet_swap, 3, M, M, M, tc_triplet_margin(a, b, c, 0.7, 2, 1e-6, true, TC_NONE))

static const nn_function functions[] = {
    NN_ROW(l1_none),        NN_ROW(l1_empty),     NN_ROW(smooth),       NN_ROW(huber),       NN_ROW(bce),
    NN_ROW(bce_logits),     NN_ROW(kl),           NN_ROW(kl_log),       NN_ROW(focal),       NN_ROW(bce_logits_plain),
    NN_ROW(poisson),        NN_ROW(poisson_rate), NN_ROW(gaussian),     NN_ROW(entropy),     NN_ROW(entropy_weighted),
    NN_ROW(entropy_images), NN_ROW(entropy_one),  NN_ROW(entropy_soft), NN_ROW(nll),         NN_ROW(entropy_padded),
    NN_ROW(multi_margin),   NN_ROW(hinge),        NN_ROW(ranking),      NN_ROW(soft_margin), NN_ROW(cosine),
    NN_ROW(distance),       NN_ROW(normal),       NN_ROW(embedding),    NN_ROW(triplet),     NN_ROW(triplet_swap),
    NN_ROW(cosine_broadcast),
};

/* Loss and gradient of the logits read them once. */
TC_COMPILE_WITH("fullgraph", "max_kernels=1")
static tc_tensor *gradient(NN_OPERAND(x, M), NN_OPERAND(target, I)) {
  tc_tensor *g, *loss = tc_cross_entropy_with(x, target, CLASSES(0), TC_MEAN);
  return tc_grad(loss, 1, &x, &g) ? g : NULL;
}

static void check_ends(void) {
  TC_SCOPE {
    const tc_tensor *p = tc_from(TC_DIMS(3), (double[]){0, 1, 0.5}, TC_F64), *t = tc_from(TC_DIMS(3), (double[]){1, 1, 0}, TC_F64);
    CHECK(fabs(tc_item(tc_bce(p, t, NULL, TC_SUM)) - 100 - log(2)) < 1e-9); /* the logarithm of 0 is -100 */
    CHECK(fabs(tc_item(tc_kl_div(tc_zeros_like(p), t, false, TC_SUM))) < 1e-12); /* 0 log 0 is 0 */
    CHECK(fabs(tc_at(tc_normalize(tc_zeros(TC_DIMS(1, 3), TC_F32), 2, 1, 1e-12), TC_INTS(0, 0))) < 1e-12);
    /* What does not count is 0, where it is infinite or no number, too. */
    const tc_tensor *masked = tc_from(TC_DIMS(2, 2), (double[]){-INFINITY, 1, 0, 1}, TC_F64);
    const tc_tensor *second = tc_from(TC_DIMS(2), (int64_t[]){-100, 1}, TC_I64), *sure = tc_from(TC_DIMS(1, 2), (double[]){INFINITY, 0}, TC_F64);
    CHECK(fabs(tc_item(tc_cross_entropy_with(masked, second, CLASSES(0), TC_MEAN)) - log(1 + exp(-1))) < 1e-9);
    CHECK(fabs(tc_item(tc_multi_margin(sure, tc_zeros(TC_DIMS(1), TC_I64), 1, 1, TC_SUM))) < 1e-9);
    const tc_tensor *logits = tc_requires_grad_(tc_randn(TC_DIMS(4, 7), 1, TC_F32), true);
    const tc_tensor *target = tc_from(TC_DIMS(4), (int64_t[]){0, 3, 6, 1}, TC_I64), *g = gradient(logits, target);
    CHECK(g && fabs(tc_item(tc_sum(g, TC_ALL, false))) < 1e-6 && tc_at(g, TC_INTS(1, 3)) < 0);
  }
}

static void check_refused(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(4, 6), TC_F32), *t = tc_zeros(TC_DIMS(4), TC_I64);
    nn_refused(tc_huber(x, x, 0, TC_MEAN), "delta is 0");
    nn_refused(tc_smooth_l1(x, x, -1, TC_MEAN), "beta is -1");
    nn_refused(tc_gaussian_nll(x, x, x, false, 0, TC_MEAN), "eps is 0");
    nn_refused(tc_cross_entropy_with(x, tc_zeros(TC_DIMS(4, 6), TC_I64), CLASSES(0), TC_MEAN), "i64 of 2 axes are no targets of 2");
    nn_refused(tc_nll_with(x, x, CLASSES(0), TC_MEAN), "tc_nll_with: f32 of 2 axes are no targets");
    nn_refused(tc_cross_entropy_with(x, t, CLASSES(.weight = tc_ones(TC_DIMS(4), TC_F32)), TC_MEAN), "weights of 4 of 6 classes");
    nn_refused(tc_cross_entropy_with(x, t, CLASSES(.label_smoothing = 2), TC_MEAN), "smoothing of 2");
    nn_refused(tc_multi_margin(x, t, 0, 1, TC_MEAN), "p is 0");
    CHECK(!tc_cross_entropy_with(x, tc_full(TC_DIMS(4), 6, TC_I64), CLASSES(0), TC_MEAN) && tc_error_code() == TC_ERROR_INDEX);
    tc_clear_error();
    CHECK(!tc_l1(NULL, x, TC_MEAN) && !tc_cross_entropy_with(NULL, t, CLASSES(0), TC_MEAN));
    tc_clear_error();
  }
}

int main(void) {
  NN_CHECK(loss, functions);
  check_ends();
  check_refused();
  return 0;
}
