// A recurrent layer over time steps: the state is updated in place, the outputs are rows of a buffer.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum gate { RESET, UPDATE, CANDIDATE, GATES };

struct gru {
  tc_tensor *wx TC_SHAPE("f32[I,3*H]");
  tc_tensor *wh TC_SHAPE("f32[H,3*H]");
  tc_tensor *bx TC_SHAPE("f32[3*H]");
  tc_tensor *bh TC_SHAPE("f32[3*H]");
};

static inline tc_tensor *gate(const tc_tensor *all, enum gate g) {
  int64_t width = tc_size(all, -1) / GATES;
  return tc_slice(all, -1, g * width, (g + 1) * width, 1);
}

/* h <- (1 - z) n + z h */
static bool gru_cell(const struct gru *m, const tc_tensor *x, tc_tensor *h) {
  tc_tensor *a = tc_add(tc_matmul(x, m->wx), m->bx);
  tc_tensor *b = tc_add(tc_matmul(h, m->wh), m->bh);
  tc_tensor *r = tc_sigmoid(tc_add(gate(a, RESET), gate(b, RESET)));
  tc_tensor *z = tc_sigmoid(tc_add(gate(a, UPDATE), gate(b, UPDATE)));
  tc_tensor *n = tc_tanh(tc_add(gate(a, CANDIDATE), tc_mul(r, gate(b, CANDIDATE))));
  return tc_copy_(h, tc_add(n, tc_mul(z, tc_sub(h, n)))) != NULL;
}

/* x [T,B,I], out [T,B,H]; h is the state before and after.  Returns the number of steps done. */
TC_COMPILE static int64_t gru_forward(const struct gru *m, const tc_tensor *x TC_SHAPE("f32[T,B,I]"),
                                      tc_tensor *h TC_SHAPE("f32[B,H]"), tc_tensor *out TC_SHAPE("f32[T,B,H]")) {
  int64_t t, steps = tc_size(x, 0);
  for (t = 0; t < steps; t++) {
    bool ok;
    TC_SCOPE {
      ok = gru_cell(m, tc_select(x, 0, t), h) && tc_copy_(tc_select(out, 0, t), h);
    }
    if (!ok) break;
  }
  return t;
}

static void run(int scale) {
  int64_t steps = 12, batch = 2 * scale, in = 6 * scale, hidden = 4 * scale;
  TC_SCOPE {
    double s = 1 / sqrt((double)hidden);
    struct gru m = {
        .wx = tc_mul_s(tc_randn(TC_DIMS(in, 3 * hidden), 1, TC_F32), s),
        .wh = tc_mul_s(tc_randn(TC_DIMS(hidden, 3 * hidden), 2, TC_F32), s),
        .bx = tc_mul_s(tc_randn(TC_DIMS(3 * hidden), 3, TC_F32), s),
        .bh = tc_zeros(TC_DIMS(3 * hidden), TC_F32),
    };
    tc_tensor *x = tc_randn(TC_DIMS(steps, batch, in), 4, TC_F32);
    tc_tensor *h = tc_zeros(TC_DIMS(batch, hidden), TC_F32);
    tc_tensor *out = tc_empty(TC_DIMS(steps, batch, hidden), TC_F32);
    printf("%d steps\n", (int)gru_forward(&m, x, h, out));
    show(h);
    show(out);
  }
}

int main(void) {
  run(1);
  run(3);
  return finish();
}
// CHECK-DAG: remark: 'gru_forward' compiled: 24 ops in {{[0-9]+}} kernel{{s?}}, 1 segment 
// CHECK-DAG: remark: graph break in 'gru_forward': the number of rounds of the loop depends on a value that is not known at build time
// CHECK-DAG: gru_forward {{.*}} 24 0 0 
