/* gradients.c - families of `tools/bench cpu --only training` and of `tools/bench gpu`: functions of rows, forward and
 * backward.  Compiled once for each dtype, as cases.c is.
 *
 * Operands: leaves, other operands, cotangent.  Results: the value, then gradients. */
#include "cases.h"

#include "dtype.h"

TC_COMPILE static bool softmax_grad(const tc_tensor *x TC_SHAPE(DTYPE "[R,C]"),
                                    const tc_tensor *dy TC_SHAPE(DTYPE "[R,C]"), tc_tensor **out) {
  tc_tensor *g[1];
  const tc_tensor *y = tc_softmax(x, -1);
  if (!tc_vjp(y, dy, 1, &x, g)) return false;
  out[0] = tc_detach(y);
  out[1] = g[0];
  return true;
}
static bool run_softmax_grad(tc_tensor *const *in, tc_tensor **out) {
  return softmax_grad(in[0], in[1], out);
}

TC_COMPILE static bool layer_norm_grad(const tc_tensor *x TC_SHAPE(DTYPE "[R,C]"),
                                       const tc_tensor *w TC_SHAPE(DTYPE "[C]"),
                                       const tc_tensor *b TC_SHAPE(DTYPE "[C]"),
                                       const tc_tensor *dy TC_SHAPE(DTYPE "[R,C]"),
                                       tc_tensor **out) {
  tc_tensor *g[3];
  const tc_tensor *wrt[] = {x, w, b}, *y = tc_layer_norm(x, 1, w, b, 1e-5);
  if (!tc_vjp(y, dy, 3, wrt, g)) return false;
  out[0] = tc_detach(y);
  for (int i = 0; i < 3; i++) out[1 + i] = g[i];
  return true;
}
static bool run_layer_norm_grad(tc_tensor *const *in, tc_tensor **out) {
  return layer_norm_grad(in[0], in[1], in[2], in[3], out);
}

TC_COMPILE static bool rms_norm_grad(const tc_tensor *x TC_SHAPE(DTYPE "[R,C]"),
                                     const tc_tensor *w TC_SHAPE(DTYPE "[C]"),
                                     const tc_tensor *dy TC_SHAPE(DTYPE "[R,C]"), tc_tensor **out) {
  tc_tensor *g[2];
  const tc_tensor *wrt[] = {x, w}, *y = tc_rms_norm(x, 1, w, 1e-5);
  if (!tc_vjp(y, dy, 2, wrt, g)) return false;
  out[0] = tc_detach(y);
  for (int i = 0; i < 2; i++) out[1 + i] = g[i];
  return true;
}
static bool run_rms_norm_grad(tc_tensor *const *in, tc_tensor **out) {
  return rms_norm_grad(in[0], in[1], in[2], out);
}

TC_COMPILE static bool gelu_grad(const tc_tensor *x TC_SHAPE(DTYPE "[R,C]"),
                                 const tc_tensor *dy TC_SHAPE(DTYPE "[R,C]"), tc_tensor **out) {
  tc_tensor *g[1];
  const tc_tensor *y = tc_gelu(x);
  if (!tc_vjp(y, dy, 1, &x, g)) return false;
  out[0] = tc_detach(y);
  out[1] = g[0];
  return true;
}
static bool run_gelu_grad(tc_tensor *const *in, tc_tensor **out) {
  return gelu_grad(in[0], in[1], out);
}

TC_COMPILE static bool cross_entropy_grad(const tc_tensor *x TC_SHAPE(DTYPE "[R,C]"),
                                          const tc_tensor *t TC_SHAPE("i64[R]"), tc_tensor **out) {
  tc_tensor *g[1];
  const tc_tensor *loss = tc_cross_entropy(x, t, TC_MEAN);
  if (!tc_grad(loss, 1, &x, g)) return false;
  out[0] = tc_detach(loss);
  out[1] = g[0];
  return true;
}
static bool run_cross_entropy_grad(tc_tensor *const *in, tc_tensor **out) {
  return cross_entropy_grad(in[0], in[1], out);
}

const bench_case JOIN(bench_gradients_, BENCH_DTYPE)[BENCH_GRADIENTS] = {
    {"softmax_grad", DTYPE, 2, run_softmax_grad, .leaves = 1, .results = 2},
    {"layer_norm_grad", DTYPE, 4, run_layer_norm_grad, .leaves = 3, .results = 4},
    {"rms_norm_grad", DTYPE, 3, run_rms_norm_grad, .leaves = 2, .results = 3},
    {"gelu_grad", DTYPE, 2, run_gelu_grad, .leaves = 1, .results = 2},
    {"cross_entropy_grad", DTYPE, 2, run_cross_entropy_grad, .leaves = 1, .results = 2},
};
