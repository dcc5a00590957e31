/* Nearest centroid: a class is its mean, an image belongs to the class whose mean is nearest. */
#include "fashion.h"
#include "common/sample.h"

/* The sum of each class's rows is one product, one_hot(y)^T x. */
TC_COMPILE tc_tensor *fit_centroids(const tc_tensor *x TC_SHAPE("f32[N,D]"),
                                    const tc_tensor *y TC_SHAPE("i64[N]")) {
  tc_tensor *member = tc_cast(tc_one_hot(y, CLASSES), TC_F32); /* [N,10] */
  tc_tensor *sum = tc_matmul(tc_transpose(member, 0, 1), x);   /* [10,D] */
  return tc_div(sum, tc_unsqueeze(tc_sum(member, TC_AXES(0), false), 1));
}

TC_COMPILE static tc_tensor *nearest_centroid(const tc_tensor *x TC_SHAPE("f32[B,D]"),
                                              const tc_tensor *centroids TC_SHAPE("f32[10,D]")) {
  return nearest_of(x, centroids);
}

void run_centroids(const images *train, const images *test) {
  TC_SCOPE {
    tc_tensor *c = sample_check(fit_centroids(train->x, train->y));
    sample_print_accuracy("nearest centroid", sample_check(nearest_centroid(test->x, c)), test->y);
    SAMPLE_MEASURE(fit_centroids, train->x, train->y);
    SAMPLE_MEASURE(nearest_centroid, test->x, c);
  }
}
