/* images.c - families of `tools/bench cpu --only networks`: convolutions, pooling and batch normalisation of images
 * [N,C,H,W].  Compiled once for each dtype, as cases.c is.
 *
 * Operands: leaves, other operands, cotangent.  Results: the value, then gradients. */
#include "cases.h"

#include <tcompile/nn.h>

#include "dtype.h"

#define REAL(sizes) TC_SHAPE(DTYPE sizes)
#define ONE TC_INTS(1)

/* Networks know their layers: code for images and channels of the measured sizes, and for others. */
#define LAYER(sizes) TC_SPECIALIZE(sizes)

/* ---- relu(convolution + bias) ------------------------------------------------------------------ */

TC_COMPILE LAYER("C=64,O=64,H=56,W=56") LAYER("C=128,O=128,H=28,W=28") LAYER("C=256,O=256,H=14,W=14")
LAYER("C=512,O=512,H=7,W=7")
static tc_tensor *conv3x3(const tc_tensor *x REAL("[N,C,H,W]"), const tc_tensor *w REAL("[O,C,3,3]"),
                          const tc_tensor *b REAL("[O]")) {
  return tc_relu(tc_conv(x, w, b, ONE, ONE, ONE, 1));
}
static bool run_conv3x3(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = conv3x3(in[0], in[1], in[2])) != NULL;
}

TC_COMPILE LAYER("C=64,O=256,H=56,W=56") LAYER("C=512,O=128,H=28,W=28") LAYER("C=1024,O=256,H=14,W=14")
LAYER("C=2048,O=512,H=7,W=7")
static tc_tensor *conv1x1(const tc_tensor *x REAL("[N,C,H,W]"), const tc_tensor *w REAL("[O,C,1,1]"),
                          const tc_tensor *b REAL("[O]")) {
  return tc_relu(tc_conv(x, w, b, ONE, TC_INTS(0), ONE, 1));
}
static bool run_conv1x1(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = conv1x1(in[0], in[1], in[2])) != NULL;
}

TC_COMPILE LAYER("C=3,O=64,H=224,W=224") LAYER("C=3,O=64,H=112,W=112")
static tc_tensor *conv7x7(const tc_tensor *x REAL("[N,C,H,W]"), const tc_tensor *w REAL("[O,C,7,7]"),
                          const tc_tensor *b REAL("[O]")) {
  return tc_relu(tc_conv(x, w, b, TC_INTS(2), TC_INTS(3), ONE, 1));
}
static bool run_conv7x7(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = conv7x7(in[0], in[1], in[2])) != NULL;
}

/* As many groups as channels: which have to be known. */
TC_COMPILE LAYER("C=96,H=56,W=56") LAYER("C=384,H=14,W=14")
static tc_tensor *conv_depthwise(const tc_tensor *x REAL("[N,C,H,W]"), const tc_tensor *w REAL("[C,1,3,3]"),
                                 const tc_tensor *b REAL("[C]")) {
  return tc_relu(tc_conv(x, w, b, ONE, ONE, ONE, tc_size(x, 1)));
}
static bool run_conv_depthwise(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = conv_depthwise(in[0], in[1], in[2])) != NULL;
}

TC_COMPILE LAYER("C=4,O=4,H=56,W=56") LAYER("C=16,O=16,H=14,W=14")
static tc_tensor *conv_groups(const tc_tensor *x REAL("[N,32*C,H,W]"), const tc_tensor *w REAL("[32*O,C,3,3]"),
                              const tc_tensor *b REAL("[32*O]")) {
  return tc_relu(tc_conv(x, w, b, ONE, ONE, ONE, 32));
}
static bool run_conv_groups(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = conv_groups(in[0], in[1], in[2])) != NULL;
}

TC_COMPILE LAYER("C=64,O=64,H=56,W=56") LAYER("C=256,O=256,H=14,W=14") LAYER("C=512,O=512,H=7,W=7")
static bool conv3x3_grad(const tc_tensor *x REAL("[N,C,H,W]"), const tc_tensor *w REAL("[O,C,3,3]"),
                         const tc_tensor *dy REAL("[N,O,H,W]"), tc_tensor **out) {
  const tc_tensor *wrt[] = {x, w}, *y = tc_conv(x, w, NULL, ONE, ONE, ONE, 1);
  return (out[0] = tc_detach(y)) && tc_vjp(y, dy, 2, wrt, out + 1);
}
static bool run_conv3x3_grad(tc_tensor *const *in, tc_tensor **out) { return conv3x3_grad(in[0], in[1], in[2], out); }

/* ---- pooling ----------------------------------------------------------------------------------- */

TC_COMPILE static tc_tensor *max_pool(const tc_tensor *x REAL("[N,C,H,W]")) {
  return tc_max_pool(x, TC_INTS(3), TC_INTS(2), ONE, ONE, false);
}
static bool run_max_pool(tc_tensor *const *in, tc_tensor **out) { return (out[0] = max_pool(in[0])) != NULL; }

TC_COMPILE static tc_tensor *avg_pool(const tc_tensor *x REAL("[N,C,H,W]")) {
  return tc_avg_pool(x, TC_INTS(2), TC_INTS(2), TC_INTS(0), false, true);
}
static bool run_avg_pool(tc_tensor *const *in, tc_tensor **out) { return (out[0] = avg_pool(in[0])) != NULL; }

TC_COMPILE static bool max_pool_grad(const tc_tensor *x REAL("[N,C,2*H,2*W]"), const tc_tensor *dy REAL("[N,C,H,W]"),
                                     tc_tensor **out) {
  const tc_tensor *y = tc_max_pool(x, TC_INTS(3), TC_INTS(2), ONE, ONE, false);
  return (out[0] = tc_detach(y)) && tc_vjp(y, dy, 1, &x, out + 1);
}
static bool run_max_pool_grad(tc_tensor *const *in, tc_tensor **out) { return max_pool_grad(in[0], in[1], out); }

/* ---- batch normalisation ----------------------------------------------------------------------- */

/* relu of it in training, with running statistics. */
TC_COMPILE static bool batch_norm_grad(const tc_tensor *x REAL("[N,C,H,W]"), const tc_tensor *w REAL("[C]"),
                                 const tc_tensor *b REAL("[C]"), tc_tensor *mean REAL("[C]"),
                                       tc_tensor *var REAL("[C]"), const tc_tensor *dy REAL("[N,C,H,W]"),
                                       tc_tensor **out) {
  const tc_tensor *wrt[] = {x, w, b};
  const tc_tensor *y = tc_relu(tc_batch_norm_train(x, mean, var, w, b, 0.1, 1e-5));
  return (out[0] = tc_detach(y)) && tc_vjp(y, dy, 3, wrt, out + 1);
}
static bool run_batch_norm_grad(tc_tensor *const *in, tc_tensor **out) {
  return batch_norm_grad(in[0], in[1], in[2], in[3], in[4], in[5], out);
}

const bench_case JOIN(bench_images_, BENCH_DTYPE)[BENCH_IMAGES] = {
    {"conv3x3", DTYPE, 3, run_conv3x3, .results = 1},
    {"conv1x1", DTYPE, 3, run_conv1x1, .results = 1},
    {"conv7x7", DTYPE, 3, run_conv7x7, .results = 1},
    {"conv_depthwise", DTYPE, 3, run_conv_depthwise, .results = 1},
    {"conv_groups", DTYPE, 3, run_conv_groups, .results = 1},
    {"conv3x3_grad", DTYPE, 3, run_conv3x3_grad, .leaves = 2, .results = 3},
    {"max_pool", DTYPE, 1, run_max_pool, .results = 1},
    {"avg_pool", DTYPE, 1, run_avg_pool, .results = 1},
    {"max_pool_grad", DTYPE, 2, run_max_pool_grad, .leaves = 1, .results = 2},
    {"batch_norm_grad", DTYPE, 6, run_batch_norm_grad, .leaves = 3, .results = 4},
};
