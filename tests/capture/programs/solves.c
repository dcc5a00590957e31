// Many small systems at once: Cholesky and two substitutions, unrolled, on parts of a batch.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum { N = 4 };

static inline tc_tensor *entry(const tc_tensor *a, int i, int j) { return tc_select(tc_select(a, 1, i), 1, j); }

/* a [B,4,4] = l l^T; the lower triangle of l as columns of B numbers. */
static void cholesky(const tc_tensor *a, tc_tensor *l[N][N]) {
  for (int j = 0; j < N; j++)
    for (int i = j; i < N; i++) {
      tc_tensor *s = entry(a, i, j);
      for (int k = 0; k < j; k++) s = tc_sub(s, tc_mul(l[i][k], l[j][k]));
      l[i][j] = i == j ? tc_sqrt(s) : tc_div(s, l[j][j]);
    }
}

static void forward(tc_tensor *l[N][N], tc_tensor *x[N]) {
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < i; k++) x[i] = tc_sub(x[i], tc_mul(l[i][k], x[k]));
    x[i] = tc_div(x[i], l[i][i]);
  }
}

static void backward(tc_tensor *l[N][N], tc_tensor *x[N]) {
  for (int i = N; i-- > 0;) {
    for (int k = i + 1; k < N; k++) x[i] = tc_sub(x[i], tc_mul(l[k][i], x[k]));
    x[i] = tc_div(x[i], l[i][i]);
  }
}

/* Solves a x = b for x [B,4], in place of b.  The log of the determinants goes to *logdet, if asked for. */
TC_COMPILE static bool solve(const tc_tensor *a TC_SHAPE("f64[B,4,4]"), tc_tensor *b TC_SHAPE("f64[B,4]"), tc_tensor **logdet) {
  tc_tensor *l[N][N] = {0}, *x[N];
  if (tc_rank(a) != 3 || tc_size(a, 1) != N) return false;
  TC_SCOPE {
    cholesky(a, l);
    for (int i = 0; i < N; i++) x[i] = tc_select(b, 1, i);
    forward(l, x);
    backward(l, x);
    if (logdet) {
      tc_tensor *sum = tc_log(l[0][0]);
      for (int i = 1; i < N; i++) sum = tc_add(sum, tc_log(l[i][i]));
      *logdet = tc_keep(tc_mul_s(sum, 2));
    }
    tc_copy_(b, tc_stack((const tc_tensor *const *)x, N, 1));
  }
  return true;
}

/* The same by Gauss-Jordan on an augmented copy, rows in place. */
TC_COMPILE static tc_tensor *eliminate(const tc_tensor *a TC_SHAPE("f64[B,4,4]"), const tc_tensor *b TC_SHAPE("f64[B,4]")) {
  tc_tensor *result = NULL;
  TC_SCOPE {
    tc_tensor *m = tc_concat((const tc_tensor *[]){a, tc_unsqueeze(b, 2)}, 2, 2);
    for (int p = 0; p < N; p++) {
      tc_tensor *row = tc_slice(m, 1, p, p + 1, 1); // [B,1,5]
      tc_div_(row, tc_clone(tc_slice(row, 2, p, p + 1, 1)));
      for (int i = 0; i < N; i++) {
        if (i == p) continue;
        tc_tensor *other = tc_slice(m, 1, i, i + 1, 1);
        tc_sub_(other, tc_mul(row, tc_clone(tc_slice(other, 2, p, p + 1, 1))));
      }
    }
    result = tc_keep(tc_contiguous(tc_select(m, 2, N)));
  }
  return result;
}

static void run(int scale) {
  int64_t batch = 10 * scale;
  TC_SCOPE {
    tc_tensor *r = tc_randn(TC_DIMS(batch, N, N), 1, TC_F64);
    tc_tensor *a = tc_add(tc_matmul(r, tc_transpose(r, 1, 2)), tc_mul_s(tc_eye(N, N, TC_F64), 2));
    tc_tensor *b = tc_randn(TC_DIMS(batch, N), 2, TC_F64), *x = tc_clone(b), *logdet = NULL;
    printf("%d\n", solve(a, x, &logdet));
    show(x);
    show(logdet);
    show(eliminate(a, b));
    printf("%d\n", solve(a, x, NULL));
    show(x);
  }
}

int main(void) {
  run(1);
  run(3);
  return finish();
}
// CHECK-DAG: remark: 'solve' compiled: 96 ops in {{[0-9]+}} kernel{{s?}}, 3 segments 
// CHECK-DAG: remark: graph break in 'solve': the branch depends on a pointer that is not known at build time
// CHECK-DAG: remark: 'eliminate' compiled: 80 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: eliminate {{.*}} 2 0 0 
// CHECK-DAG: solve {{.*}} 4 0 0 
// CHECK-DAG: solve {{.*}} 2 0 0 
// CHECK-DAG: solve {{.*}} 4 0 0 
