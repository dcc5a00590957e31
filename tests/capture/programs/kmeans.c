// k-means: assign, accumulate by scatter-add, update, until nothing moves.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct kmeans {
  int rounds;
  double inertia;
  bool converged;
};

#define ROWS(x) tc_size((x), 0)

/* |x - c|^2 without the |x|^2 that is the same for each c. */
static inline tc_tensor *distances(const tc_tensor *x, const tc_tensor *c) {
  tc_tensor *cc = tc_sum(tc_square(c), TC_AXES(1), false);
  return tc_sub(cc, tc_mul_s(tc_matmul(x, tc_transpose(c, 0, 1)), 2));
}

TC_COMPILE static struct kmeans kmeans(const tc_tensor *x TC_SHAPE("f32[N,D]"), tc_tensor *centres TC_SHAPE("f32[K,D]"),
                                       tc_tensor *label TC_SHAPE("i64[N]"), int most, double tolerance) {
  struct kmeans r = {0};
  double before = INFINITY;
  do {
    TC_SCOPE {
      tc_tensor *d = distances(x, centres);
      tc_copy_(label, tc_argmin(d, TC_AXES(1), false));
      tc_tensor *nearest = tc_add(tc_min(d, TC_AXES(1), false), tc_sum(tc_square(x), TC_AXES(1), false));
      r.inertia = tc_item(tc_mean(nearest, TC_ALL, false));

      tc_tensor *count = tc_scatter_add(tc_zeros(TC_DIMS(ROWS(centres)), TC_F32), 0, label, tc_ones(TC_DIMS(ROWS(x)), TC_F32));
      tc_tensor *index = tc_expand(tc_unsqueeze(label, 1), TC_DIMS(ROWS(x), tc_size(x, 1)));
      tc_tensor *sum = tc_scatter_add(tc_zeros_like(centres), 0, index, x);
      tc_tensor *mean = tc_div(sum, tc_unsqueeze(tc_maximum_s(count, 1), 1));
      /* A centre without points stays where it is. */
      tc_copy_(centres, tc_where(tc_gt_s(tc_unsqueeze(count, 1), 0), mean, centres));
    }
    r.converged = before - r.inertia <= tolerance * r.inertia;
    before = r.inertia;
  } while (++r.rounds < most && !r.converged);
  return r;
}

static void run(int scale) {
  int64_t n = 120 * scale, d = 4, k = 5;
  TC_SCOPE {
    tc_tensor *label = tc_empty(TC_DIMS(n), TC_I64);
    tc_tensor *blob = tc_cast(tc_remainder_s(tc_arange(n, 0, 1, TC_I64), (double)k), TC_F32);
    tc_tensor *x = tc_add(tc_randn(TC_DIMS(n, d), 1, TC_F32), tc_mul_s(tc_unsqueeze(blob, 1), 3.5));
    tc_tensor *centres = tc_clone(tc_slice(x, 0, 0, k, 1));
    struct kmeans r = kmeans(x, centres, label, 40, 1e-4);
    printf("%s after %d rounds, inertia %.4f\n", r.converged ? "converged" : "stopped", r.rounds, r.inertia);
    show(centres);
    show(label);
  }
}

int main(void) {
  run(1);
  run(4);
  return finish();
}
// CHECK-DAG: remark: 'kmeans' compiled: 28 ops in {{[0-9]+}} kernel{{s?}}, 1 segment 
// CHECK-DAG: remark: graph break in 'kmeans': the number of rounds of the loop depends on a value that is not known at build time
// CHECK-DAG: kmeans {{.*}} 8 0 0 
