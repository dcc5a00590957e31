/* Principal components by subspace iteration, whitening, and the nearest centroid among whitened
 * images.
 *
 * Q <- orthonormalise(Q C) converges to the leading eigenvectors of the covariance C, as rows of Q;
 * dividing each coordinate by the square root of its eigenvalue gives coordinates of variance one.
 */
#include "fashion.h"
#include "common/sample.h"

enum { COMPONENTS = 24, ROUNDS = 12 };

TC_COMPILE static tc_tensor *pixel_mean(const tc_tensor *x TC_SHAPE("f32[N,784]")) {
  return tc_mean(x, TC_AXES(0), true);
}

/* (X - m)^T (X - m) / N, of f32[N,784] and f32[1,784]: f32[784,784]. */
TC_COMPILE static tc_tensor *covariance(const tc_tensor *x TC_SHAPE("f32[N,784]"),
                                        const tc_tensor *mean TC_SHAPE("f32[1,784]")) {
  tc_tensor *centred = tc_sub(x, mean);
  return tc_div_s(tc_matmul(tc_transpose(centred, 0, 1), centred), (double)tc_size(x, 0));
}

TC_COMPILE static tc_tensor *iterate(const tc_tensor *q TC_SHAPE("f32[K,784]"),
                                     const tc_tensor *cov TC_SHAPE("f32[784,784]")) {
  return tc_matmul(q, cov);
}

/* Step j of modified Gram-Schmidt on the rows of q: row j becomes a unit vector and is taken out of
 * the rows after it. */
TC_COMPILE static tc_tensor *gram_schmidt_step(const tc_tensor *q TC_SHAPE("f32[K,784]"), double j) {
  tc_tensor *row = tc_unsqueeze(tc_arange(tc_size(q, 0), 0, 1, TC_F32), 1); /* [K,1] */
  tc_tensor *pivot = tc_eq_s(row, j), *after = tc_gt_s(row, j);
  tc_tensor *v = tc_sum(tc_where(pivot, q, tc_scalar(0)), TC_AXES(0), true); /* [1,784] */
  tc_tensor *unit = tc_div(v, tc_sqrt(tc_sum(tc_square(v), TC_ALL, false)));
  tc_tensor *along = tc_sum(tc_mul(q, unit), TC_AXES(1), true); /* [K,1] */
  tc_tensor *rest = tc_sub(q, tc_mul(tc_mul(along, tc_cast(after, TC_F32)), unit));
  return tc_where(pivot, unit, rest);
}

/* Rows of q over the square roots of their eigenvalues q_i C q_i^T. */
TC_COMPILE static tc_tensor *whitener(const tc_tensor *q TC_SHAPE("f32[K,784]"),
                                      const tc_tensor *cov TC_SHAPE("f32[784,784]")) {
  tc_tensor *eigenvalue = tc_sum(tc_mul(tc_matmul(q, cov), q), TC_AXES(1), true);
  return tc_div(q, tc_sqrt(eigenvalue));
}

/* Whitened coordinates, f32[B,K]. */
TC_COMPILE static tc_tensor *project(const tc_tensor *x TC_SHAPE("f32[B,784]"),
                                     const tc_tensor *mean TC_SHAPE("f32[1,784]"),
                                     const tc_tensor *w TC_SHAPE("f32[K,784]")) {
  return tc_matmul(tc_sub(x, mean), tc_transpose(w, 0, 1));
}

/* Prediction in one piece: project, then the nearest centroid. */
TC_COMPILE static tc_tensor *predict(const tc_tensor *x TC_SHAPE("f32[B,784]"),
                                     const tc_tensor *mean TC_SHAPE("f32[1,784]"),
                                     const tc_tensor *w TC_SHAPE("f32[K,784]"),
                                     const tc_tensor *centroids TC_SHAPE("f32[10,K]")) {
  return nearest_of(project(x, mean, w), centroids);
}

static tc_tensor *leading_components(const tc_tensor *cov) {
  tc_tensor *q = sample_check(tc_randn(TC_DIMS(COMPONENTS, PIXELS), 7, TC_F32));
  for (int round = 0; round < ROUNDS; round++) TC_SCOPE {
      tc_tensor *next = iterate(q, cov);
      for (int j = 0; j < COMPONENTS; j++) next = gram_schmidt_step(next, j);
      tc_copy_(q, sample_check(next));
    }
  return q;
}

void run_whitening(const images *train, const images *test) {
  TC_SCOPE {
    tc_tensor *mean = sample_check(pixel_mean(train->x));
    tc_tensor *cov = sample_check(covariance(train->x, mean));
    tc_tensor *q = leading_components(cov), *w = sample_check(whitener(q, cov));
    tc_tensor *c = sample_check(fit_centroids(project(train->x, mean, w), train->y));
    sample_print_accuracy("whitened nearest centroid", sample_check(predict(test->x, mean, w, c)),
                          test->y);
    SAMPLE_MEASURE(pixel_mean, train->x);
    SAMPLE_MEASURE(covariance, train->x, mean);
    SAMPLE_MEASURE(gram_schmidt_step, q, 0);
    SAMPLE_MEASURE(project, train->x, mean, w);
    SAMPLE_MEASURE(predict, test->x, mean, w, c);
  }
}
