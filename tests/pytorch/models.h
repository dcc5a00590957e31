/* models.h - four small models as one writes them in PyTorch: parameters, data, and the loss.  expected.py has the
 * same, member by member. */
#ifndef TC_TESTS_PYTORCH_MODELS_H
#define TC_TESTS_PYTORCH_MODELS_H

#include <math.h>
#include <tcompile.h>

#ifdef IN_F32
#define REAL "f32"
#else
#define REAL "f64"
#endif

enum { MOST_PARAMETERS = 16 };

/* ---- torch.nn.Linear, ReLU, twice; cross entropy --------------------------------------------- */

typedef struct mlp {
  tc_tensor *w1 TC_SHAPE(REAL "[H,I]"), *b1 TC_SHAPE(REAL "[H]");
  tc_tensor *w2 TC_SHAPE(REAL "[O,H]"), *b2 TC_SHAPE(REAL "[O]");
  tc_tensor *x TC_SHAPE(REAL "[B,I]"), *y TC_SHAPE("i64[B]");
} mlp;

static inline int mlp_list(const mlp *m, tc_tensor **p) {
  p[0] = m->w1, p[1] = m->b1, p[2] = m->w2, p[3] = m->b2;
  return 4;
}

static inline tc_tensor *mlp_loss(const mlp *m) {
  tc_tensor *h = tc_relu(tc_linear(m->x, m->w1, m->b1));
  return tc_cross_entropy(tc_linear(h, m->w2, m->b2), m->y, TC_MEAN);
}

/* ---- torch.nn.TransformerEncoderLayer: two heads, norms in front, gelu, without dropout ------- */

enum { HEADS = 2 };

typedef struct transformer {
  tc_tensor *w_in TC_SHAPE(REAL "[3*D,D]"), *b_in TC_SHAPE(REAL "[3*D]");
  tc_tensor *w_out TC_SHAPE(REAL "[D,D]"), *b_out TC_SHAPE(REAL "[D]");
  tc_tensor *w_up TC_SHAPE(REAL "[F,D]"), *b_up TC_SHAPE(REAL "[F]");
  tc_tensor *w_down TC_SHAPE(REAL "[D,F]"), *b_down TC_SHAPE(REAL "[D]");
  tc_tensor *norm1 TC_SHAPE(REAL "[D]"), *shift1 TC_SHAPE(REAL "[D]");
  tc_tensor *norm2 TC_SHAPE(REAL "[D]"), *shift2 TC_SHAPE(REAL "[D]");
  tc_tensor *x TC_SHAPE(REAL "[B,T,D%2]"), *y TC_SHAPE(REAL "[B,T,D]");
} transformer;

static inline int transformer_list(const transformer *m, tc_tensor **p) {
  p[0] = m->w_in, p[1] = m->b_in, p[2] = m->w_out, p[3] = m->b_out;
  p[4] = m->w_up, p[5] = m->b_up, p[6] = m->w_down, p[7] = m->b_down;
  p[8] = m->norm1, p[9] = m->shift1, p[10] = m->norm2, p[11] = m->shift2;
  return 12;
}

/* [B,T,D] to [B,HEADS,T,D/HEADS] */
static inline tc_tensor *heads_of(const tc_tensor *x) {
  const int64_t B = tc_size(x, 0), T = tc_size(x, 1), D = tc_size(x, 2);
  return tc_permute(tc_reshape(x, TC_DIMS(B, T, HEADS, D / HEADS)), TC_AXES(0, 2, 1, 3));
}

/* Each position looks at itself and those in front. */
static inline tc_tensor *attention(const transformer *m, const tc_tensor *x) {
  const int64_t T = tc_size(x, 1), D = tc_size(x, 2);
  tc_tensor *part[3];
  tc_split(tc_linear(x, m->w_in, m->b_in), 3, -1, part);
  tc_tensor *q = heads_of(part[0]), *k = heads_of(part[1]), *v = heads_of(part[2]);
  tc_tensor *score = tc_div_s(tc_matmul(q, tc_transpose(k, -1, -2)), sqrt((double)(D / HEADS)));
  score = tc_masked_fill(score, tc_triu(tc_ones(TC_DIMS(T, T), TC_BOOL), 1), -INFINITY);
  tc_tensor *y = tc_permute(tc_matmul(tc_softmax(score, -1), v), TC_AXES(0, 2, 1, 3));
  return tc_linear(tc_reshape(y, tc_shape(x)), m->w_out, m->b_out);
}

static inline tc_tensor *transformer_loss(const transformer *m) {
  tc_tensor *x = m->x;
  x = tc_add(x, attention(m, tc_layer_norm(x, 1, m->norm1, m->shift1, 1e-5)));
  tc_tensor *h = tc_layer_norm(x, 1, m->norm2, m->shift2, 1e-5);
  h = tc_linear(tc_gelu(tc_linear(h, m->w_up, m->b_up)), m->w_down, m->b_down);
  return tc_mse(tc_add(x, h), m->y, TC_MEAN);
}

/* ---- torch.nn.LSTM over 50 steps, torch.nn.Linear of the last state ---------------------------- */

enum { STEPS = 50 };

typedef struct lstm {
  tc_tensor *w_ih TC_SHAPE(REAL "[4*H,I]"), *w_hh TC_SHAPE(REAL "[4*H,H]");
  tc_tensor *b_ih TC_SHAPE(REAL "[4*H]"), *b_hh TC_SHAPE(REAL "[4*H]");
  tc_tensor *w TC_SHAPE(REAL "[O,H]"), *b TC_SHAPE(REAL "[O]");
  tc_tensor *x TC_SHAPE(REAL "[50,B,I]"), *y TC_SHAPE(REAL "[B,O]");
} lstm;

static inline int lstm_list(const lstm *m, tc_tensor **p) {
  p[0] = m->w_ih, p[1] = m->w_hh, p[2] = m->b_ih, p[3] = m->b_hh, p[4] = m->w, p[5] = m->b;
  return 6;
}

static inline tc_tensor *lstm_loss(const lstm *m) {
  const int64_t B = tc_size(m->x, 1), H = tc_size(m->w_hh, 1);
  tc_tensor *h = tc_zeros(TC_DIMS(B, H), tc_dtype_of(m->x)), *c = h, *gate[4];
  for (int t = 0; t < STEPS; t++) {
    const tc_tensor *x = tc_select(m->x, 0, t);
    tc_split(tc_add(tc_linear(x, m->w_ih, m->b_ih), tc_linear(h, m->w_hh, m->b_hh)), 4, 1, gate);
    tc_tensor *in = tc_mul(tc_sigmoid(gate[0]), tc_tanh(gate[2]));
    c = tc_add(tc_mul(tc_sigmoid(gate[1]), c), in);
    h = tc_mul(tc_sigmoid(gate[3]), tc_tanh(c));
  }
  return tc_mse(tc_linear(h, m->w, m->b), m->y, TC_MEAN);
}

/* ---- a U-shaped network over [B,L,C]: mean of pairs on the way down, each twice on the way up ---- */

typedef struct unet {
  tc_tensor *down1 TC_SHAPE(REAL "[C,I]"), *b1 TC_SHAPE(REAL "[C]");
  tc_tensor *down2 TC_SHAPE(REAL "[E,C]"), *b2 TC_SHAPE(REAL "[E]");
  tc_tensor *lowest TC_SHAPE(REAL "[E,E]"), *b3 TC_SHAPE(REAL "[E]");
  tc_tensor *up2 TC_SHAPE(REAL "[C,2*E]"), *b4 TC_SHAPE(REAL "[C]");
  tc_tensor *up1 TC_SHAPE(REAL "[O,2*C]"), *b5 TC_SHAPE(REAL "[O]");
  tc_tensor *norm TC_SHAPE(REAL "[E]"), *shift TC_SHAPE(REAL "[E]");
  tc_tensor *x TC_SHAPE(REAL "[B,L%4,I]"), *y TC_SHAPE(REAL "[B,L,O]");
} unet;

static inline int unet_list(const unet *m, tc_tensor **p) {
  p[0] = m->down1, p[1] = m->b1, p[2] = m->down2, p[3] = m->b2, p[4] = m->lowest, p[5] = m->b3;
  p[6] = m->up2, p[7] = m->b4, p[8] = m->up1, p[9] = m->b5, p[10] = m->norm, p[11] = m->shift;
  return 12;
}

/* [B,L,C] to [B,L/2,C] */
static inline tc_tensor *halve(const tc_tensor *x) {
  const int64_t B = tc_size(x, 0), L = tc_size(x, 1), C = tc_size(x, 2);
  return tc_mean(tc_reshape(x, TC_DIMS(B, L / 2, 2, C)), TC_AXES(2), false);
}

/* [B,L,C] to [B,2*L,C] */
static inline tc_tensor *twice(const tc_tensor *x) {
  const int64_t B = tc_size(x, 0), L = tc_size(x, 1), C = tc_size(x, 2);
  tc_tensor *pair = tc_expand(tc_unsqueeze(x, 2), TC_DIMS(B, L, 2, C));
  return tc_reshape(pair, TC_DIMS(B, 2 * L, C));
}

static inline tc_tensor *unet_loss(const unet *m) {
  tc_tensor *full = tc_silu(tc_linear(m->x, m->down1, m->b1));
  tc_tensor *half = tc_silu(tc_linear(halve(full), m->down2, m->b2));
  tc_tensor *low = tc_layer_norm(halve(half), 1, m->norm, m->shift, 1e-5);
  low = tc_silu(tc_linear(low, m->lowest, m->b3));
  const tc_tensor *at_half[] = {twice(low), half};
  tc_tensor *up = tc_silu(tc_linear(tc_concat(at_half, 2, -1), m->up2, m->b4));
  const tc_tensor *at_full[] = {twice(up), full};
  return tc_mse(tc_linear(tc_concat(at_full, 2, -1), m->up1, m->b5), m->y, TC_MEAN);
}

#endif
