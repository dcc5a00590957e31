/* cases.c - the families of `tools/bench cpu`, f32 and bf16 from one macro each: the dtype is part of
 * the annotation, and an annotation is a string literal. */
#include "cases.h"

#include <string.h>

/* gelu(x*s + b) * sigmoid(x), s and b of one row */
#define CHAIN(T)                                                                                   \
  TC_COMPILE static tc_tensor *chain_##T(const tc_tensor *x TC_SHAPE(#T "[R,C]"),                  \
                                         const tc_tensor *s TC_SHAPE(#T "[C]"),                    \
                                         const tc_tensor *b TC_SHAPE(#T "[C]")) {                  \
    return tc_mul(tc_gelu(tc_add(tc_mul(x, s), b)), tc_sigmoid(x));                                \
  }                                                                                                \
  static tc_tensor *run_chain_##T(const tc_tensor *const *in) { return chain_##T(in[0], in[1], in[2]); }

#define SOFTMAX(T)                                                                                 \
  TC_COMPILE static tc_tensor *softmax_##T(const tc_tensor *x TC_SHAPE(#T "[R,C]")) {              \
    return tc_softmax(x, -1);                                                                      \
  }                                                                                                \
  static tc_tensor *run_softmax_##T(const tc_tensor *const *in) { return softmax_##T(in[0]); }

#define LAYER_NORM(T)                                                                              \
  TC_COMPILE static tc_tensor *layer_norm_##T(const tc_tensor *x TC_SHAPE(#T "[R,C]"),             \
                                              const tc_tensor *w TC_SHAPE(#T "[C]"),               \
                                              const tc_tensor *b TC_SHAPE(#T "[C]")) {             \
    return tc_layer_norm(x, 1, w, b, 1e-5);                                                        \
  }                                                                                                \
  static tc_tensor *run_layer_norm_##T(const tc_tensor *const *in) {                               \
    return layer_norm_##T(in[0], in[1], in[2]);                                                    \
  }

#define CROSS_ENTROPY(T)                                                                           \
  TC_COMPILE static tc_tensor *cross_entropy_##T(const tc_tensor *x TC_SHAPE(#T "[R,C]"),          \
                                                 const tc_tensor *t TC_SHAPE("i64[R]")) {          \
    return tc_nll(tc_log_softmax(x, -1), t, TC_MEAN);                                              \
  }                                                                                                \
  static tc_tensor *run_cross_entropy_##T(const tc_tensor *const *in) {                            \
    return cross_entropy_##T(in[0], in[1]);                                                        \
  }

/* European call, annual rate 2 %: spot, strike, years, volatility, each [N] */
#define BLACK_SCHOLES(T)                                                                           \
  TC_COMPILE static tc_tensor *black_scholes_##T(const tc_tensor *s TC_SHAPE(#T "[N]"),            \
                                                 const tc_tensor *k TC_SHAPE(#T "[N]"),            \
                                                 const tc_tensor *t TC_SHAPE(#T "[N]"),            \
                                                 const tc_tensor *v TC_SHAPE(#T "[N]")) {          \
    tc_tensor *root = tc_mul(v, tc_sqrt(t));                                                       \
    tc_tensor *drift = tc_mul(tc_add_s(tc_mul_s(tc_square(v), 0.5), 0.02), t);                     \
    tc_tensor *d1 = tc_div(tc_add(tc_log(tc_div(s, k)), drift), root);                             \
    tc_tensor *d2 = tc_sub(d1, root);                                                              \
    tc_tensor *n1 = tc_mul_s(tc_add_s(tc_erf(tc_mul_s(d1, 0.70710678118654752)), 1.0), 0.5);       \
    tc_tensor *n2 = tc_mul_s(tc_add_s(tc_erf(tc_mul_s(d2, 0.70710678118654752)), 1.0), 0.5);       \
    return tc_sub(tc_mul(s, n1), tc_mul(tc_mul(k, tc_exp(tc_mul_s(t, -0.02))), n2));               \
  }                                                                                                \
  static tc_tensor *run_black_scholes_##T(const tc_tensor *const *in) {                            \
    return black_scholes_##T(in[0], in[1], in[2], in[3]);                                          \
  }

/* gelu(x w^T + b), the weight as stored by a linear layer */
#define LINEAR_GELU(T)                                                                             \
  TC_COMPILE static tc_tensor *linear_gelu_##T(const tc_tensor *x TC_SHAPE(#T "[M,K]"),            \
                                               const tc_tensor *w TC_SHAPE(#T "[N,K]"),            \
                                               const tc_tensor *b TC_SHAPE(#T "[N]")) {            \
    return tc_gelu(tc_linear(x, w, b));                                                            \
  }                                                                                                \
  static tc_tensor *run_linear_gelu_##T(const tc_tensor *const *in) {                              \
    return linear_gelu_##T(in[0], in[1], in[2]);                                                   \
  }

#define MATMUL(T)                                                                                  \
  TC_COMPILE static tc_tensor *matmul_##T(const tc_tensor *a TC_SHAPE(#T "[M,K]"),                 \
                                          const tc_tensor *b TC_SHAPE(#T "[K,N]")) {               \
    return tc_matmul(a, b);                                                                        \
  }                                                                                                \
  static tc_tensor *run_matmul_##T(const tc_tensor *const *in) { return matmul_##T(in[0], in[1]); }

#define FAMILIES(T)                                                                                \
  CHAIN(T) SOFTMAX(T) LAYER_NORM(T) CROSS_ENTROPY(T) BLACK_SCHOLES(T) LINEAR_GELU(T) MATMUL(T)
FAMILIES(f32)
FAMILIES(bf16)

#define ROWS(T)                                                                                    \
  {"chain", #T, 3, run_chain_##T}, {"softmax", #T, 1, run_softmax_##T},                            \
      {"layer_norm", #T, 3, run_layer_norm_##T}, {"cross_entropy", #T, 2, run_cross_entropy_##T},  \
      {"black_scholes", #T, 4, run_black_scholes_##T},                                             \
      {"linear_gelu", #T, 3, run_linear_gelu_##T}, {"matmul", #T, 2, run_matmul_##T}

static const bench_case cases[] = {ROWS(f32), ROWS(bf16)};

const bench_case *bench_case_find(const char *family, const char *dtype) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (strcmp(cases[i].family, family) == 0 && strcmp(cases[i].dtype, dtype) == 0) return &cases[i];
  return NULL;
}
