// AdamW over 200 parameters of mixed sizes is one kernel, on CPUs and on GPUs.
// RUN: %tc -O2 -fsyntax-only -fplugin-arg-tc-backend=openmp -Rpass=tc %s 2>&1 | %check %s
// RUN: %tc -O2 -fsyntax-only -fplugin-arg-tc-backend=cuda -Rpass=tc %s 2>&1 | %check %s
#include <tcompile/optim.h>

enum { LAYERS = 50, KINDS = 4, MANY = LAYERS * KINDS };

typedef struct layers {
  tc_tensor *up[LAYERS] TC_SHAPE("f32[C,4*C]"), *bias[LAYERS] TC_SHAPE("f32[4*C]");
  tc_tensor *down[LAYERS] TC_SHAPE("f32[4*C,C]"), *norm[LAYERS] TC_SHAPE("f32[C]");
} layers;

static inline void list(const layers *l, tc_tensor *out[MANY]) {
  for (int i = 0; i < LAYERS; i++) {
    out[KINDS * i] = l->up[i], out[KINDS * i + 1] = l->bias[i];
    out[KINDS * i + 2] = l->down[i], out[KINDS * i + 3] = l->norm[i];
  }
}

TC_COMPILE bool step(const layers *parameters, const layers *gradients, const layers *means, const layers *squares, int64_t count) {
  tc_tensor *p[MANY], *g[MANY], *m[MANY], *v[MANY];
  list(parameters, p), list(gradients, g), list(means, m), list(squares, v);
  return tc_adamw(MANY, p, g, m, v, count, tc_adam_defaults(1e-3));
}
// CHECK: remark: 'step' compiled: {{[0-9]+}} ops in 1 kernel [-Rpass=tc]
// CHECK: fused {{[0-9]+}} operations into kernel {{.*}}, 200 times beside each other
