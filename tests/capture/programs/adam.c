// Training with gradients by hand, as llm.c has them, and Adam over an array of parameters.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum { W1, B1, W2, B2, PARAMETERS };

struct parameter {
  const char *name;
  tc_tensor *w TC_SHAPE("f32[R,C]"); // biases are one row
  tc_tensor *m TC_SHAPE("f32[R,C]"), *v TC_SHAPE("f32[R,C]"); // moments
  double decay;
};

struct network {
  struct parameter p[PARAMETERS];
  struct { double lr, beta1, beta2, eps; int step; } adam;
};

static void adam_update(struct parameter *p, const tc_tensor *g, const struct network *n) {
  const double b1 = n->adam.beta1, b2 = n->adam.beta2;
  double c1 = 1 - pow(b1, n->adam.step), c2 = 1 - pow(b2, n->adam.step);
  tc_copy_(p->m, tc_lerp(p->m, g, 1 - b1));
  tc_copy_(p->v, tc_lerp(p->v, tc_square(g), 1 - b2));
  tc_tensor *step = tc_div(tc_div_s(p->m, c1), tc_add_s(tc_sqrt(tc_div_s(p->v, c2)), n->adam.eps));
  tc_sub_(p->w, tc_mul_s(tc_add(step, tc_mul_s(p->w, p->decay)), n->adam.lr));
}

/* One step on x [B,I] with targets y [B,O]; the mean squared error before it, NaN on an error. */
TC_COMPILE static float train_step(struct network *n, const tc_tensor *x TC_SHAPE("f32[B,I]"),
                                   const tc_tensor *y TC_SHAPE("f32[B,O]")) {
  float loss = NAN;
  const tc_tensor *w1 = n->p[W1].w, *w2 = n->p[W2].w;
  const tc_tensor *b1 = tc_select(n->p[B1].w, 0, 0), *b2 = tc_select(n->p[B2].w, 0, 0);
  TC_SCOPE {
    /* forward */
    tc_tensor *h = tc_tanh(tc_add(tc_matmul(x, w1), b1));
    tc_tensor *e = tc_sub(tc_add(tc_matmul(h, w2), b2), y);
    loss = (float)tc_item(tc_mean(tc_square(e), TC_ALL, false));
    /* backward */
    tc_tensor *de = tc_mul_s(e, 2.0 / (double)tc_numel(e));
    tc_tensor *dh = tc_mul(tc_matmul(de, tc_transpose(w2, 0, 1)), tc_rsub_s(tc_square(h), 1));
    tc_tensor *g[PARAMETERS] = {
        [W1] = tc_matmul(tc_transpose(x, 0, 1), dh), [B1] = tc_sum(dh, TC_AXES(0), true),
        [W2] = tc_matmul(tc_transpose(h, 0, 1), de), [B2] = tc_sum(de, TC_AXES(0), true),
    };
    n->adam.step++;
    for (struct parameter *p = n->p; p < n->p + PARAMETERS; p++) adam_update(p, g[p - n->p], n);
  }
  return loss;
}

static struct parameter parameter(const char *name, tc_ints dims, double scale, double decay) {
  return (struct parameter){
      .name = name, .w = tc_mul_s(tc_randn(dims, 7, TC_F32), scale),
      .m = tc_zeros(dims, TC_F32), .v = tc_zeros(dims, TC_F32), .decay = decay};
}

static void run(int scale) {
  int64_t b = 8 * scale, i = 6 * scale, h = 10 * scale, o = 2;
  TC_SCOPE {
    struct network n = {
        .p = {
            [W1] = parameter("w1", TC_DIMS(i, h), 1 / sqrt((double)i), 1e-2),
            [B1] = parameter("b1", TC_DIMS(1, h), 0, 0),
            [W2] = parameter("w2", TC_DIMS(h, o), 1 / sqrt((double)h), 1e-2),
            [B2] = parameter("b2", TC_DIMS(1, o), 0, 0),
        },
        .adam = {.lr = 1e-2, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8},
    };
    tc_tensor *x = tc_randn(TC_DIMS(b, i), 1, TC_F32);
    tc_tensor *y = tc_concat((const tc_tensor *[]){tc_sum(x, TC_AXES(1), true), tc_max(x, TC_AXES(1), true)}, 2, 1);
    for (int step = 0; step < 20; step++) {
      float loss = train_step(&n, x, y);
      if (step % 5 == 4) printf("%d: %.4f\n", step + 1, loss);
    }
    for (int k = 0; k < PARAMETERS; k++) {
      printf("%s ", n.p[k].name);
      show(n.p[k].w);
    }
  }
}

int main(void) {
  run(1);
  run(2);
  return finish();
}
// CHECK-DAG: remark: 'train_step' compiled: 79 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: train_step {{.*}} 40 0 0 
