/* cases.c - the families of `tools/bench cpu`.  Compiled once for each dtype, with
 * -DBENCH_DTYPE=f32 and so on: the dtype is part of the annotation, and a compiled body cannot come
 * from a macro.  With -DBENCH_CONSTANT there is code for each of the measured sizes. */
#include "cases.h"

#include <tcompile/optim.h>

#ifdef BENCH_CONSTANT
#define SIZES(a, b, c) TC_SPECIALIZE(a) TC_SPECIALIZE(b) TC_SPECIALIZE(c)
#define MORE_SIZES(a, b) TC_SPECIALIZE(a) TC_SPECIALIZE(b)
#else
#define SIZES(a, b, c)
#define MORE_SIZES(a, b)
#endif

#include "dtype.h"

/* gelu(x*s + b) * sigmoid(x), s and b of one row */
TC_COMPILE SIZES("R=300,C=1000", "R=1024,C=2048", "R=2048,C=4096") static tc_tensor *chain(
    const tc_tensor *x TC_SHAPE(DTYPE "[R,C]"), const tc_tensor *s TC_SHAPE(DTYPE "[C]"),
    const tc_tensor *b TC_SHAPE(DTYPE "[C]")) {
  return tc_mul(tc_gelu(tc_add(tc_mul(x, s), b)), tc_sigmoid(x));
}
static bool run_chain(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = chain(in[0], in[1], in[2])) != NULL;
}

TC_COMPILE SIZES("R=500,C=1000", "R=2048,C=2048",
                 "R=4096,C=4096") static tc_tensor *softmax(const tc_tensor *x TC_SHAPE(DTYPE
                                                                                        "[R,C]")) {
  return tc_softmax(x, -1);
}
static bool run_softmax(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = softmax(in[0])) != NULL;
}

TC_COMPILE SIZES("R=500,C=768", "R=2048,C=2048", "R=4096,C=4096") static tc_tensor *layer_norm(
    const tc_tensor *x TC_SHAPE(DTYPE "[R,C]"), const tc_tensor *w TC_SHAPE(DTYPE "[C]"),
    const tc_tensor *b TC_SHAPE(DTYPE "[C]")) {
  return tc_layer_norm(x, 1, w, b, 1e-5);
}
static bool run_layer_norm(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = layer_norm(in[0], in[1], in[2])) != NULL;
}

TC_COMPILE SIZES("R=512,C=1000", "R=2048,C=4096", "R=512,C=50257") static tc_tensor *cross_entropy(
    const tc_tensor *x TC_SHAPE(DTYPE "[R,C]"), const tc_tensor *t TC_SHAPE("i64[R]")) {
  return tc_nll(tc_log_softmax(x, -1), t, TC_MEAN);
}
static bool run_cross_entropy(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = cross_entropy(in[0], in[1])) != NULL;
}

/* European call, annual rate 2 %: spot, strike, years, volatility, each [N] */
TC_COMPILE SIZES("N=100000", "N=1000000", "N=8000000") static tc_tensor *black_scholes(
    const tc_tensor *s TC_SHAPE(DTYPE "[N]"), const tc_tensor *k TC_SHAPE(DTYPE "[N]"),
    const tc_tensor *t TC_SHAPE(DTYPE "[N]"), const tc_tensor *v TC_SHAPE(DTYPE "[N]")) {
  tc_tensor *root = tc_mul(v, tc_sqrt(t));
  tc_tensor *drift = tc_mul(tc_add_s(tc_mul_s(tc_square(v), 0.5), 0.02), t);
  tc_tensor *d1 = tc_div(tc_add(tc_log(tc_div(s, k)), drift), root);
  tc_tensor *d2 = tc_sub(d1, root);
  tc_tensor *n1 = tc_mul_s(tc_add_s(tc_erf(tc_mul_s(d1, 0.70710678118654752)), 1.0), 0.5);
  tc_tensor *n2 = tc_mul_s(tc_add_s(tc_erf(tc_mul_s(d2, 0.70710678118654752)), 1.0), 0.5);
  return tc_sub(tc_mul(s, n1), tc_mul(tc_mul(k, tc_exp(tc_mul_s(t, -0.02))), n2));
}
static bool run_black_scholes(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = black_scholes(in[0], in[1], in[2], in[3])) != NULL;
}

/* gelu(x w^T + b), the weight as stored by a linear layer */
TC_COMPILE
SIZES("M=64,K=784,N=512", "M=333,K=1000,N=777", "M=512,K=768,N=3072")
static tc_tensor *linear_gelu(const tc_tensor *x TC_SHAPE(DTYPE "[M,K]"),
                              const tc_tensor *w TC_SHAPE(DTYPE "[N,K]"),
                              const tc_tensor *b TC_SHAPE(DTYPE "[N]")) {
  return tc_gelu(tc_linear(x, w, b));
}
static bool run_linear_gelu(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = linear_gelu(in[0], in[1], in[2])) != NULL;
}

TC_COMPILE SIZES("M=256,K=256,N=256", "M=512,K=512,N=512", "M=1024,K=1024,N=1024")
    MORE_SIZES("M=100,K=333,N=77", "M=2048,K=2048,N=2048") static tc_tensor *matmul(
        const tc_tensor *a TC_SHAPE(DTYPE "[M,K]"), const tc_tensor *b TC_SHAPE(DTYPE "[K,N]")) {
  return tc_matmul(a, b);
}
static bool run_matmul(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = matmul(in[0], in[1])) != NULL;
}

/* ---- grouped queries: each head of keys and values serves this many heads of queries ---------- */

#define GROUP 4

/* x[B,H,T,D] as [B,GROUP*H,T,D] */
static tc_tensor *repeated(const tc_tensor *x) {
  const int64_t b = tc_size(x, 0), h = tc_size(x, 1), t = tc_size(x, 2), d = tc_size(x, 3);
  const tc_tensor *each = tc_expand(tc_unsqueeze(x, 2), TC_DIMS(b, h, GROUP, t, d));
  return tc_reshape(each, TC_DIMS(b, GROUP * h, t, d));
}

/* softmax(q k^T / 8) v of keys and values that are repeated first */
static tc_tensor *attend(const tc_tensor *q, const tc_tensor *k, const tc_tensor *v) {
  const tc_tensor *scores = tc_matmul(q, tc_transpose(repeated(k), -1, -2));
  return tc_matmul(tc_softmax(tc_mul_s(scores, 0.125), -1), repeated(v));
}

TC_COMPILE SIZES("B=1,H=2,M=33,T=500,D=80", "B=2,H=4,M=64,T=1000,D=64",
                 "B=1,H=8,M=128,T=2048,D=128") static tc_tensor
    *repeat_kv(const tc_tensor *q TC_SHAPE(DTYPE "[B,4*H,M,D]"),
               const tc_tensor *k TC_SHAPE(DTYPE "[B,H,T,D]"),
               const tc_tensor *v TC_SHAPE(DTYPE "[B,H,T,D]")) {
  return attend(q, k, v);
}
static bool run_repeat_kv(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = repeat_kv(in[0], in[1], in[2])) != NULL;
}

/* One token of each of B texts whose cache holds its keys and values: query, attention, output. */
TC_COMPILE SIZES("B=1,C=600,H=2,T=500,D=64", "B=4,C=1000,H=4,T=1000,D=64",
                 "B=1,C=4096,H=8,T=2048,D=128") static tc_tensor
    *decode(const tc_tensor *x TC_SHAPE(DTYPE "[B,C]"),
            const tc_tensor *wq TC_SHAPE(DTYPE "[C,4*H*D]"),
            const tc_tensor *k TC_SHAPE(DTYPE "[B,H,T,D]"),
            const tc_tensor *v TC_SHAPE(DTYPE "[B,H,T,D]"),
            const tc_tensor *wo TC_SHAPE(DTYPE "[4*H*D,C]")) {
  const int64_t b = tc_size(x, 0), heads = GROUP * tc_size(k, 1), d = tc_size(k, 3);
  const tc_tensor *q = tc_reshape(tc_matmul(x, wq), TC_DIMS(b, heads, 1, d));
  return tc_matmul(tc_reshape(attend(q, k, v), TC_DIMS(b, heads * d)), wo);
}
static bool run_decode(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = decode(in[0], in[1], in[2], in[3], in[4])) != NULL;
}

/* ---- a recurrence ---------------------------------------------------------------------------- */

enum { STEPS = 50 };

/* The last state of an LSTM over x, which begins with hidden and cell state s. */
TC_COMPILE SIZES("B=1,I=50,H=100", "B=16,I=64,H=128", "B=40,I=200,H=300") static tc_tensor *lstm(
    const tc_tensor *x TC_SHAPE(DTYPE "[B,50,I]"), const tc_tensor *wx TC_SHAPE(DTYPE "[I,4*H]"),
    const tc_tensor *wh TC_SHAPE(DTYPE "[H,4*H]"), const tc_tensor *b TC_SHAPE(DTYPE "[4*H]"),
    const tc_tensor *s TC_SHAPE(DTYPE "[B,H]")) {
  tc_tensor *h = tc_mul_s(s, 1), *c = h, *gate[4];
  for (int t = 0; t < STEPS; t++) {
    const tc_tensor *now = tc_matmul(tc_select(x, 1, t), wx);
    tc_split(tc_add(tc_add(now, tc_matmul(h, wh)), b), 4, 1, gate);
    const tc_tensor *kept = tc_mul(tc_sigmoid(gate[1]), c);
    c = tc_add(kept, tc_mul(tc_sigmoid(gate[0]), tc_tanh(gate[2])));
    h = tc_mul(tc_sigmoid(gate[3]), tc_tanh(c));
  }
  return h;
}
static bool run_lstm(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = lstm(in[0], in[1], in[2], in[3], in[4])) != NULL;
}

/* ---- an optimiser ---------------------------------------------------------------------------- */

/* A step of AdamW: parameters p and their moments m and v, in place, from gradients g. */
TC_COMPILE SIZES("N=100003", "N=3000000",
                 "N=16800000") static bool adamw(tc_tensor *p TC_SHAPE(DTYPE "[N]"),
                                                 const tc_tensor *g TC_SHAPE(DTYPE "[N]"),
                                                 tc_tensor *m TC_SHAPE(DTYPE "[N]"),
                                                 tc_tensor *v TC_SHAPE(DTYPE "[N]"), int64_t step) {
  tc_adam_options options = tc_adam_defaults(1e-3);
  options.weight_decay = 0.01;
  return tc_adamw(1, &p, (tc_tensor *const[]){(tc_tensor *)g}, &m, &v, step, options);
}
static bool run_adamw(tc_tensor *const *in, tc_tensor **out) {
  (void)out;
  return adamw(in[0], in[1], in[2], in[3], 10);
}

const bench_case JOIN(bench_cases_, BENCH_DTYPE)[BENCH_FAMILIES] = {
    {"chain", DTYPE, 3, run_chain, .results = 1},
    {"softmax", DTYPE, 1, run_softmax, .results = 1},
    {"layer_norm", DTYPE, 3, run_layer_norm, .results = 1},
    {"cross_entropy", DTYPE, 2, run_cross_entropy, .results = 1},
    {"black_scholes", DTYPE, 4, run_black_scholes, .results = 1},
    {"linear_gelu", DTYPE, 3, run_linear_gelu, .results = 1},
    {"matmul", DTYPE, 2, run_matmul, .results = 1},
    {"repeat_kv", DTYPE, 3, run_repeat_kv, .results = 1},
    {"decode", DTYPE, 5, run_decode, .results = 1},
    {"lstm", DTYPE, 5, run_lstm, .results = 1},
    {"adamw", DTYPE, 4, run_adamw, .written = 1},
};
