/* attention.c - families of `tools/bench cpu --only networks`: attention, a recurrence over 100 steps, and products with
 * weights of 8 bits.  Compiled once for each dtype, as cases.c is.
 *
 * Operands: leaves, other operands, cotangent.  Results: the value, then gradients. */
#include "cases.h"

#include <tcompile/nn.h>

#include "dtype.h"

#define HEADS(t) TC_SHAPE(DTYPE "[B,H," t ",D]")

TC_COMPILE static tc_tensor *attention(const tc_tensor *q HEADS("T"), const tc_tensor *k HEADS("T"),
                                       const tc_tensor *v HEADS("T")) {
  return tc_attention(q, k, v, (tc_attention_options){0});
}
static bool run_attention(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = attention(in[0], in[1], in[2])) != NULL;
}

TC_COMPILE static tc_tensor *attention_causal(const tc_tensor *q HEADS("T"), const tc_tensor *k HEADS("T"),
                                              const tc_tensor *v HEADS("T")) {
  return tc_attention(q, k, v, (tc_attention_options){.causal = true});
}
static bool run_attention_causal(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = attention_causal(in[0], in[1], in[2])) != NULL;
}

TC_COMPILE static tc_tensor *attention_decode(const tc_tensor *q HEADS("1"), const tc_tensor *k HEADS("T"),
                                              const tc_tensor *v HEADS("T")) {
  return tc_attention(q, k, v, (tc_attention_options){0});
}
static bool run_attention_decode(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = attention_decode(in[0], in[1], in[2])) != NULL;
}

TC_COMPILE static bool attention_grad(const tc_tensor *q HEADS("T"), const tc_tensor *k HEADS("T"),
                                      const tc_tensor *v HEADS("T"), const tc_tensor *dy HEADS("T"), tc_tensor **out) {
  const tc_tensor *wrt[] = {q, k, v};
  const tc_tensor *y = tc_attention(q, k, v, (tc_attention_options){0});
  return (out[0] = tc_detach(y)) && tc_vjp(y, dy, 3, wrt, out + 1);
}
static bool run_attention_grad(tc_tensor *const *in, tc_tensor **out) {
  return attention_grad(in[0], in[1], in[2], in[3], out);
}

TC_COMPILE static bool attention_causal_grad(const tc_tensor *q HEADS("T"), const tc_tensor *k HEADS("T"),
                                             const tc_tensor *v HEADS("T"), const tc_tensor *dy HEADS("T"),
                                             tc_tensor **out) {
  const tc_tensor *wrt[] = {q, k, v};
  const tc_tensor *y = tc_attention(q, k, v, (tc_attention_options){.causal = true});
  return (out[0] = tc_detach(y)) && tc_vjp(y, dy, 3, wrt, out + 1);
}
static bool run_attention_causal_grad(tc_tensor *const *in, tc_tensor **out) {
  return attention_causal_grad(in[0], in[1], in[2], in[3], out);
}

/* 100 steps of an LSTM: the states, [100,N,H]. */
TC_COMPILE static tc_tensor *lstm_100(const tc_tensor *x TC_SHAPE(DTYPE "[100,N,I]"),
                                      const tc_tensor *w_ih TC_SHAPE(DTYPE "[4*H,I]"),
                                      const tc_tensor *w_hh TC_SHAPE(DTYPE "[4*H,H]"),
                                      const tc_tensor *b_ih TC_SHAPE(DTYPE "[4*H]"),
                                      const tc_tensor *b_hh TC_SHAPE(DTYPE "[4*H]"),
                                      const tc_tensor *h TC_SHAPE(DTYPE "[N,H]"),
                                      const tc_tensor *c TC_SHAPE(DTYPE "[N,H]")) {
  const tc_recurrent_weights w = {w_ih, w_hh, b_ih, b_hh};
  return tc_lstm(x, h, c, w, false, NULL, NULL);
}
static bool run_lstm_100(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = lstm_100(in[0], in[1], in[2], in[3], in[4], in[5], in[6])) != NULL;
}

TC_COMPILE static tc_tensor *linear_int8(const tc_tensor *x TC_SHAPE(DTYPE "[M,K]"), const tc_tensor *q TC_SHAPE("i8[N,K]"),
                                         const tc_tensor *scale TC_SHAPE(DTYPE "[N]")) {
  return tc_linear_int8(x, q, scale, NULL);
}
static bool run_linear_int8(tc_tensor *const *in, tc_tensor **out) {
  return (out[0] = linear_int8(in[0], in[1], in[2])) != NULL;
}

const bench_case JOIN(bench_attention_, BENCH_DTYPE)[BENCH_ATTENTION] = {
    {"attention", DTYPE, 3, run_attention, .results = 1},
    {"attention_causal", DTYPE, 3, run_attention_causal, .results = 1},
    {"attention_decode", DTYPE, 3, run_attention_decode, .results = 1},
    {"attention_grad", DTYPE, 4, run_attention_grad, .leaves = 3, .results = 4},
    {"attention_causal_grad", DTYPE, 4, run_attention_causal_grad, .leaves = 3, .results = 4},
    {"lstm_100", DTYPE, 7, run_lstm_100, .results = 1},
    {"linear_int8", DTYPE, 3, run_linear_int8, .results = 1},
};
