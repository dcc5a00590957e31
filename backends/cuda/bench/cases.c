/* cases.c - families that only `tools/bench gpu` measures; compiled once for each dtype, as
 * bench/cpu/cases.c is. */
#include "cases.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define DTYPE TEXT(BENCH_DTYPE)
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)

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

/* softmax(relu(x w1 + b1) w2 + b2) */
static tc_tensor *network(const tc_tensor *x, const tc_tensor *w1, const tc_tensor *b1,
                          const tc_tensor *w2, const tc_tensor *b2) {
  tc_tensor *h = tc_relu(tc_add(tc_matmul(x, w1), b1));
  return tc_softmax(tc_add(tc_matmul(h, w2), b2), -1);
}

TC_COMPILE static tc_tensor *mlp(const tc_tensor *x TC_SHAPE(DTYPE "[B,784]"),
                                 const tc_tensor *w1 TC_SHAPE(DTYPE "[784,512]"),
                                 const tc_tensor *b1 TC_SHAPE(DTYPE "[512]"),
                                 const tc_tensor *w2 TC_SHAPE(DTYPE "[512,10]"),
                                 const tc_tensor *b2 TC_SHAPE(DTYPE "[10]")) {
  return network(x, w1, b1, w2, b2);
}
static bool run_mlp(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = mlp(in[0], in[1], in[2], in[3], in[4])) != NULL;
}

TC_COMPILE_WITH("mode=reduce-overhead")
static tc_tensor *mlp_recorded(const tc_tensor *x TC_SHAPE(DTYPE "[B,784]"),
                               const tc_tensor *w1 TC_SHAPE(DTYPE "[784,512]"),
                               const tc_tensor *b1 TC_SHAPE(DTYPE "[512]"),
                               const tc_tensor *w2 TC_SHAPE(DTYPE "[512,10]"),
                               const tc_tensor *b2 TC_SHAPE(DTYPE "[10]")) {
  return network(x, w1, b1, w2, b2);
}
static bool run_mlp_recorded(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = mlp_recorded(in[0], in[1], in[2], in[3], in[4])) != NULL;
}

const bench_case JOIN(bench_gpu_cases_, BENCH_DTYPE)[BENCH_GPU_FAMILIES] = {
    {"rms_norm", DTYPE, 2, run_rms_norm, .results = 1},         {"sum_inner", DTYPE, 1, run_sum_inner, .results = 1},
    {"sum_outer", DTYPE, 1, run_sum_outer, .results = 1},       {"sum_all", DTYPE, 1, run_sum_all, .results = 1},
    {"transpose", DTYPE, 1, run_transpose, .results = 1},       {"mlp", DTYPE, 5, run_mlp, .results = 1},
    {"mlp_recorded", DTYPE, 5, run_mlp_recorded, .results = 1},
};
