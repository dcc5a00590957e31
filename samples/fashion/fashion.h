/* fashion.h - the parts of this sample: three classifiers of the same images. */
#ifndef SAMPLE_FASHION_H
#define SAMPLE_FASHION_H

#include <tcompile.h>

#define CLASSES 10
#define PIXELS 784

typedef struct images {
  tc_tensor *x; /* f32[N,784] in [0,1] */
  tc_tensor *y; /* i64[N], 0..9 */
} images;

/* Each fits on `train`, prints its accuracy on `test` and measures its functions. */
void run_centroids(const images *train, const images *test);
void run_whitening(const images *train, const images *test);
void run_network(const images *train, const images *test);

/* Class means f32[10,D] of x f32[N,D] with classes y; every class has a member. */
tc_tensor *fit_centroids(const tc_tensor *x, const tc_tensor *y);
/* The class of the nearest mean, i64[B], of x f32[B,D]: argmin |x - c|^2 = argmax x.c - |c|^2 / 2.
 * Here, so that compiled functions of several files can take it in. */
static inline tc_tensor *nearest_of(const tc_tensor *x, const tc_tensor *centroids) {
  tc_tensor *half = tc_mul_s(tc_sum(tc_square(centroids), TC_AXES(1), false), 0.5);
  tc_tensor *score = tc_sub(tc_matmul(x, tc_transpose(centroids, 0, 1)), half);
  return tc_argmax(score, TC_AXES(1), false);
}

#endif
