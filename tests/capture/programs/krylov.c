// Linear systems: conjugate gradients to a tolerance, and GMRES with its rotations and triangle in C arrays of numbers.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static tc_tensor *dot(const tc_tensor *a, const tc_tensor *b) { return tc_sum(tc_mul(a, b), TC_ALL, false); }

TC_COMPILE static tc_tensor *cg(const tc_tensor *A TC_SHAPE("f64[N,N]"), const tc_tensor *b TC_SHAPE("f64[N]"), double tolerance, int *rounds) {
  tc_tensor *x = tc_zeros_like(b), *r = tc_clone(b), *p = tc_clone(b);
  double rr = tc_item(dot(r, r));
  for (*rounds = 0; *rounds < 100 && sqrt(rr) > tolerance; ++*rounds) {
    tc_tensor *Ap = tc_matmul(A, p);
    double alpha = rr / tc_item(dot(p, Ap));
    tc_add_(x, tc_mul_s(p, alpha));
    tc_sub_(r, tc_mul_s(Ap, alpha));
    double now = tc_item(dot(r, r));
    tc_copy_(p, tc_add(r, tc_mul_s(p, now / rr)));
    rr = now;
  }
  return x;
}

enum { M = 6 };
struct least_squares { double h[M + 1][M], g[M + 1], c[M], s[M]; };

static void rotate(struct least_squares *l, int j) {
  for (int i = 0; i < j; i++) {
    double t = l->c[i] * l->h[i][j] + l->s[i] * l->h[i + 1][j];
    l->h[i + 1][j] = l->c[i] * l->h[i + 1][j] - l->s[i] * l->h[i][j];
    l->h[i][j] = t;
  }
  double d = hypot(l->h[j][j], l->h[j + 1][j]);
  l->c[j] = l->h[j][j] / d, l->s[j] = l->h[j + 1][j] / d;
  l->h[j][j] = d;
  l->g[j + 1] = -l->s[j] * l->g[j], l->g[j] *= l->c[j];
}

TC_COMPILE static tc_tensor *gmres(const tc_tensor *A TC_SHAPE("f64[N,N]"), const tc_tensor *b TC_SHAPE("f64[N]")) {
  struct least_squares l = {0};
  tc_tensor *v[M + 1];
  l.g[0] = tc_item(tc_norm(b, 2, TC_ALL, false));
  v[0] = tc_mul_s(b, 1 / l.g[0]);
  for (int j = 0; j < M; j++) {
    tc_tensor *w = tc_matmul(A, v[j]);
    for (int i = 0; i <= j; i++) {
      l.h[i][j] = tc_item(dot(w, v[i]));
      w = tc_sub(w, tc_mul_s(v[i], l.h[i][j]));
    }
    l.h[j + 1][j] = tc_item(tc_norm(w, 2, TC_ALL, false));
    v[j + 1] = tc_mul_s(w, 1 / l.h[j + 1][j]);
    rotate(&l, j);
  }
  tc_tensor *x = tc_zeros_like(b);
  for (int i = M - 1; i >= 0; i--) {
    double y = l.g[i];
    for (int k = i + 1; k < M; k++) y -= l.h[i][k] * l.g[k];
    l.g[i] = y / l.h[i][i];
    x = tc_add(x, tc_mul_s(v[i], l.g[i]));
  }
  return x;
}

int main(void) {
  TC_SCOPE {
    tc_tensor *g = tc_randn(TC_DIMS(9, 9), 1, TC_F64), *b = tc_randn(TC_DIMS(9), 2, TC_F64);
    tc_tensor *A = tc_add(tc_matmul(g, tc_transpose(g, 0, 1)), tc_mul_s(tc_eye(9, 9, TC_F64), 20));
    int rounds;
    tc_tensor *x = cg(A, b, 1e-9, &rounds), *y = gmres(A, b);
    show(x), show(y);
    printf("%d %d %d\n", rounds < 12, tc_max_abs_diff(tc_matmul(A, x), b) < 1e-8, tc_max_abs_diff(x, y) < 1e-3);
  }
  return finish();
}
// CHECK-DAG: graph break in 'cg': the number of rounds of the loop
// CHECK-NOT: graph break in 'gmres'
// CHECK-DAG: gmres {{.*}} 1 0 0
