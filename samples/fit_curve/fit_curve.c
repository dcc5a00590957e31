/* fit_curve - two lines of a spectrum on a background, fitted to noisy counts: nonlinear least squares by Gauss and
 * Newton, damped as by Levenberg and Marquardt.
 *
 * The compiled function makes the residuals r(p), their Jacobian J by forward mode, one column for each parameter, and
 * the products of all columns of [J r] with each other, which is everything that a step needs: J'J, J'r and r'r. */
#include <math.h>
#include <string.h>

#include "common/sample.h"

enum { POINTS = 4000, LINES = 2, P = 3 * LINES + 2, MOST_STEPS = 50 };

/* Height, middle and width of each line, then the background: at x = 0, and its slope. */
static const double truth[P] = {8, 3.2, 0.35, 5, 4.1, 0.6, 1.5, 0.1};
static const double guess[P] = {5, 2.8, 0.5, 5, 4.6, 0.5, 1, 0};

/* The curve of parameters p, f64[P], at x, f64[N]. */
static inline tc_tensor *curve(const tc_tensor *p, const tc_tensor *x) {
  tc_tensor *y = tc_add(tc_select(p, 0, P - 2), tc_mul(tc_select(p, 0, P - 1), x));
  for (int i = 0; i < LINES; i++) {
    const tc_tensor *off = tc_sub(x, tc_select(p, 0, 3 * i + 1));
    tc_tensor *z = tc_square(tc_div(off, tc_select(p, 0, 3 * i + 2)));
    y = tc_add(y, tc_mul(tc_select(p, 0, 3 * i), tc_exp(tc_mul_s(z, -0.5))));
  }
  return y;
}

/* [J r]' [J r], f64[P+1,P+1]. */
TC_COMPILE static tc_tensor *products(tc_tensor *p TC_SHAPE("f64[8]"),
                                      const tc_tensor *x TC_SHAPE("f64[N]"),
                                      const tc_tensor *y TC_SHAPE("f64[N]")) {
  const tc_tensor *r = tc_sub(curve(p, x), y), *unit = tc_eye(P, P, TC_F64), *column[P + 1];
  for (int i = 0; i < P; i++) {
    const tc_tensor *along = tc_select(unit, 0, i);
    column[i] = tc_jvp(r, 1, &p, &along);
  }
  column[P] = tc_detach(r);
  const tc_tensor *all = tc_stack(column, P + 1, 0);
  return tc_matmul(all, tc_transpose(all, 0, 1));
}

/* ---- steps ----------------------------------------------------------------------------------- */

typedef double matrix[P + 1][P + 1];

static tc_tensor *leaf_of(const double *p) {
  return sample_check(tc_requires_grad_(tc_from(TC_DIMS(P), p, TC_F64), true));
}

static void products_at(const double *p, const tc_tensor *x, const tc_tensor *y, matrix out) {
  TC_SCOPE {
    const tc_tensor *all = sample_check(products(leaf_of(p), x, y));
    for (int i = 0; i <= P; i++)
      for (int k = 0; k <= P; k++) out[i][k] = tc_at(all, TC_INTS(i, k));
  }
}

/* step = -(J'J + damping diag(J'J))^-1 J'r, by elimination: the matrix is positive definite. */
static void solve(matrix all, double damping, double *step) {
  matrix a;
  for (int i = 0; i < P; i++) {
    for (int k = 0; k < P; k++) a[i][k] = all[i][k] * (i == k ? 1 + damping : 1);
    a[i][P] = -all[i][P];
  }
  for (int i = 0; i < P; i++)
    for (int j = i + 1; j < P; j++)
      for (int k = P; k >= i; k--) a[j][k] -= a[j][i] / a[i][i] * a[i][k];
  for (int i = P - 1; i >= 0; i--) {
    step[i] = a[i][P];
    for (int k = i + 1; k < P; k++) step[i] -= a[i][k] * step[k];
    step[i] /= a[i][i];
  }
}

/* From p to the least sum of squares nearby, which is returned. */
static double fit(double *p, const tc_tensor *x, const tc_tensor *y) {
  matrix now, next;
  double damping = 1e-3, step[P], trial[P];
  products_at(p, x, y, now);
  for (int n = 1; n <= MOST_STEPS; n++) {
    solve(now, damping, step);
    for (int i = 0; i < P; i++) trial[i] = p[i] + step[i];
    products_at(trial, x, y, next);
    const double fell = now[P][P] - next[P][P];
    printf("# step %d: sum of squares %.6f, damping %.0e\n", n, next[P][P], damping);
    damping = fell >= 0 ? damping / 10 : damping * 10;
    if (!(fell >= 0)) continue;
    memcpy(p, trial, sizeof trial), memcpy(now, next, sizeof next);
    if (fell <= 1e-12 * now[P][P]) break;
  }
  return now[P][P];
}

int main(int argc, char **argv) {
  sample_begin(argc, argv, "");
  TC_SCOPE {
    const tc_tensor *x = tc_arange(POINTS, 0, 8.0 / POINTS, TC_F64);
    const tc_tensor *exact = curve(tc_from(TC_DIMS(P), truth, TC_F64), x);
    const tc_tensor *y = tc_add(exact, tc_mul_s(tc_randn(TC_DIMS(POINTS), 1, TC_F64), 0.3));
    double p[P];
    memcpy(p, guess, sizeof p);
    const double rest = sqrt(fit(p, x, y) / (POINTS - P));
    sample_print("fit_curve", tc_from(TC_DIMS(P), p, TC_F64));
    printf("fit_curve: noise %.3f\n", rest);
    tc_tensor *at = leaf_of(p);
    for (sample_run run = sample_run_begin("products", NULL); sample_run_next(&run);)
      sample_run_done(&run, products(at, x, y));
  }
}
