// Heat on a plate: Jacobi steps between two buffers that change places, the residual every few steps.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct grid {
  tc_tensor *now TC_SHAPE("f64[H,W]");
  tc_tensor *next TC_SHAPE("f64[H,W]");
};

#define SWAP(a, b)          \
  do {                      \
    tc_tensor *swap_ = (a); \
    (a) = (b);              \
    (b) = swap_;            \
  } while (0)

/* The part of x that lies (dy, dx) beside its inside. */
static inline tc_tensor *inside(const tc_tensor *x, int dy, int dx) {
  int64_t h = tc_size(x, 0), w = tc_size(x, 1);
  return tc_slice(tc_slice(x, 0, 1 + dy, h - 1 + dy, 1), 1, 1 + dx, w - 1 + dx, 1);
}

static tc_tensor *laplacian(const tc_tensor *u) {
  static const int neighbour[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  tc_tensor *sum = tc_mul_s(inside(u, 0, 0), -4);
  for (size_t i = 0; i < sizeof neighbour / sizeof *neighbour; i++)
    sum = tc_add(sum, inside(u, neighbour[i][0], neighbour[i][1]));
  return sum;
}

/* Returns the number of steps, at most `most`; the residual goes to *residual. */
TC_COMPILE static int relax(struct grid *g, double alpha, int most, double tolerance, double *residual) {
  int step = 0;
  *residual = INFINITY;
  while (step < most && *residual > tolerance) {
    for (int i = 0; i < 10; i++, step++) {
      TC_SCOPE {
        tc_copy_(inside(g->next, 0, 0), tc_add(inside(g->now, 0, 0), tc_mul_s(laplacian(g->now), alpha)));
      }
      SWAP(g->now, g->next);
    }
    TC_SCOPE {
      *residual = tc_item(tc_max(tc_abs(tc_sub(g->now, g->next)), TC_ALL, false));
    }
  }
  return step;
}

static void run(int scale) {
  int64_t h = 10 * scale, w = 12 * scale;
  TC_SCOPE {
    struct grid g = {.now = tc_zeros(TC_DIMS(h, w), TC_F64)};
    tc_copy_(tc_select(g.now, 0, 0), tc_arange(w, 0, 1.0 / (double)w, TC_F64));
    tc_fill_(tc_select(g.now, 1, w - 1), 1);
    g.next = tc_clone(g.now);
    double residual;
    int steps = relax(&g, 0.2, 60, 1e-3, &residual);
    printf("%d steps, residual %.6f\n", steps, residual);
    show(g.now);
  }
}

int main(void) {
  run(1);
  run(3);
  return finish();
}
// CHECK-DAG: remark: 'relax' compiled: 224 ops in {{[0-9]+}} kernel{{s?}}, 1 segment 
// CHECK-DAG: remark: graph break in 'relax': the number of rounds of the loop depends on a value that is not known at build time
// CHECK-DAG: relax {{.*}} 12 0 0 
