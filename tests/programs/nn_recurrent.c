/* tcompile/nn/recurrent.h: cells and layers, forward and backward in time; a loop over steps in the program. */
#define NN_RECURRENT
#include "nn.h"

/* Weights half as large: nothing saturates. */
#define WEIGHTS ((tc_recurrent_weights){tc_mul_s(d, 0.5), tc_mul_s(e, 0.5), tc_mul_s(f, 0.5), tc_mul_s(h, 0.5)})

static inline tc_tensor *joined(tc_tensor *y, const tc_tensor *state, const tc_tensor *other) {
  const tc_tensor *both[] = {y, state, other};
  return tc_concat(both, other ? 3 : 2, 0);
}
static inline tc_tensor *with_state(tc_tensor *y, const tc_tensor *state, const tc_tensor *c) {
  return joined(y, tc_unsqueeze(state, 0), tc_mul_s(tc_unsqueeze(c, 0), 0));
}
static inline tc_tensor *lstm_step(const tc_tensor *x, const tc_tensor *h, const tc_tensor *c, tc_recurrent_weights w) {
  tc_tensor *next, *y = tc_lstm_cell(x, h, c, w, &next);
  return joined(y, next, NULL);
}
static inline tc_tensor *rnn(const tc_tensor *x, const tc_tensor *h, const tc_tensor *c, tc_recurrent_weights w) {
  tc_tensor *last, *y = tc_rnn(x, h, w, false, false, &last);
  return with_state(y, last, c);
}
static inline tc_tensor *gru(const tc_tensor *x, const tc_tensor *h, const tc_tensor *c, tc_recurrent_weights w, bool reverse) {
  tc_tensor *last, *y = tc_gru(x, h, w, reverse, &last);
  return with_state(y, last, c);
}
static inline tc_tensor *lstm(const tc_tensor *x, const tc_tensor *h, const tc_tensor *c, tc_recurrent_weights w, bool reverse) {
  tc_tensor *last, *cell, *y = tc_lstm(x, h, c, w, reverse, &last, &cell);
  return joined(y, tc_unsqueeze(last, 0), tc_unsqueeze(cell, 0));
}

#define STEP(name, gates, ...)                                                                                         \
  NN_RECURRENT_LAYER(name, 7, "f32[N,I]", "f32[N,H]", "f32[" gates "*H,I]", "f32[" gates "*H,H]", "f32[" gates "*H]",  \
                     __VA_ARGS__)
#define LAYER(name, gates, ...)                                                                                        \
  NN_RECURRENT_LAYER(name, 7, "f32[5,N,I]", "f32[N,H]", "f32[" gates "*H,I]", "f32[" gates "*H,H]",                    \
                     "f32[" gates "*H]", __VA_ARGS__)
STEP(tanh_cell, "1", joined(tc_rnn_cell(a, b, WEIGHTS, false), c, NULL))
STEP(relu_cell, "1", joined(tc_rnn_cell(a, b, WEIGHTS, true), c, NULL))
STEP(gru_cell, "3", joined(tc_gru_cell(a, b, WEIGHTS), c, NULL))
STEP(lstm_cell, "4", lstm_step(a, b, c, WEIGHTS))
LAYER(tanh_layer, "1", rnn(a, b, c, WEIGHTS))
LAYER(gru_layer, "3", gru(a, b, c, WEIGHTS, false))
LAYER(lstm_layer, "4", lstm(a, b, c, WEIGHTS, false))
LAYER(gru_reverse, "3", gru(a, b, c, WEIGHTS, true))
LAYER(lstm_reverse, "4", lstm(a, b, c, WEIGHTS, true))

static const nn_function functions[] = {
    NN_ROW(tanh_cell),  NN_ROW(relu_cell),  NN_ROW(gru_cell),    NN_ROW(lstm_cell),    NN_ROW(tanh_layer),
    NN_ROW(gru_layer),  NN_ROW(lstm_layer), NN_ROW(gru_reverse), NN_ROW(lstm_reverse),
};

/* The product with x is one for all steps; a step is a product and what is elementwise. */
TC_COMPILE_WITH("fullgraph", "max_kernels=7")
static tc_tensor *three_steps(NN_OPERAND(x, "f32[3,N,I]"), NN_OPERAND(h, "f32[N,H]"), NN_OPERAND(c, "f32[N,H]"),
                              NN_OPERAND(wi, "f32[4*H,I]"), NN_OPERAND(wh, "f32[4*H,H]"), NN_OPERAND(bi, "f32[4*H]"),
                              NN_OPERAND(bh, "f32[4*H]")) {
  return tc_lstm(x, h, c, (tc_recurrent_weights){wi, wh, bi, bh}, false, NULL, NULL);
}

/* As many steps as there are: the loop stays, its body is a segment. */
TC_COMPILE static tc_tensor *any_steps(NN_OPERAND(x, "f32[T,N,I]"), NN_OPERAND(h, "f32[N,H]"), NN_OPERAND(wi, "f32[3*H,I]"),
                                       NN_OPERAND(wh, "f32[3*H,H]")) {
  tc_tensor *state = tc_mul_s(h, 1);
  for (int64_t i = 0; i < tc_size(x, 0); i++)
    state = tc_gru_cell(tc_select(x, 0, i), state, (tc_recurrent_weights){.w_ih = wi, .w_hh = wh});
  return state;
}

static void check_steps(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_randn(TC_DIMS(3, 2, 5), 1, TC_F32), *h = tc_zeros(TC_DIMS(2, 4), TC_F32);
    const tc_tensor *wi = tc_randn(TC_DIMS(16, 5), 2, TC_F32), *wh = tc_randn(TC_DIMS(16, 4), 3, TC_F32);
    const tc_tensor *bi = tc_randn(TC_DIMS(16), 4, TC_F32), *bh = tc_randn(TC_DIMS(16), 5, TC_F32);
    const tc_tensor *y = three_steps(x, h, h, wi, wh, bi, bh);
    CHECK(tc_allclose(y, tc_lstm(x, h, h, (tc_recurrent_weights){wi, wh, bi, bh}, false, NULL, NULL), 1e-5, 1e-5));
    const tc_tensor *ri = tc_slice(wi, 0, 0, 12, 1), *rh = tc_slice(wh, 0, 0, 12, 1), *longer = tc_randn(TC_DIMS(1500, 2, 5), 6, TC_F32);
    tc_tensor *last;
    CHECK(tc_gru(longer, h, (tc_recurrent_weights){.w_ih = ri, .w_hh = rh}, false, &last)); /* more than go into one list */
    const uint64_t hits = hits_of("any_steps");
    CHECK(tc_allclose(any_steps(longer, h, ri, rh), last, 1e-4, 1e-4));
    CHECK(!NN_COMPILED || hits_of("any_steps") >= hits + 1500);
    const tc_tensor *back = tc_gru(longer, h, (tc_recurrent_weights){.w_ih = ri, .w_hh = rh}, true, &last);
    CHECK(tc_max_abs_diff(tc_select(back, 0, 0), last) == 0);
  }
}

static void check_refused(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(3, 2, 5), TC_F32), *h = tc_zeros(TC_DIMS(2, 4), TC_F32), *w = tc_ones(TC_DIMS(12, 5), TC_F32);
    const tc_recurrent_weights both = {w, tc_ones(TC_DIMS(12, 4), TC_F32), NULL, NULL};
    tc_tensor *next;
    nn_refused(tc_gru_cell(x, h, both), "tc_gru_cell: x has 3 axes, not 2");
    nn_refused(tc_lstm(x, h, h, both, false, NULL, NULL), "weights have 12 and 12 rows, and 4 gates of 4 states");
    nn_refused(tc_gru(tc_ones(TC_DIMS(0, 2, 5), TC_F32), h, both, false, NULL), "0 steps");
    CHECK(!tc_lstm_cell(NULL, h, h, both, &next) && !next && !tc_rnn_cell(h, h, (tc_recurrent_weights){0}, false));
    tc_clear_error();
  }
}

int main(void) {
  NN_CHECK(recurrent, functions);
  check_steps();
  check_refused();
  return 0;
}
