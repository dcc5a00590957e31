/* recurrent.h - recurrent networks: cells, and layers over sequences.
 *
 * Weights are PyTorch's: w_ih[gates H, I], w_hh[gates H, H], b_ih[gates H] and b_hh[gates H], both biases or
 * none (NULL); gates one after the other: 1 (RNN), r z n (GRU), i f g o (LSTM).  Sequences are x[T,N,I], time first; states
 * [N,H].
 *
 * The products of a layer with x are one product for all steps.  In a compiled function a layer is a part of the graph where
 * T is known at build time and the steps fit into it (docs/capture.md: some 100 of an LSTM); otherwise write the loop over
 * the steps into the compiled function, where its body, a cell, is a segment. */
#ifndef TCOMPILE_NN_RECURRENT_H
#define TCOMPILE_NN_RECURRENT_H

#include <tcompile/nn/common.h>
#include <tcompile/library_begin.h>

typedef struct tc_recurrent_weights {
  const tc_tensor *w_ih, *w_hh, *b_ih, *b_hh;
} tc_recurrent_weights;

typedef enum tc_recurrent_kind { TC_RNN_TANH, TC_RNN_RELU, TC_GRU, TC_LSTM } tc_recurrent_kind;

static inline int tc_recurrent_gates(tc_recurrent_kind kind) { return kind == TC_LSTM ? 4 : kind == TC_GRU ? 3 : 1; }

/* What is wrong with the operands of one step, or of a sequence, as an error; true: nothing. */
static inline bool tc_recurrent_checked(const char *name, const tc_tensor *x, const tc_tensor *h, tc_recurrent_weights w,
                                        tc_recurrent_kind kind, int rank) {
  if (!x || !h || !w.w_ih || !w.w_hh) return false;
  if (tc_rank(x) != rank || tc_rank(h) != 2 || tc_rank(w.w_ih) != 2 || tc_rank(w.w_hh) != 2)
    return TC_NN_FAIL("%s: x has %d axes, not %d, or the state %d, or a weight %d and %d, not 2", name, tc_rank(x), rank,
                      tc_rank(h), tc_rank(w.w_ih), tc_rank(w.w_hh));
  const int64_t rows = tc_size(h, 1) * tc_recurrent_gates(kind);
  if (tc_size(w.w_ih, 0) != rows || tc_size(w.w_hh, 0) != rows)
    return TC_NN_FAIL("%s: weights have %lld and %lld rows, and %d gates of %lld states", name, (long long)tc_size(w.w_ih, 0),
                      (long long)tc_size(w.w_hh, 0), tc_recurrent_gates(kind), (long long)tc_size(h, 1));
  return true;
}

static inline tc_tensor *tc_recurrent_gate(const tc_tensor *of, int gate, int64_t size) {
  return tc_slice(of, -1, gate * size, (gate + 1) * size, 1);
}

/* One step: `in` are the products and biases of the input, [N, gates H]; *c is the LSTM's state, in and out. */
static inline tc_tensor *tc_recurrent_step(const tc_tensor *in, const tc_tensor *h, tc_tensor **c, tc_recurrent_weights w,
                                           tc_recurrent_kind kind) {
  const int64_t n = tc_size(h, 1);
  const tc_tensor *own = tc_linear(h, w.w_hh, w.b_hh);
  if (kind == TC_RNN_TANH) return tc_tanh(tc_add(in, own));
  if (kind == TC_RNN_RELU) return tc_relu(tc_add(in, own));
  if (kind == TC_GRU) {
    const tc_tensor *r = tc_sigmoid(tc_add(tc_recurrent_gate(in, 0, n), tc_recurrent_gate(own, 0, n)));
    const tc_tensor *z = tc_sigmoid(tc_add(tc_recurrent_gate(in, 1, n), tc_recurrent_gate(own, 1, n)));
    const tc_tensor *fresh = tc_tanh(tc_add(tc_recurrent_gate(in, 2, n), tc_mul(r, tc_recurrent_gate(own, 2, n))));
    return tc_add(fresh, tc_mul(z, tc_sub(h, fresh)));
  }
  const tc_tensor *all = tc_add(in, own);
  const tc_tensor *i = tc_sigmoid(tc_recurrent_gate(all, 0, n)), *f = tc_sigmoid(tc_recurrent_gate(all, 1, n));
  const tc_tensor *g = tc_tanh(tc_recurrent_gate(all, 2, n)), *o = tc_sigmoid(tc_recurrent_gate(all, 3, n));
  *c = tc_add(tc_mul(f, *c), tc_mul(i, g));
  return tc_mul(o, tc_tanh(*c));
}

/* ---- cells: x[N,I], states [N,H] ------------------------------------------------------------------ */

static inline tc_tensor *tc_recurrent_cell(const char *name, const tc_tensor *x, const tc_tensor *h, tc_recurrent_weights w,
                                           tc_recurrent_kind kind) {
  tc_tensor *y = NULL;
  if (!tc_recurrent_checked(name, x, h, w, kind, 2)) return NULL;
  TC_SCOPE y = tc_keep(tc_recurrent_step(tc_linear(x, w.w_ih, w.b_ih), h, NULL, w, kind));
  return y;
}

/* tanh(w_ih x + b_ih + w_hh h + b_hh), or max(0, ...) with relu.  Elman, Finding structure in time, 1990. */
static inline tc_tensor *tc_rnn_cell(const tc_tensor *x, const tc_tensor *h, tc_recurrent_weights w, bool relu) {
  return tc_recurrent_cell("tc_rnn_cell", x, h, w, relu ? TC_RNN_RELU : TC_RNN_TANH);
}

/* With gates a = w_ih x + b_ih and b = w_hh h + b_hh: n + z (h - n), where r = sigmoid(a_r + b_r), z = sigmoid(a_z + b_z),
 * n = tanh(a_n + r b_n).  Cho et al., Learning phrase representations using RNN encoder-decoder, 2014, in cuDNN's form. */
static inline tc_tensor *tc_gru_cell(const tc_tensor *x, const tc_tensor *h, tc_recurrent_weights w) {
  return tc_recurrent_cell("tc_gru_cell", x, h, w, TC_GRU);
}

/* With gates of w_ih x + b_ih + w_hh h + b_hh: c' = sigmoid(f) c + sigmoid(i) tanh(g), to *next; sigmoid(o) tanh(c') is returned.
 * Hochreiter and Schmidhuber, Long short-term memory, 1997; Gers, Schmidhuber and Cummins, Learning to forget, 2000. */
static inline tc_tensor *tc_lstm_cell(const tc_tensor *x, const tc_tensor *h, const tc_tensor *c, tc_recurrent_weights w,
                                      tc_tensor **next) {
  tc_tensor *y = NULL;
  *next = NULL;
  if (!c || !tc_recurrent_checked("tc_lstm_cell", x, h, w, TC_LSTM, 2)) return NULL;
  TC_SCOPE {
    tc_tensor *state = tc_reshape(c, tc_shape(c));
    tc_tensor *out = tc_recurrent_step(tc_linear(x, w.w_ih, w.b_ih), h, &state, w, TC_LSTM);
    *next = tc_keep(state);
    y = tc_keep(out);
  }
  return y;
}

/* ---- sequences -------------------------------------------------------------------------------- */

enum { TC_RECURRENT_PART = 255, TC_RECURRENT_PARTS = 1024 }; /* steps that are joined at once, as many as the tape takes */

/* `steps` results from step `first` on, [steps,N,H]; *h and *c are the states, in and out. */
static inline tc_tensor *tc_recurrent_steps(const tc_tensor *in, int64_t first, int64_t steps, tc_tensor **h, tc_tensor **c,
                                            tc_recurrent_weights w, tc_recurrent_kind kind, bool reverse) {
  const tc_tensor *y[TC_RECURRENT_PART];
  for (int64_t i = 0; i < steps; i++) TC_SCOPE {
      const int64_t at = reverse ? tc_size(in, 0) - 1 - first - i : first + i;
      tc_tensor *state = *c;
      *h = tc_keep(tc_recurrent_step(tc_select(in, 0, at), *h, &state, w, kind));
      *c = kind == TC_LSTM ? tc_keep(state) : NULL;
      y[reverse ? steps - 1 - i : i] = *h;
    }
  return tc_stack(y, (int)steps, 0);
}

/* All steps: [T,N,H]; the last states to *h_n and *c_n. */
static inline tc_tensor *tc_recurrent_layer(const char *name, const tc_tensor *x, const tc_tensor *h, const tc_tensor *c,
                                            tc_recurrent_weights w, tc_recurrent_kind kind, bool reverse, tc_tensor **h_n,
                                            tc_tensor **c_n) {
  const int64_t most = TC_RECURRENT_PART;
  tc_tensor *y = NULL;
  if (h_n) *h_n = NULL;
  if (c_n) *c_n = NULL;
  if (!tc_recurrent_checked(name, x, h, w, kind, 3)) return NULL;
  const int64_t steps = tc_size(x, 0);
  if (steps < 1 || steps > most * TC_RECURRENT_PARTS) return TC_NN_FAIL("%s: %lld steps", name, (long long)steps);
  TC_SCOPE {
    const tc_tensor *in = tc_linear(x, w.w_ih, w.b_ih), *part[TC_RECURRENT_PARTS];
    tc_tensor *state = tc_reshape(h, tc_shape(h)), *cell = kind == TC_LSTM ? tc_reshape(c, tc_shape(c)) : NULL;
    const int parts = (int)((steps + most - 1) / most);
    for (int i = 0; i < parts; i++) {
      const int64_t first = i * most, n = steps - first < most ? steps - first : most;
      part[reverse ? parts - 1 - i : i] = tc_recurrent_steps(in, first, n, &state, &cell, w, kind, reverse);
    }
    y = tc_keep(parts == 1 ? tc_reshape(part[0], tc_shape(part[0])) : tc_concat(part, parts, 0));
    if (h_n) *h_n = tc_keep(state);
    if (c_n) *c_n = tc_keep(cell);
  }
  return y;
}

/* tc_rnn_cell over x[T,N,I] from the state h, which is not NULL: [T,N,H]; reverse: from the last step to the first.  The last state goes to *h_n
 * where h_n is not NULL.  Two directions are two layers, and a tc_concat. */
static inline tc_tensor *tc_rnn(const tc_tensor *x, const tc_tensor *h, tc_recurrent_weights w, bool relu, bool reverse,
                                tc_tensor **h_n) {
  return tc_recurrent_layer("tc_rnn", x, h, NULL, w, relu ? TC_RNN_RELU : TC_RNN_TANH, reverse, h_n, NULL);
}

/* Likewise tc_gru_cell. */
static inline tc_tensor *tc_gru(const tc_tensor *x, const tc_tensor *h, tc_recurrent_weights w, bool reverse, tc_tensor **h_n) {
  return tc_recurrent_layer("tc_gru", x, h, NULL, w, TC_GRU, reverse, h_n, NULL);
}

/* Likewise tc_lstm_cell, of two states. */
static inline tc_tensor *tc_lstm(const tc_tensor *x, const tc_tensor *h, const tc_tensor *c, tc_recurrent_weights w, bool reverse,
                                 tc_tensor **h_n, tc_tensor **c_n) {
  return tc_recurrent_layer("tc_lstm", x, h, c, w, TC_LSTM, reverse, h_n, c_n);
}

#include <tcompile/library_end.h>
#endif
