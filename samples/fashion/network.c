/* A network (B,784)-512-512-10.  The hidden layers are random features; the last one is the ridge
 * regression of the classes on them,
 *
 *   (H^T H / N + lambda I) W = H^T Y / N,      H f32[N,512], Y f32[N,10], W f32[512,10]
 *
 * solved by conjugate gradients (Hestenes and Stiefel 1952), all ten columns at once. */
#include "fashion.h"
#include "common/sample.h"

#include <math.h>

#define HIDDEN 512

enum { STEPS = 60 };

static const double lambda = 1e-3;

TC_COMPILE static tc_tensor *features(const tc_tensor *x TC_SHAPE("f32[B,784]"),
                                      const tc_tensor *w1 TC_SHAPE("f32[784,512]"),
                                      const tc_tensor *b1 TC_SHAPE("f32[512]"),
                                      const tc_tensor *w2 TC_SHAPE("f32[512,512]"),
                                      const tc_tensor *b2 TC_SHAPE("f32[512]")) {
  tc_tensor *h = tc_relu(tc_add(tc_matmul(x, w1), b1));
  return tc_relu(tc_add(tc_matmul(h, w2), b2));
}

TC_COMPILE static tc_tensor *
mlp(const tc_tensor *x TC_SHAPE("f32[B,784]"), const tc_tensor *w1 TC_SHAPE("f32[784,512]"),
    const tc_tensor *b1 TC_SHAPE("f32[512]"), const tc_tensor *w2 TC_SHAPE("f32[512,512]"),
    const tc_tensor *b2 TC_SHAPE("f32[512]"), const tc_tensor *w3 TC_SHAPE("f32[512,10]"),
    const tc_tensor *b3 TC_SHAPE("f32[10]")) {
  return tc_softmax(tc_add(tc_matmul(features(x, w1, b1, w2, b2), w3), b3), -1);
}

/* H^T H / N: f32[512,512]. */
TC_COMPILE static tc_tensor *gram(const tc_tensor *h TC_SHAPE("f32[N,512]")) {
  return tc_div_s(tc_matmul(tc_transpose(h, 0, 1), h), (double)tc_size(h, 0));
}

/* H^T Y / N, with Y = one_hot(y) - 1/10: f32[512,10]. */
TC_COMPILE static tc_tensor *moments(const tc_tensor *h TC_SHAPE("f32[N,512]"),
                                     const tc_tensor *y TC_SHAPE("i64[N]")) {
  tc_tensor *target = tc_sub_s(tc_cast(tc_one_hot(y, CLASSES), TC_F32), 1.0 / CLASSES);
  return tc_div_s(tc_matmul(tc_transpose(h, 0, 1), target), (double)tc_size(h, 0));
}

/* Sums over the rows of each column, f32[1,10]. */
static tc_tensor *dots(const tc_tensor *a, const tc_tensor *b) {
  return tc_sum(tc_mul(a, b), TC_AXES(0), true);
}

/* One step.  The state is solution, residual and direction, f32[3,512,10]. */
TC_COMPILE static tc_tensor *
conjugate_gradient_step(const tc_tensor *g TC_SHAPE("f32[512,512]"),
                        const tc_tensor *state TC_SHAPE("f32[3,512,10]"), double ridge) {
  tc_tensor *w = tc_select(state, 0, 0), *r = tc_select(state, 0, 1), *p = tc_select(state, 0, 2);
  tc_tensor *q = tc_add(tc_matmul(g, p), tc_mul_s(p, ridge));
  tc_tensor *rr = tc_add_s(dots(r, r), 1e-30);
  tc_tensor *alpha = tc_div(rr, tc_add_s(dots(p, q), 1e-30));
  tc_tensor *w2 = tc_add(w, tc_mul(p, alpha)), *r2 = tc_sub(r, tc_mul(q, alpha));
  tc_tensor *p2 = tc_add(r2, tc_mul(p, tc_div(dots(r2, r2), rr)));
  const tc_tensor *next[] = {w2, r2, p2};
  return tc_stack(next, 3, 0);
}

/* Solves for W, f32[512,10]. */
static tc_tensor *solve(const tc_tensor *g, const tc_tensor *rhs) {
  const tc_tensor *start[] = {tc_zeros_like(rhs), rhs, rhs};
  tc_tensor *state = sample_check(tc_stack(start, 3, 0));
  for (int i = 0; i < STEPS; i++) TC_SCOPE
  tc_copy_(state, sample_check(conjugate_gradient_step(g, state, lambda)));
  return sample_check(tc_clone(tc_select(state, 0, 0)));
}

static tc_tensor *random_layer(int64_t in, int64_t out, uint64_t seed) {
  return sample_check(tc_mul_s(tc_randn(TC_DIMS(in, out), seed, TC_F32), sqrt(2.0 / (double)in)));
}

void run_network(const images *train, const images *test) {
  TC_SCOPE {
    tc_tensor *w1 = random_layer(PIXELS, HIDDEN, 11), *w2 = random_layer(HIDDEN, HIDDEN, 12);
    tc_tensor *b1 = tc_mul_s(tc_randn(TC_DIMS(HIDDEN), 13, TC_F32), 0.1);
    tc_tensor *b2 = tc_mul_s(tc_randn(TC_DIMS(HIDDEN), 14, TC_F32), 0.1);
    tc_tensor *h = sample_check(features(train->x, w1, b1, w2, b2));
    tc_tensor *g = sample_check(gram(h)), *rhs = sample_check(moments(h, train->y));
    tc_tensor *w3 = solve(g, rhs), *b3 = tc_full(TC_DIMS(CLASSES), 1.0 / CLASSES, TC_F32);
    tc_tensor *likely = sample_check(mlp(test->x, w1, b1, w2, b2, w3, b3));
    sample_print_accuracy("network", tc_argmax(likely, TC_AXES(1), false), test->y);

    const tc_tensor *start[] = {tc_zeros_like(rhs), rhs, rhs};
    tc_tensor *state = sample_check(tc_stack(start, 3, 0));
    tc_tensor *batch = sample_check(tc_slice(test->x, 0, 0, 1024, 1));
    SAMPLE_MEASURE(gram, h);
    SAMPLE_MEASURE(moments, h, train->y);
    SAMPLE_MEASURE(conjugate_gradient_step, g, state, lambda);
    SAMPLE_MEASURE(mlp, batch, w1, b1, w2, b2, w3, b3);
  }
}
