/* cases.c - families that only `tools/bench gpu` measures; compiled once for each dtype, as
 * bench/cpu/cases.c is. */
#include "cases.h"

#include "bench/cpu/dtype.h"

#include "bench/cpu/mlp.h" /* of DTYPE */

TC_COMPILE static tc_tensor *rms_norm(const tc_tensor *x TC_SHAPE(DTYPE "[R,C]"),
                                      const tc_tensor *w TC_SHAPE(DTYPE "[C]")) {
  return tc_rms_norm(x, 1, w, 1e-5);
}
static bool run_rms_norm(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = rms_norm(in[0], in[1])) != NULL;
}

TC_COMPILE static tc_tensor *sum_inner(const tc_tensor *x TC_SHAPE(DTYPE "[R,C]")) {
  return tc_sum(x, TC_AXES(1), false);
}
static bool run_sum_inner(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = sum_inner(in[0])) != NULL;
}

TC_COMPILE static tc_tensor *sum_outer(const tc_tensor *x TC_SHAPE(DTYPE "[R,C]")) {
  return tc_sum(x, TC_AXES(0), false);
}
static bool run_sum_outer(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = sum_outer(in[0])) != NULL;
}

TC_COMPILE static tc_tensor *sum_all(const tc_tensor *x TC_SHAPE(DTYPE "[R,C]")) {
  return tc_sum(x, TC_ALL, false);
}
static bool run_sum_all(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = sum_all(in[0])) != NULL;
}

/* tc_contiguous alone computes nothing: it would stay a call of the runtime. */
TC_COMPILE static tc_tensor *transpose(const tc_tensor *x TC_SHAPE(DTYPE "[R,C]")) {
  return tc_clone(tc_transpose(x, 0, 1));
}
static bool run_transpose(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = transpose(in[0])) != NULL;
}

#define RECORDED TC_COMPILE_WITH("mode=reduce-overhead")

/* softmax(relu(x w1 + b1) w2 + b2) */
#define NETWORK(name, compile)                                                                     \
  compile static tc_tensor *name(const tc_tensor *x TC_SHAPE(DTYPE "[B,784]"),                     \
                                 const tc_tensor *w1 TC_SHAPE(DTYPE "[784,512]"),                  \
                                 const tc_tensor *b1 TC_SHAPE(DTYPE "[512]"),                      \
                                 const tc_tensor *w2 TC_SHAPE(DTYPE "[512,10]"),                   \
                                 const tc_tensor *b2 TC_SHAPE(DTYPE "[10]")) {                     \
    return tc_softmax(affine(tc_relu(affine(x, w1, b1)), w2, b2), -1);                             \
  }                                                                                                \
  static bool run_##name(tc_tensor *const *in, tc_tensor **out) {                                  \
    return (out[0] = name(in[0], in[1], in[2], in[3], in[4])) != NULL;                             \
  }
NETWORK(mlp, TC_COMPILE)
NETWORK(mlp_recorded, RECORDED)

#define SGD(name, compile)                                                                         \
  compile static tc_tensor *name(const perceptron *m, const tc_tensor *x TC_SHAPE(DTYPE "[B,I]"),  \
                                 const tc_tensor *t TC_SHAPE("i64[B]")) {                          \
    return mlp_sgd_step(m, x, t);                                                                  \
  }                                                                                                \
  static bool run_##name(tc_tensor *const *in, tc_tensor **out) {                                  \
    const perceptron m = mlp_of(in);                                                               \
    return (out[0] = name(&m, in[4], in[5])) != NULL;                                              \
  }
SGD(mlp_sgd, TC_COMPILE)
SGD(mlp_sgd_recorded, RECORDED)

#define ADAM(name, compile)                                                                        \
  compile static tc_tensor *name(const perceptron *m, const perceptron *mean,                      \
                                 const perceptron *square,                                         \
                                 const tc_tensor *x TC_SHAPE(DTYPE "[B,I]"),                       \
                                 const tc_tensor *t TC_SHAPE("i64[B]"), int64_t step) {            \
    return mlp_adam_step(m, mean, square, x, t, step);                                             \
  }                                                                                                \
  static bool run_##name(tc_tensor *const *in, tc_tensor **out) {                                  \
    const perceptron m = mlp_of(in), mean = mlp_of(in + 6), square = mlp_of(in + 10);              \
    return (out[0] = name(&m, &mean, &square, in[4], in[5], 10)) != NULL;                          \
  }
ADAM(mlp_adam, TC_COMPILE)
ADAM(mlp_adam_recorded, RECORDED)

const bench_case JOIN(bench_gpu_cases_, BENCH_DTYPE)[BENCH_GPU_FAMILIES] = {
    {"rms_norm", DTYPE, 2, run_rms_norm, .results = 1},
    {"sum_inner", DTYPE, 1, run_sum_inner, .results = 1},
    {"sum_outer", DTYPE, 1, run_sum_outer, .results = 1},
    {"sum_all", DTYPE, 1, run_sum_all, .results = 1},
    {"transpose", DTYPE, 1, run_transpose, .results = 1},
    {"mlp", DTYPE, 5, run_mlp, .results = 1},
    {"mlp_recorded", DTYPE, 5, run_mlp_recorded, .results = 1},
    {"mlp_sgd", DTYPE, MLP + 2, run_mlp_sgd, .leaves = MLP, .results = 1, .written = MLP},
    {"mlp_sgd_recorded", DTYPE, MLP + 2, run_mlp_sgd_recorded, .leaves = MLP, .results = 1,
     .written = MLP},
    {"mlp_adam", DTYPE, 3 * MLP + 2, run_mlp_adam, .leaves = MLP, .results = 1, .written = MLP},
    {"mlp_adam_recorded", DTYPE, 3 * MLP + 2, run_mlp_adam_recorded, .leaves = MLP, .results = 1,
     .written = MLP},
};
