// PageRank on edges: gather, scatter-add, dangling nodes, until the change is small.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

typedef struct {
  tc_tensor *from TC_SHAPE("i32[E]"), *to TC_SHAPE("i32[E]");
  tc_tensor *inverse_degree TC_SHAPE("f64[N]"); // 0 where there is no way out
} graph;

typedef enum { RANK_OK, RANK_NOT_CONVERGED, RANK_BAD_ARGUMENT } rank_status;

TC_COMPILE static rank_status pagerank(const graph *g, tc_tensor *rank TC_SHAPE("f64[N]"), double damping, double tolerance,
                                       int most, int *rounds) {
  if (damping <= 0 || damping >= 1) return RANK_BAD_ARGUMENT;
  const double n = (double)tc_size(rank, 0);
  tc_fill_(rank, 1 / n);
  for (*rounds = 1; *rounds <= most; ++*rounds) {
    double change = INFINITY;
    TC_SCOPE {
      tc_tensor *share = tc_mul(rank, g->inverse_degree);
      tc_tensor *flow = tc_scatter_add(tc_zeros_like(rank), 0, g->to, tc_index_select(share, 0, g->from));
      tc_tensor *lost = tc_sum(tc_where(tc_eq_s(g->inverse_degree, 0), rank, tc_zeros_like(rank)), TC_ALL, false);
      tc_tensor *next = tc_add_s(tc_mul_s(tc_add(flow, tc_div_s(lost, n)), damping), (1 - damping) / n);
      change = tc_item(tc_sum(tc_abs(tc_sub(next, rank)), TC_ALL, false));
      tc_copy_(rank, next);
    }
    if (change < tolerance) return RANK_OK;
  }
  return RANK_NOT_CONVERGED;
}

/* The largest eigenvalue of a [N,N], by power iteration; x [N] becomes its vector. */
TC_COMPILE static double dominant(const tc_tensor *a TC_SHAPE("f64[N,N]"), tc_tensor *x TC_SHAPE("f64[N]"), double tolerance) {
  double value = 0, last;
  int left = 200;
  do {
    last = value;
    TC_SCOPE {
      tc_tensor *y = tc_matmul(a, x);
      tc_tensor *norm = tc_norm(y, 2, TC_ALL, false);
      value = tc_item(tc_sum(tc_mul(x, y), TC_ALL, false));
      tc_copy_(x, tc_div(y, norm));
    }
  } while (fabs(value - last) > tolerance * fabs(value) && --left);
  return value;
}

static void run(int scale) {
  int64_t n = 50 * scale, e = 300 * scale;
  TC_SCOPE {
    graph g = {.from = tc_cast(tc_mul_s(tc_rand(TC_DIMS(e), 1, TC_F32), (double)n * 0.9), TC_I32),
               .to = tc_cast(tc_mul_s(tc_square(tc_rand(TC_DIMS(e), 2, TC_F32)), (double)n), TC_I32)};
    tc_tensor *degree = tc_scatter_add(tc_zeros(TC_DIMS(n), TC_F64), 0, g.from, tc_ones(TC_DIMS(e), TC_F64));
    g.inverse_degree = tc_where(tc_gt_s(degree, 0), tc_reciprocal(degree), tc_zeros_like(degree));
    tc_tensor *rank = tc_empty(TC_DIMS(n), TC_F64);
    int rounds = 0;
    rank_status status = pagerank(&g, rank, 0.85, 1e-7, 100, &rounds);
    printf("status %d after %d, sum %.6f\n", status, rounds, tc_item(tc_sum(rank, TC_ALL, false)));
    show(rank);
    printf("status %d\n", pagerank(&g, rank, 1.5, 1e-7, 100, &rounds));

    tc_tensor *b = tc_rand(TC_DIMS(n, n), 3, TC_F64), *a = tc_add(b, tc_transpose(b, 0, 1));
    tc_tensor *x = tc_full(TC_DIMS(n), 1 / sqrt((double)n), TC_F64);
    printf("%.6f\n", dominant(a, x, 1e-10));
    show(x);
  }
}

int main(void) {
  run(1);
  run(3);
  return finish();
}
// CHECK-DAG: remark: 'pagerank' compiled: 18 ops in {{[0-9]+}} kernel{{s?}}, 2 segments 
// CHECK-DAG: remark: graph break in 'pagerank': the number of rounds of the loop depends on a value that is not known at build time
// CHECK-DAG: remark: 'dominant' compiled: 7 ops in {{[0-9]+}} kernel{{s?}}, 1 segment 
// CHECK-DAG: remark: graph break in 'dominant': whether this is written is not known at build time
// CHECK-DAG: dominant {{.*}} 11 0 0 
// CHECK-DAG: pagerank {{.*}} 34 0 0 
// CHECK-DAG: pagerank {{.*}} 2 0 0 
