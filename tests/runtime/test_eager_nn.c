/* Softmax, normalisations and losses, each from its definition in double. */
#include <criterion/criterion.h>
#include <math.h>

#include <tcompile.h>

#include "layouts.h"

static double tolerance(tc_dtype d) {
  return d == TC_F16 ? 1e-3 : d == TC_BF16 ? 1e-2 : d == TC_F64 ? 1e-13 : 1e-6;
}
static bool near(double want, double got, double t) {
  return fabs(want - got) <= t * (1 + fabs(want));
}

static void check_softmax(const tc_tensor *x, int axis) {
  tc_tensor *y = tc_softmax(x, axis), *z = tc_log_softmax(x, axis);
  cr_assert(y && z, "%s", tc_error());
  tc_ints at = first_index(x);
  do {
    double sum = 0;
    tc_ints k = at;
    for (k.v[axis] = 0; k.v[axis] < tc_size(x, axis); k.v[axis]++) sum += exp(tc_at(x, k));
    double p = exp(tc_at(x, at)) / sum, t = tolerance(tc_dtype_of(x));
    cr_assert(near(p, tc_at(y, at), t) && near(log(p), tc_at(z, at), t));
  } while (next_index(&at, x));
}

Test(nn, softmax_of_every_layout) {
  for (int d = TC_F16; d < TC_DTYPE_COUNT; d++)
    for (int l = 0; l < LAYOUT_COUNT; l++)
      for (int axis = 0; axis < 3; axis++) TC_SCOPE {
          check_softmax(layout_make((tc_dtype)d, TC_DIMS(3, 4, 5), (layout)l, 1), axis);
        }
}

Test(nn, softmax_of_large_values) {
  TC_SCOPE {
    tc_tensor *x = tc_from(TC_DIMS(3), (float[]){3e38f, 3e38f, -3e38f}, TC_F32),
              *y = tc_softmax(x, 0);
    cr_expect(tc_at(y, TC_INTS(0)) == 0.5 && tc_at(y, TC_INTS(2)) == 0);
    cr_expect(near(-log(2), tc_at(tc_log_softmax(x, 0), TC_INTS(0)), 1e-6));
  }
}

static void check_norms(const tc_tensor *x, const tc_tensor *w, const tc_tensor *b) {
  tc_tensor *ln = tc_layer_norm(x, 1, w, b, 1e-5), *rms = tc_rms_norm(x, 1, w, 1e-5);
  cr_assert(ln && rms, "%s", tc_error());
  int64_t n = tc_size(x, 1);
  double t = tolerance(tc_dtype_of(x)) * 4;
  tc_ints at = first_index(x);
  do {
    double mean = 0, square = 0, var = 0, k = (double)n;
    for (int64_t i = 0; i < n; i++) mean += tc_at(x, TC_INTS(at.v[0], i)) / k;
    for (int64_t i = 0; i < n; i++) square += pow(tc_at(x, TC_INTS(at.v[0], i)), 2) / k;
    for (int64_t i = 0; i < n; i++) var += pow(tc_at(x, TC_INTS(at.v[0], i)) - mean, 2) / k;
    double scale = w ? tc_at(w, TC_INTS(at.v[1])) : 1, shift = b ? tc_at(b, TC_INTS(at.v[1])) : 0;
    cr_assert(near((tc_at(x, at) - mean) / sqrt(var + 1e-5) * scale + shift, tc_at(ln, at), t));
    cr_assert(near(tc_at(x, at) / sqrt(square + 1e-5) * scale, tc_at(rms, at), t));
  } while (next_index(&at, x));
}

Test(nn, layer_and_rms_norm_of_every_layout) {
  for (int d = TC_F16; d < TC_DTYPE_COUNT; d++)
    for (int l = 0; l < LAYOUT_COUNT; l++)
      for (int given = 0; given < 2; given++) TC_SCOPE {
          tc_tensor *x = layout_make((tc_dtype)d, TC_DIMS(3, 10), (layout)l, 1);
          tc_tensor *w = layout_make((tc_dtype)d, TC_DIMS(10), (layout)l, 2),
                    *b = layout_make((tc_dtype)d, TC_DIMS(10), LAYOUT_FLIPPED, 3);
          check_norms(x, given ? w : NULL, given ? b : NULL);
        }
}

Test(nn, layer_norm_over_two_axes) {
  TC_SCOPE {
    tc_tensor *x = tc_rand(TC_DIMS(2, 3, 4), 1, TC_F64), *w = tc_rand(TC_DIMS(3, 4), 2, TC_F64);
    tc_tensor *y = tc_layer_norm(x, 2, w, NULL, 1e-5);
    tc_tensor *z =
        tc_layer_norm(tc_reshape(x, TC_DIMS(2, 12)), 1, tc_reshape(w, TC_DIMS(12)), NULL, 1e-5);
    cr_expect_eq(tc_max_abs_diff(tc_reshape(y, TC_DIMS(2, 12)), z), 0);
  }
}

Test(nn, batch_norm) {
  TC_SCOPE {
    tc_tensor *x = layout_make(TC_F64, TC_DIMS(2, 3, 4), LAYOUT_TRANSPOSED, 1),
              *m = layout_make(TC_F64, TC_DIMS(3), LAYOUT_STEPPED, 2);
    tc_tensor *v = tc_abs(layout_make(TC_F64, TC_DIMS(3), LAYOUT_ROW_MAJOR, 3)),
              *w = layout_make(TC_F64, TC_DIMS(3), LAYOUT_FLIPPED, 4);
    tc_tensor *y = tc_batch_norm(x, m, v, w, m, 0.1), *z = tc_batch_norm(x, m, v, NULL, NULL, 0.1);
    tc_ints at = first_index(x);
    do {
      tc_ints c = TC_INTS(at.v[1]);
      double plain = (tc_at(x, at) - tc_at(m, c)) / sqrt(tc_at(v, c) + 0.1);
      cr_assert(near(plain, tc_at(z, at), 1e-14) &&
                near(plain * tc_at(w, c) + tc_at(m, c), tc_at(y, at), 1e-14));
    } while (next_index(&at, x));
  }
}

Test(nn, losses) {
  TC_SCOPE {
    tc_tensor *x = layout_make(TC_F64, TC_DIMS(4, 5), LAYOUT_TRANSPOSED, 1),
              *t = tc_from(TC_DIMS(4), (int64_t[]){0, 4, 2, 2}, TC_I64);
    tc_tensor *each = tc_cross_entropy(x, t, TC_NONE),
              *same = tc_nll(tc_log_softmax(x, 1), t, TC_NONE);
    cr_expect(tc_size(each, 0) == 4 && tc_allclose(each, same, 1e-13, 1e-13));
    cr_expect(near(tc_item(tc_mean(each, TC_ALL, false)), tc_item(tc_cross_entropy(x, t, TC_MEAN)),
                   1e-14));
    cr_expect(
        near(tc_item(tc_sum(each, TC_ALL, false)), tc_item(tc_cross_entropy(x, t, TC_SUM)), 1e-14));
    tc_tensor *row = tc_select(x, 1, 0), *mse = tc_mse(x, tc_unsqueeze(row, 1), TC_MEAN);
    cr_expect(near(tc_item(tc_mean(tc_square(tc_sub(x, tc_unsqueeze(row, 1))), TC_ALL, false)),
                   tc_item(mse), 1e-14));
    tc_tensor *p = tc_sigmoid(x),
              *target = tc_cast(tc_gt_s(tc_rand(TC_DIMS(4, 5), 3, TC_F64), 0.5), TC_F64);
    tc_tensor *bce = tc_neg(
        tc_add(tc_mul(target, tc_log(p)), tc_mul(tc_rsub_s(target, 1), tc_log(tc_rsub_s(p, 1)))));
    cr_expect(tc_allclose(tc_bce_with_logits(x, target, TC_NONE), bce, 1e-9, 1e-9));
    cr_expect_null(tc_error());
  }
}

Test(nn, integers_become_f32) {
  TC_SCOPE {
    tc_tensor *i = tc_arange(4, 0, 1, TC_I32);
    cr_expect_eq(tc_dtype_of(tc_softmax(i, 0)), TC_F32);
    cr_expect_eq(tc_dtype_of(tc_layer_norm(i, 1, NULL, NULL, 1e-5)), TC_F32);
  }
}
