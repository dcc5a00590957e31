// A Kalman filter for a batch of targets: constant velocity in the plane, positions measured.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum { STATE = 4, SEEN = 2 };

struct filter {
  tc_tensor *x TC_SHAPE("f64[B,4]");   // state: position, velocity
  tc_tensor *p TC_SHAPE("f64[B,4,4]"); // covariance
  const tc_tensor *f TC_SHAPE("f64[4,4]"), *q TC_SHAPE("f64[4,4]"); // motion
  const tc_tensor *h TC_SHAPE("f64[2,4]"), *r TC_SHAPE("f64[2,2]"); // measurement
};

static inline tc_tensor *transposed(const tc_tensor *a) { return tc_transpose(a, -1, -2); }
static inline tc_tensor *at(const tc_tensor *a, int i, int j) { return tc_select(tc_select(a, -1, j), -1, i); }
static inline tc_tensor *apply(const tc_tensor *a, const tc_tensor *x) { // [B,M,N] or [M,N] by [B,N]
  return tc_squeeze(tc_matmul(a, tc_unsqueeze(x, -1)), -1);
}

/* Of s [B,2,2]. */
static tc_tensor *inverse2(const tc_tensor *s) {
  tc_tensor *a = at(s, 0, 0), *b = at(s, 0, 1), *c = at(s, 1, 0), *d = at(s, 1, 1);
  tc_tensor *det = tc_sub(tc_mul(a, d), tc_mul(b, c));
  tc_tensor *rows[2] = {
      tc_stack((const tc_tensor *[]){d, tc_neg(b)}, 2, -1),
      tc_stack((const tc_tensor *[]){tc_neg(c), a}, 2, -1),
  };
  return tc_div(tc_stack((const tc_tensor *const *)rows, 2, 1), tc_reshape(det, TC_DIMS(-1, 1, 1)));
}

static void predict(struct filter *k) {
  tc_copy_(k->x, apply(k->f, k->x));
  tc_copy_(k->p, tc_add(tc_matmul(tc_matmul(k->f, k->p), transposed(k->f)), k->q));
}

/* Joseph's form keeps p symmetric.  Returns the mean of the squared innovations. */
static double update(struct filter *k, const tc_tensor *z) {
  tc_tensor *y = tc_sub(z, apply(k->h, k->x));
  tc_tensor *pht = tc_matmul(k->p, transposed(k->h));
  tc_tensor *s = tc_add(tc_matmul(k->h, pht), k->r);
  tc_tensor *gain = tc_matmul(pht, inverse2(s));
  tc_tensor *rest = tc_sub(tc_eye(STATE, STATE, TC_F64), tc_matmul(gain, k->h));
  tc_tensor *p = tc_matmul(tc_matmul(rest, k->p), transposed(rest));
  tc_copy_(k->x, tc_add(k->x, apply(gain, y)));
  tc_copy_(k->p, tc_add(p, tc_matmul(tc_matmul(gain, k->r), transposed(gain))));
  return tc_item(tc_mean(tc_square(y), TC_ALL, false));
}

/* z [B,2] at one time; missed: predict only. */
TC_COMPILE static double filter_step(struct filter *k, const tc_tensor *z TC_SHAPE("f64[B,2]"), bool missed) {
  double error = 0;
  TC_SCOPE {
    predict(k);
    if (!missed) error = update(k, z);
  }
  return error;
}

static void run(int scale) {
  const double f[STATE][STATE] = {{1, 0, 0.1, 0}, {0, 1, 0, 0.1}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  const double h[SEEN][STATE] = {{1}, {0, 1}};
  int64_t targets = 16 * scale;
  TC_SCOPE {
    struct filter k = {
        .x = tc_zeros(TC_DIMS(targets, STATE), TC_F64),
        .p = tc_repeat(tc_unsqueeze(tc_eye(STATE, STATE, TC_F64), 0), TC_DIMS(targets, 1, 1)),
        .f = tc_from(TC_DIMS(STATE, STATE), f, TC_F64),
        .q = tc_mul_s(tc_eye(STATE, STATE, TC_F64), 1e-3),
        .h = tc_from(TC_DIMS(SEEN, STATE), h, TC_F64),
        .r = tc_mul_s(tc_eye(SEEN, SEEN, TC_F64), 0.04),
    };
    double error = 0;
    for (int t = 0; t < 30; t++)
      TC_SCOPE {
        tc_tensor *truth = tc_full(TC_DIMS(targets, SEEN), 0.05 * t, TC_F64);
        tc_tensor *noise = tc_mul_s(tc_randn(TC_DIMS(targets, SEEN), (uint64_t)t, TC_F64), 0.2);
        error += filter_step(&k, tc_add(truth, noise), t % 7 == 3);
      }
    printf("%.6f\n", error);
    show(k.x);
    show(k.p);
  }
}

int main(void) {
  run(1);
  run(3);
  return finish();
}
// CHECK-DAG: remark: 'filter_step' compiled: 55 ops in {{[0-9]+}} kernel{{s?}}, 2 segments 
// CHECK-DAG: remark: graph break in 'filter_step': the branch depends on a value that is not known at build time
// CHECK-DAG: filter_step {{.*}} 52 0 0 
// CHECK-DAG: filter_step {{.*}} 60 0 0 
