/* model.h - residual networks (He et al., Deep residual learning for image recognition, 2016) of 18 and 50 layers, with
 * parameters as in torchvision's files: the stride of a bottleneck is that of its 3x3 convolution.  x[N,3,E,E]; a first
 * convolution of 7x7 is for images of E = 224, one of 3x3 for those of E = 32. */
#ifndef SAMPLE_RESNET_MODEL_H
#define SAMPLE_RESNET_MODEL_H

#include <tcompile/nn.h>

enum { STAGES = 4, WIDTH = 64, MOST_BLOCKS = 16 };

#define REAL(sizes) TC_SHAPE("R=f32|bf16" sizes)

enum { MOST = 3 * (1 + 4 * MOST_BLOCKS) + 2 }; /* parameters */

/* A convolution and the batch normalisation behind it. */
typedef struct layer {
  tc_tensor *w REAL("[O,C,K,K]"), *scale REAL("[O]"), *shift REAL("[O]");
  tc_tensor *mean REAL("[O]"), *var REAL("[O]"); /* running statistics */
} layer;

/* Two layers, or the three of a bottleneck, and `beside`, through which x passes where its sizes change. */
typedef struct block {
  layer layer[3], beside;
} block;

typedef struct resnet {
  int depth, window; /* 18 or 50; 7 or 3: of the first convolution */
  layer stem;
  block block[MOST_BLOCKS];
  tc_tensor *w REAL("[F,C]"), *bias REAL("[F]");
} resnet;

static inline int blocks_of(int depth, int stage) {
  static const int of[2][STAGES] = {{2, 2, 2, 2}, {3, 4, 6, 3}};
  return of[depth == 50][stage];
}

/* Channels in front of and behind block i of a stage, and its stride. */
typedef struct shape {
  int64_t in, inner, out;
  int stride;
} shape;

static inline shape shape_of(int depth, int stage, int i) {
  const int64_t inner = (int64_t)WIDTH << stage, wider = depth == 50 ? 4 : 1;
  const int64_t before = stage ? inner * wider / 2 : WIDTH;
  return (shape){i ? inner * wider : before, inner, inner * wider, i == 0 && stage ? 2 : 1};
}

/* Does x pass a layer beside the block? */
static inline bool has_beside(shape s) { return s.in != s.out || s.stride != 1; }

/* By the running statistics, or by those of the batch, which the running ones follow. */
typedef enum mode { INFERENCE, TRAINING } mode;

/* The norm of the convolution of x with windows of size x size, `out` channels. */
static inline tc_tensor *normed(const layer *l, const tc_tensor *x, int64_t out, int size,
                                int stride, mode how) {
  const tc_dtype d = tc_dtype_of(x);
  if (tc_size(l->w, 0) != out || tc_size(l->w, 1) != tc_size(x, 1) || tc_size(l->w, 2) != size)
    return tc_fail_as(TC_ERROR_ARGUMENT, "a convolution has other sizes than the network");
  tc_tensor *y =
      tc_conv(x, tc_cast(l->w, d), NULL, TC_INTS(stride), TC_INTS(size / 2), TC_INTS(1), 1);
  if (how == TRAINING)
    return tc_batch_norm_train(y, l->mean, l->var, l->scale, l->shift, 0.1, 1e-5);
  return tc_batch_norm(y, l->mean, l->var, l->scale, l->shift, 1e-5);
}

/* x[N,in,E,E] behind a block: [N,out,E/stride,E/stride]. */
static inline tc_tensor *behind(const block *b, const tc_tensor *x, shape s, mode how) {
  const layer *l = b->layer;
  const tc_tensor *y;
  if (s.out != s.inner) {
    y = tc_relu(normed(&l[0], x, s.inner, 1, 1, how));
    y = tc_relu(normed(&l[1], y, s.inner, 3, s.stride, how));
    y = normed(&l[2], y, s.out, 1, 1, how);
  } else {
    y = tc_relu(normed(&l[0], x, s.inner, 3, s.stride, how));
    y = normed(&l[1], y, s.inner, 3, 1, how);
  }
  return tc_relu(tc_add(y, has_beside(s) ? normed(&b->beside, x, s.out, 1, s.stride, how) : x));
}

/* The scores f32[N,F] of the classes. */
static inline tc_tensor *scores(const resnet *m, const tc_tensor *x, mode how) {
  const block *b = m->block;
  tc_tensor *y = tc_relu(normed(&m->stem, x, WIDTH, m->window, m->window == 7 ? 2 : 1, how));
  if (m->window == 7) y = tc_max_pool(y, TC_INTS(3), TC_INTS(2), TC_INTS(1), TC_INTS(1), false);
  for (int stage = 0; stage < STAGES; stage++)
    for (int i = 0; i < blocks_of(m->depth, stage); i++)
      y = behind(b++, y, shape_of(m->depth, stage, i), how);
  y = tc_mean(y, TC_AXES(2, 3), false);
  return tc_add(tc_cast(tc_linear(y, tc_cast(m->w, tc_dtype_of(y)), NULL), TC_F32), m->bias);
}

#endif
