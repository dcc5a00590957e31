/* optimiser.c - a family of `tools/bench --only training`: an optimiser over many tensors.  Compiled once for each
 * dtype, as cases.c is. */
#include "cases.h"

#include "dtype.h"

#include <tcompile/optim.h>

enum { LAYERS = 50, EACH = 4, MANY = LAYERS * EACH };

typedef struct layers {
  tc_tensor *up[LAYERS] TC_SHAPE(DTYPE "[C,4*C]"), *bias[LAYERS] TC_SHAPE(DTYPE "[4*C]");
  tc_tensor *down[LAYERS] TC_SHAPE(DTYPE "[4*C,C]"), *norm[LAYERS] TC_SHAPE(DTYPE "[C]");
} layers;

static inline void layers_list(const layers *m, tc_tensor *out[MANY]) {
  for (int i = 0; i < LAYERS; i++) {
    out[EACH * i] = m->up[i], out[EACH * i + 1] = m->bias[i];
    out[EACH * i + 2] = m->down[i], out[EACH * i + 3] = m->norm[i];
  }
}

TC_COMPILE static bool adamw_many(const layers *m, const layers *gradient, const layers *mean,
                                  const layers *square, int64_t step) {
  tc_tensor *p[MANY], *g[MANY], *first[MANY], *second[MANY];
  layers_list(m, p);
  layers_list(gradient, g);
  layers_list(mean, first);
  layers_list(square, second);
  tc_adam_options options = tc_adam_defaults(1e-3);
  options.weight_decay = 0.01;
  return tc_adamw(MANY, p, g, first, second, step, options);
}

/* in: parameters, gradients, means and squares, each layer after layer */
static bool run_adamw_many(tc_tensor *const *in, tc_tensor **out) {
  (void)out;
  layers all[4];
  for (int kind = 0; kind < 4; kind++)
    for (int i = 0; i < LAYERS; i++) {
      tc_tensor *const *x = in + kind * MANY + i * EACH;
      all[kind].up[i] = x[0], all[kind].bias[i] = x[1];
      all[kind].down[i] = x[2], all[kind].norm[i] = x[3];
    }
  return adamw_many(&all[0], &all[1], &all[2], &all[3], 10);
}

const bench_case JOIN(bench_optimiser_, BENCH_DTYPE)[BENCH_OPTIMISER] = {
    {"adamw_many", DTYPE, 4 * MANY, run_adamw_many, .written = MANY},
};
