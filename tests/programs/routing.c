/* A layer of a mixture of experts: each token goes to the two experts that like it best.  One graph, forward and gradient,
 * beside the same in plain C and its differences. */
#include <math.h>
#include <string.h>

#include "check.h"

enum { TOKENS = 7, WIDTH = 4, EXPERTS = 5, CHOSEN = 2, OUT = 3 };

typedef const tc_tensor *operand;

/* Tokens [T,D], router [D,E], experts [E,D,F] to [T,F]; *load: i64[E], how many tokens each expert has. */
static inline tc_tensor *mixture(operand x, operand router, operand experts, tc_tensor **load) {
  tc_tensor *place, *weight = tc_topk(tc_softmax(tc_matmul(x, router), 1), CHOSEN, 1, true, &place);
  const int64_t tokens = tc_size(x, 0), width = tc_size(x, 1);
  weight = tc_div(weight, tc_sum(weight, TC_AXES(1), true));
  tc_tensor *flat = tc_reshape(place, TC_DIMS(tokens * CHOSEN));
  *load = tc_scatter_add(tc_zeros(TC_DIMS(EXPERTS), TC_I64), 0, flat, tc_ones(TC_DIMS(tokens * CHOSEN), TC_I64));
  tc_tensor *mine = tc_index_select(experts, 0, flat);
  tc_tensor *sent = tc_reshape(tc_expand(tc_unsqueeze(x, 1), TC_DIMS(tokens, CHOSEN, width)), TC_DIMS(tokens * CHOSEN, 1, width));
  tc_tensor *each = tc_reshape(tc_tanh(tc_matmul(sent, mine)), TC_DIMS(tokens, CHOSEN, -1));
  return tc_sum(tc_mul(each, tc_unsqueeze(weight, 2)), TC_AXES(1), false);
}

TC_COMPILE_WITH("fullgraph")
static tc_tensor *forward(operand x TC_SHAPE("f32[T,D]"), operand router TC_SHAPE("f32[D,E]"), operand experts TC_SHAPE("f32[E,D,F]"),
                          tc_tensor **load) {
  return mixture(x, router, experts, load);
}

/* Of the sum of squares. */
TC_COMPILE_WITH("fullgraph")
static void gradients(operand x TC_SHAPE("f64[T,D]"), operand router TC_SHAPE("f64[D,E]"), operand experts TC_SHAPE("f64[E,D,F]"),
                      tc_tensor *out[3]) {
  tc_tensor *load, *loss = tc_sum(tc_square(mixture(x, router, experts, &load)), TC_ALL, false);
  const tc_tensor *wrt[] = {x, router, experts};
  tc_grad(loss, 3, wrt, out);
}

/* ---- the same in plain C --------------------------------------------------------------------- */

static double dot(const double *a, const double *b, int n, int step) {
  double s = 0;
  for (int i = 0; i < n; i++) s += a[i] * b[i * step];
  return s;
}

/* place[0 .. CHOSEN): the largest, the first of equals. */
static void choose(const double *p, int *place) {
  for (int k = 0; k < CHOSEN; k++) {
    place[k] = -1;
    for (int e = 0; e < EXPERTS; e++) {
      if ((k && e == place[0]) || (place[k] >= 0 && p[e] <= p[place[k]])) continue;
      place[k] = e;
    }
  }
}

static double plain(const double *x, const double *router, const double *experts, double *y, int64_t *load) {
  double loss = 0;
  for (int t = 0; t < TOKENS; t++) {
    double p[EXPERTS], weights = 0;
    int place[CHOSEN];
    for (int e = 0; e < EXPERTS; e++) p[e] = exp(dot(x + t * WIDTH, router + e, WIDTH, EXPERTS));
    choose(p, place);
    for (int k = 0; k < CHOSEN; k++) weights += p[place[k]], load[place[k]]++;
    for (int f = 0; f < OUT; f++) {
      y[t * OUT + f] = 0;
      for (int k = 0; k < CHOSEN; k++)
        y[t * OUT + f] += p[place[k]] / weights * tanh(dot(x + t * WIDTH, experts + place[k] * WIDTH * OUT + f, WIDTH, OUT));
      loss += y[t * OUT + f] * y[t * OUT + f];
    }
  }
  return loss;
}

/* ---- the checks ------------------------------------------------------------------------------ */

static void check_forward(tc_tensor *const in[3]) {
  double y[TOKENS * OUT];
  int64_t loads[EXPERTS] = {0};
  tc_tensor *load;
  plain(tc_data(in[0]), tc_data(in[1]), tc_data(in[2]), y, loads);
  const tc_tensor *got = forward(tc_cast(in[0], TC_F32), tc_cast(in[1], TC_F32), tc_cast(in[2], TC_F32), &load);
  CHECK(got && hits_of("forward") == 1);
  CHECK(tc_allclose(tc_cast(got, TC_F64), tc_from(TC_DIMS(TOKENS, OUT), y, TC_F64), 1e-5, 1e-5));
  for (int e = 0; e < EXPERTS; e++) CHECK(((const int64_t *)tc_data(load))[e] == loads[e]);
}

/* Central differences of the loss along every number of operand i. */
static void check_gradient(tc_tensor *const in[3], int i, tc_tensor *got) {
  const double step = 1e-6;
  double *v = tc_data(in[i]), y[TOKENS * OUT];
  int64_t load[EXPERTS];
  for (int64_t k = 0; k < tc_numel(in[i]); k++) {
    const double at = v[k];
    v[k] = at + step;
    const double above = plain(tc_data(in[0]), tc_data(in[1]), tc_data(in[2]), y, load);
    v[k] = at - step;
    const double below = plain(tc_data(in[0]), tc_data(in[1]), tc_data(in[2]), y, load);
    v[k] = at;
    CHECK(fabs(((const double *)tc_data(got))[k] - (above - below) / (2 * step)) < 1e-7);
  }
}

int main(void) {
  TC_SCOPE {
    tc_tensor *in[3] = {tc_randn(TC_DIMS(TOKENS, WIDTH), 1, TC_F64), tc_randn(TC_DIMS(WIDTH, EXPERTS), 2, TC_F64),
                        tc_randn(TC_DIMS(EXPERTS, WIDTH, OUT), 3, TC_F64)};
    tc_tensor *out[3];
    check_forward(in);
    for (int i = 0; i < 3; i++) CHECK(tc_requires_grad_(in[i], true));
    gradients(in[0], in[1], in[2], out);
    CHECK(hits_of("gradients") == 1);
    for (int i = 0; i < 3; i++) check_gradient(in, i, out[i]);
  }
  printf("routing: %d tokens to %d of %d experts\n", TOKENS, CHOSEN, EXPERTS);
  return 0;
}
