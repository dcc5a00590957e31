/* pinn - the heat equation u_t = u_xx / pi^2 on 0 <= x <= 1, u = 0 at both ends, from u = sin(pi x) at t = 0, solved by a
 * network u(x, t) whose derivatives are made to fit the equation (Raissi, Perdikaris, Karniadakis 2019).
 *
 * A step of training is one compiled function: the network at all points, its first and second derivatives with
 * respect to x and t, the gradients of the equation's error with respect to the weights, and Adam.
 *
 *   --steps N        of training
 *   --most ERROR     fails where u is further than that from the solution exp(-t) sin(pi x) */
#include <math.h>
#include <stdlib.h>
#include <tcompile/optim.h>

#include "common/sample.h"

enum { HIDDEN = 20, LAYERS = 2, SIDE = 16, MOST_LOSSES = 40 };

static const double pi = 3.14159265358979323846, highest_rate = 1e-2;

typedef struct layer {
  tc_tensor *w TC_SHAPE("f64[I,O]"), *b TC_SHAPE("f64[O]");
} layer;

typedef struct network {
  layer hidden[LAYERS], out;
} network;

enum { PARAMETERS = 2 * (LAYERS + 1) };

typedef struct training {
  network net, mean, square; /* weights, and what Adam keeps of their gradients */
} training;

static inline void list(const network *n, tc_tensor *p[PARAMETERS]) {
  for (int i = 0; i < LAYERS; i++) p[2 * i] = n->hidden[i].w, p[2 * i + 1] = n->hidden[i].b;
  p[2 * LAYERS] = n->out.w, p[2 * LAYERS + 1] = n->out.b;
}

/* u, f64[N,1], at N points: sin(pi x) + t x (1 - x) network(x, t), which is right at both ends and at t = 0 whatever
 * the network says. */
static inline tc_tensor *solution(const network *n, const tc_tensor *x, const tc_tensor *t) {
  const tc_tensor *both[] = {x, t};
  tc_tensor *h = tc_concat(both, 2, 1);
  for (int i = 0; i < LAYERS; i++)
    h = tc_tanh(tc_add(tc_matmul(h, n->hidden[i].w), n->hidden[i].b));
  h = tc_add(tc_matmul(h, n->out.w), n->out.b);
  tc_tensor *inside = tc_mul(t, tc_mul(x, tc_rsub_s(x, 1)));
  return tc_add(tc_sin(tc_mul_s(x, pi)), tc_mul(inside, h));
}

/* u_t - u_xx / pi^2 at each point, or NULL.  Each u depends on its own point alone, so that the gradient of their sum
 * has the derivative of each. */
static inline tc_tensor *residual(const network *n, tc_tensor *x, tc_tensor *t) {
  tc_tensor *u = solution(n, x, t), *at[] = {x, t}, *first[2], *u_xx;
  const tc_tensor *ones = tc_ones_like(u);
  if (!tc_grad_with(u, ones, 2, at, TC_CREATE_GRAPH, first)) return NULL;
  if (!tc_grad_with(first[0], ones, 1, &x, TC_CREATE_GRAPH, &u_xx)) return NULL;
  return tc_sub(first[1], tc_div_s(u_xx, pi * pi));
}

/* One step, the first being 1, on points x and t; the mean square of the residual before it, or NULL. */
TC_COMPILE static tc_tensor *train_step(const training *a, tc_tensor *x TC_SHAPE("f64[N,1]"),
                                        tc_tensor *t TC_SHAPE("f64[N,1]"), double rate,
                                        int64_t step) {
  tc_tensor *p[PARAMETERS], *g[PARAMETERS], *mean[PARAMETERS], *square[PARAMETERS];
  list(&a->net, p);
  list(&a->mean, mean);
  list(&a->square, square);
  tc_tensor *loss = tc_mean(tc_square(residual(&a->net, x, t)), TC_ALL, false);
  if (!tc_grad(loss, PARAMETERS, p, g)) return NULL;
  return tc_adam(PARAMETERS, p, g, mean, square, step, tc_adam_defaults(rate)) ? loss : NULL;
}

/* The largest distance from the solution. */
TC_COMPILE static tc_tensor *distance(const network *n, const tc_tensor *x TC_SHAPE("f64[N,1]"),
                                      const tc_tensor *t TC_SHAPE("f64[N,1]")) {
  tc_tensor *exact = tc_mul(tc_exp(tc_neg(t)), tc_sin(tc_mul_s(x, pi)));
  return tc_max(tc_abs(tc_sub(solution(n, x, t), exact)), TC_ALL, false);
}

/* ---- weights and points ---------------------------------------------------------------------- */

static layer random_layer(int64_t in, int64_t out, uint64_t seed) {
  tc_tensor *w = tc_mul_s(tc_randn(TC_DIMS(in, out), seed, TC_F64), sqrt(1.0 / (double)in));
  tc_tensor *b = tc_zeros(TC_DIMS(out), TC_F64);
  return (layer){sample_check(tc_requires_grad_(w, true)),
                 sample_check(tc_requires_grad_(b, true))};
}

static network zeros(const network *like) {
  tc_tensor *p[PARAMETERS], *z[PARAMETERS];
  network n;
  list(like, p);
  if (!tc_optim_zeros(PARAMETERS, p, z)) sample_check(NULL);
  for (int i = 0; i < LAYERS; i++) n.hidden[i] = (layer){z[2 * i], z[2 * i + 1]};
  n.out = (layer){z[2 * LAYERS], z[2 * LAYERS + 1]};
  return n;
}

static training start(void) {
  training a;
  for (int i = 0; i < LAYERS; i++)
    a.net.hidden[i] = random_layer(i == 0 ? 2 : HIDDEN, HIDDEN, (uint64_t)i + 1);
  a.net.out = random_layer(HIDDEN, 1, LAYERS + 1);
  a.mean = zeros(&a.net), a.square = zeros(&a.net);
  return a;
}

/* One coordinate of SIDE x SIDE points in the middles of cells: 0 is x, 1 is t. */
static tc_tensor *coordinate(int axis) {
  tc_tensor *line = tc_div_s(tc_add_s(tc_arange(SIDE, 0, 1, TC_F64), 0.5), SIDE);
  tc_tensor *grid =
      tc_expand(tc_unsqueeze(line, axis), TC_DIMS(SIDE, SIDE)); /* rows are x, columns t */
  tc_tensor *points = tc_clone(tc_reshape(grid, TC_DIMS(SIDE * SIDE, 1)));
  return sample_check(tc_requires_grad_(points, true));
}

/* ---- training -------------------------------------------------------------------------------- */

static double step_at(const training *a, tc_tensor *x, tc_tensor *t, int64_t step, int64_t steps) {
  double loss = 0;
  TC_SCOPE {
    const double rate = tc_rate_cosine(highest_rate, step, steps, 0);
    loss = tc_item(sample_check(train_step(a, x, t, rate, step)));
  }
  return loss;
}

static void train(const training *a, tc_tensor *x, tc_tensor *t, int64_t steps) {
  double curve[MOST_LOSSES]; /* of every so many steps */
  const int64_t every = (steps + MOST_LOSSES - 1) / MOST_LOSSES;
  int n = 0;
  for (int64_t step = 1; step <= steps; step++) {
    const double loss = step_at(a, x, t, step, steps);
    if ((step - 1) % every == 0) curve[n++] = loss;
    if (step % 500 == 0) printf("# step %4lld: mean square residual %.2e\n", (long long)step, loss);
  }
  sample_print_close("loss", 1e-3, curve, n);
}

int main(int argc, char **argv) {
  sample_begin(argc, argv, "[--steps N] [--most ERROR]");
  const int64_t steps = strtoll(sample_option("--steps", "1500"), NULL, 10);
  if (steps < 1) return fprintf(stderr, "--steps wants 1 or more\n"), 2;
  bool solved = true;
  TC_SCOPE {
    tc_tensor *x = coordinate(0), *t = coordinate(1);
    const training a = start();
    train(&a, x, t, steps);
    TC_NO_GRAD {
      const double apart = tc_item(sample_check(distance(&a.net, x, t)));
      printf("# largest distance from the solution: %.1e\n", apart);
      solved = apart <= atof(sample_option("--most", "inf"));
    }
    puts(solved ? "pinn: solved" : "pinn: not solved");
    for (sample_run run = sample_run_begin("train_step", NULL); sample_run_next(&run);)
      sample_run_done(&run, train_step(&a, x, t, 0, 1)); /* of rate 0, in f64 as it is */
  }
  return solved ? 0 : 1;
}
