/* Convolutions of 3x3 windows in f32, which kernels compute with fewer multiplications where their sizes make that
 * cheaper: against the sum in double, for all places of tiles in panels; with NaN, infinities and sums that overflow, as
 * the body has them; gradients of images and weights.  Prints the bits of results. */
#include "check.h"

#include <math.h>
#include <string.h>
#include <tcompile/conv.h>

#define ONE TC_INTS(1), TC_INTS(1), TC_INTS(1), 1

TC_COMPILE static tc_tensor *any(const tc_tensor *x TC_SHAPE("f32[N,C,H,W]"), const tc_tensor *w TC_SHAPE("f32[O,C,3,3]")) {
  return tc_conv(x, w, NULL, ONE);
}

/* Whole vectors are in a row of results, but not in one of tiles. */
TC_COMPILE static tc_tensor *fixed(const tc_tensor *x TC_SHAPE("f32[N,32,24,24]"), const tc_tensor *w TC_SHAPE("f32[32,32,3,3]")) {
  return tc_conv(x, w, NULL, ONE);
}

/* Small images are columns of one product. */
TC_COMPILE static tc_tensor *small(const tc_tensor *x TC_SHAPE("f32[N,32,7,7]"), const tc_tensor *w TC_SHAPE("f32[40,32,3,3]")) {
  return tc_conv(x, w, NULL, ONE);
}

TC_COMPILE static tc_tensor *image_gradient(const tc_tensor *x TC_SHAPE("f32[N,C,H,W]"), const tc_tensor *w TC_SHAPE("f32[O,C,3,3]"),
                                            const tc_tensor *dy TC_SHAPE("f32[N,O,H,W]")) {
  tc_tensor *dx;
  tc_tensor *loss = tc_sum(tc_mul(tc_conv(x, w, NULL, ONE), dy), TC_ALL, false);
  return tc_grad(loss, 1, &x, &dx) ? dx : NULL;
}

TC_COMPILE static tc_tensor *weight_gradient(const tc_tensor *x TC_SHAPE("f32[N,C,H,W]"), const tc_tensor *w TC_SHAPE("f32[O,C,3,3]"),
                                             const tc_tensor *dy TC_SHAPE("f32[N,O,H,W]")) {
  tc_tensor *dw;
  tc_tensor *loss = tc_sum(tc_mul(tc_conv(x, w, NULL, ONE), dy), TC_ALL, false);
  return tc_grad(loss, 1, &w, &dw) ? dw : NULL;
}

/* w[O,C,3,3] turned round, as w[C,O,3,3]. */
static tc_tensor *turned(const tc_tensor *w) { return tc_flip(tc_transpose(w, 0, 1), TC_AXES(2, 3)); }

typedef tc_tensor *convolve(const tc_tensor *, const tc_tensor *);

static tc_tensor *random_image(int64_t n, int64_t c, int64_t h, int64_t w, uint64_t seed) {
  return tc_clone(tc_randn(TC_DIMS(n, c, h, w), seed, TC_F32));
}

static tc_tensor *random_weight(int64_t o, int64_t c, uint64_t seed) {
  return tc_clone(tc_mul_s(tc_randn(TC_DIMS(o, c, 3, 3), seed, TC_F32), 1 / sqrt(9.0 * (double)c)));
}

static void print_bits(const char *name, tc_tensor *y) {
  const uint32_t *bits = tc_data(y);
  uint64_t hash = 0;
  for (int64_t i = 0; i < tc_numel(y); i++) hash = hash * 31 + bits[i];
  printf("%s %016llx\n", name, (unsigned long long)hash);
}

static void check_close(tc_tensor *y, tc_tensor *want) {
  CHECK(y && want && tc_numel(y) == tc_numel(want));
  const float *a = tc_data(y);
  const double *b = tc_data(want);
  for (int64_t i = 0; i < tc_numel(y); i++) CHECK(fabs((double)a[i] - b[i]) <= 1e-5 + 1.3e-6 * fabs(b[i]));
}

static tc_tensor *exact(const tc_tensor *x, const tc_tensor *w) {
  return tc_conv(tc_cast(x, TC_F64), tc_cast(w, TC_F64), NULL, ONE);
}

static void check_sizes(const char *name, convolve *f, int64_t n, int64_t c, int64_t o, int64_t h, int64_t w) {
  TC_SCOPE {
    const tc_tensor *x = random_image(n, c, h, w, 1), *k = random_weight(o, c, 2);
    tc_tensor *y = f(x, k);
    check_close(y, exact(x, k));
    print_bits(name, y);
  }
}

/* The same class and sign, or close; sums: of the absolute values in a window, times the largest weight. */
static void check_same(tc_tensor *y, tc_tensor *want, tc_tensor *sums) {
  CHECK(y && want && sums && tc_numel(y) == tc_numel(want));
  const float *a = tc_data(y), *b = tc_data(want);
  const double *sum = tc_data(sums);
  for (int64_t i = 0; i < tc_numel(y); i++) {
    if (isnan(b[i])) CHECK(isnan(a[i]));
    else if (isinf(b[i])) CHECK(a[i] == b[i]);
    else CHECK(fabs((double)a[i] - b[i]) <= 1e-5 + 1e-6 * sum[i]);
  }
}

/* Elements of the image that are no small numbers; those of the result are what the product makes of them. */
static void check_values(const float *value, int n) {
  TC_SCOPE {
    tc_tensor *x = random_image(2, 32, 24, 24, 3);
    const tc_tensor *w = random_weight(32, 32, 4);
    float *p = tc_data(x);
    for (int i = 0; i < n; i++) p[(i * 7919 + 100) % tc_numel(x)] = value[i];
    tc_tensor *y = fixed(x, w), *z = any(x, w);
    tc_tensor *want = tc_cast(exact(x, w), TC_F32), *most = tc_max(tc_abs(w), TC_ALL, false);
    tc_tensor *sums = exact(tc_abs(x), tc_expand(most, tc_shape(w)));
    check_same(y, want, sums);
    check_same(z, want, sums);
  }
}

static void check_image_gradient(void) {
  TC_SCOPE {
    tc_tensor *x = tc_requires_grad_(random_image(3, 24, 13, 18, 5), true);
    const tc_tensor *w = random_weight(32, 24, 6), *dy = random_image(3, 32, 13, 18, 7);
    tc_tensor *dx = image_gradient(x, w, dy);
    check_close(dx, exact(dy, turned(w)));
    print_bits("image gradient", dx);
  }
}

/* The sum over images of x by dy: a convolution of x[C,N,H,W] with windows dy[O,N,H,W]. */
static tc_tensor *exact_weight_gradient(const tc_tensor *x, const tc_tensor *dy) {
  const tc_tensor *a = tc_cast(tc_transpose(x, 0, 1), TC_F64), *b = tc_cast(tc_transpose(dy, 0, 1), TC_F64);
  return tc_contiguous(tc_transpose(tc_conv(a, b, NULL, ONE), 0, 1));
}

/* Numbers around 1 with sums of many of them, so that what is right is relative to these; `value` is one of x. */
static void check_weight_gradient(int64_t n, int64_t c, int64_t o, int64_t h, int64_t w, float value) {
  TC_SCOPE {
    tc_tensor *x = random_image(n, c, h, w, 8), *k = tc_requires_grad_(random_weight(o, c, 9), true);
    const tc_tensor *dy = tc_clone(tc_mul_s(random_image(n, o, h, w, 10), 1 / sqrt((double)(n * h * w))));
    ((float *)tc_data(x))[tc_numel(x) / 3] = value;
    tc_tensor *dw = weight_gradient(x, k, dy), *want = exact_weight_gradient(x, dy);
    if (isfinite(value)) check_close(dw, want);
    else check_same(dw, tc_cast(want, TC_F32), tc_mul_s(tc_ones(TC_DIMS(o, c, 3, 3), TC_F64), 10));
    print_bits("weight gradient", dw);
  }
}

int main(void) {
  static const int64_t edge[] = {11, 12, 16, 17, 31, 56};
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++) check_sizes("any", any, 1 + (i + k) % 3, 16 + 5 * i, 17 + 8 * k, edge[i], edge[k]);
  check_sizes("wide", any, 1, 200, 64, 20, 20);
  for (int n = 1; n < 5; n++) check_sizes("fixed", fixed, n, 32, 32, 24, 24), check_sizes("small", small, 7 * n, 32, 40, 7, 7);
  check_values((const float[]){NAN}, 1);
  check_values((const float[]){INFINITY}, 1);
  check_values((const float[]){INFINITY, -INFINITY, NAN, 3e38F, -3e38F, 2e38F}, 6);
  check_image_gradient();
  for (int i = 0; i < 6; i++) check_weight_gradient(1 + i % 3, 20 + 9 * i, 24 + 13 * i, edge[i], edge[5 - i], 1);
  check_weight_gradient(9, 70, 40, 8, 8, 1);
  check_weight_gradient(2, 32, 32, 20, 20, NAN);
  check_weight_gradient(2, 32, 32, 20, 20, INFINITY);
  CHECK(fallbacks_of(NULL) == 0);
  return 0;
}
