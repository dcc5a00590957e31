/* Reductions and scans over every combination of axes, against plain loops over tc_at. */
#include <criterion/criterion.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include <tcompile.h>

#include "layouts.h"

typedef struct sums {
  double sum, prod, max, min, squares, exps;
  int64_t n, argmax;
  bool any, all;
} sums;

/* All reductions of the elements whose kept axes are at `at`, straight from the definition. */
static sums reduce_at(const tc_tensor *x, unsigned mask, tc_ints at) {
  sums s = {0, 1, -(double)INFINITY, (double)INFINITY, 0, 0, 0, 0, false, true};
  tc_ints k = first_index(x);
  do {
    bool here = true;
    for (int i = 0; i < k.n; i++) here &= (mask >> i & 1) || k.v[i] == at.v[i];
    if (!here) continue;
    double v = tc_at(x, k);
    s.sum += v;
    s.prod *= v;
    s.squares += v * v;
    s.exps += exp(v);
    if (v > s.max) s.argmax = s.n;
    s.max = fmax(s.max, v);
    s.min = fmin(s.min, v);
    s.any |= v != 0;
    s.all &= v != 0;
    s.n++;
  } while (next_index(&k, x));
  return s;
}

static bool near(double want, double got, double tolerance) {
  return fabs(want - got) <= tolerance * (1 + fabs(want));
}

static double tolerance(tc_dtype d) {
  return d == TC_F16 ? 1e-3 : d == TC_BF16 ? 8e-3 : d == TC_F64 ? 1e-13 : 1e-6;
}

static tc_ints axes_of(unsigned mask, int rank) {
  tc_ints a = {0};
  for (int i = 0; i < rank; i++)
    if (mask >> i & 1) a.v[a.n++] = i % 2 ? i - rank : i; /* some of them negative */
  return a;
}

static void check(const tc_tensor *x, unsigned mask) {
  tc_ints axes = axes_of(mask, tc_rank(x));
  tc_dtype d = tc_dtype_of(x);
  tc_tensor *sum = tc_sum(x, axes, true), *prod = tc_prod(tc_clamp(x, -2, 2), axes, true);
  tc_tensor *max = tc_max(x, axes, true), *min = tc_min(x, axes, true),
            *mean = tc_mean(x, axes, true);
  tc_tensor *any = tc_any(x, axes, true), *all = tc_all(x, axes, true),
            *norm = tc_norm(x, 2, axes, true);
  tc_tensor *lse = tc_logsumexp(x, axes, true), *var = tc_var(x, axes, 0, true);
  cr_assert_not_null(var, "%s", tc_error());
  tc_tensor *flat = tc_sum(x, axes, false);
  cr_assert_eq(tc_rank(flat), tc_rank(x) - axes.n);
  cr_assert_eq(
      tc_max_abs_diff(tc_reshape(sum, (tc_ints){1, {-1}}), tc_reshape(flat, (tc_ints){1, {-1}})),
      0);
  tc_ints at = first_index(sum);
  double t = tolerance(d);
  do {
    sums s = reduce_at(x, mask, at);
    double m = s.sum / (double)s.n;
    cr_assert(near(s.sum, tc_at(sum, at), t));
    cr_assert(tc_at(max, at) == s.max && tc_at(min, at) == s.min);
    cr_assert(near(m, tc_at(mean, at), t));
    cr_assert(tc_at(any, at) == s.any && tc_at(all, at) == s.all);
    cr_assert(near(sqrt(s.squares), tc_at(norm, at), t));
    cr_assert(near(log(s.exps), tc_at(lse, at), t));
    cr_assert(near(s.squares / (double)s.n - m * m, tc_at(var, at), t * 50));
  } while (next_index(&at, sum));
  (void)prod;
}

Test(reduce, every_mask_layout_and_dtype) {
  for (int d = TC_U8; d < TC_DTYPE_COUNT; d++)
    for (int l = 0; l < LAYOUT_COUNT; l++)
      for (unsigned mask = 1; mask < 8; mask++) TC_SCOPE {
          check(layout_make((tc_dtype)d, TC_DIMS(3, 4, 17), (layout)l, 5), mask);
        }
}

Test(reduce, no_axes_means_all_and_rank_0) {
  TC_SCOPE {
    tc_tensor *x = tc_arange(24, 0, 1, TC_F32), *y = tc_reshape(x, TC_DIMS(2, 3, 4));
    cr_expect_eq(tc_item(tc_sum(y, TC_ALL, false)), 276);
    cr_expect_eq(tc_rank(tc_sum(y, TC_ALL, true)), 3);
    tc_tensor *s = tc_full(TC_SCALAR_SHAPE, 3, TC_F32);
    cr_expect(tc_item(tc_sum(s, TC_ALL, false)) == 3 &&
              tc_item_int(tc_argmax(s, TC_ALL, false)) == 0);
    cr_expect_null(tc_sum(y, TC_AXES(0, 0), false));
    cr_expect(strstr(tc_error(), "twice"));
    tc_clear_error();
    cr_expect_null(tc_sum(y, TC_AXES(3), false));
    cr_expect(strstr(tc_error(), "axis 3"));
  }
}

Test(reduce, dtypes_of_results) {
  TC_SCOPE {
    tc_tensor *i = tc_ones(TC_DIMS(5), TC_I8), *b = tc_ones(TC_DIMS(5), TC_BOOL),
              *h = tc_ones(TC_DIMS(5), TC_F16);
    cr_expect(tc_dtype_of(tc_sum(i, TC_ALL, false)) == TC_I64 &&
              tc_item(tc_sum(b, TC_ALL, false)) == 5);
    cr_expect(tc_dtype_of(tc_mean(i, TC_ALL, false)) == TC_F32 &&
              tc_dtype_of(tc_max(i, TC_ALL, false)) == TC_I8);
    cr_expect(tc_dtype_of(tc_sum(h, TC_ALL, false)) == TC_F16 &&
              tc_dtype_of(tc_cumsum(b, 0)) == TC_I64);
  }
}

Test(reduce, argument_of_the_extremum) {
  double v[] = {3, 7, -2, 7, -2, 0};
  for (int d = TC_I8; d < TC_DTYPE_COUNT; d++) TC_SCOPE {
      tc_tensor *x = tc_cast(tc_from(TC_DIMS(2, 3), v, TC_F64), (tc_dtype)d);
      cr_expect_eq(tc_item_int(tc_argmax(x, TC_ALL, false)), 1);
      cr_expect_eq(tc_item_int(tc_argmin(x, TC_ALL, false)), 2);
      tc_tensor *rows = tc_argmax(x, TC_AXES(1), false),
                *columns = tc_argmin(tc_flip(x, TC_AXES(0)), TC_AXES(0), true);
      cr_expect(tc_at(rows, TC_INTS(0)) == 1 && tc_at(rows, TC_INTS(1)) == 0);
      cr_expect(tc_at(columns, TC_INTS(0, 0)) == 1 && tc_at(columns, TC_INTS(0, 1)) == 0 &&
                tc_at(columns, TC_INTS(0, 2)) == 1);
    }
}

Test(reduce, moments_and_norms) {
  TC_SCOPE {
    tc_tensor *x = tc_from(TC_DIMS(4), (double[]){1, -2, 0, 4}, TC_F64);
    cr_expect(near(6.25, tc_item(tc_var(x, TC_ALL, 1, false)), 1e-15));
    cr_expect(near(2.5, tc_item(tc_std(x, TC_ALL, 1, false)), 1e-15));
    cr_expect_eq(tc_item(tc_norm(x, (double)INFINITY, TC_ALL, false)), 4);
    cr_expect_eq(tc_item(tc_norm(x, -(double)INFINITY, TC_ALL, false)), 0);
    cr_expect_eq(tc_item(tc_norm(x, 0, TC_ALL, false)), 3);
    cr_expect_eq(tc_item(tc_norm(x, 1, TC_ALL, false)), 7);
    cr_expect(near(cbrt(73), tc_item(tc_norm(x, 3, TC_ALL, false)), 1e-15));
    cr_expect(isinf(tc_item(tc_var(tc_slice(x, 0, 0, 2, 1), TC_ALL, 2, false))));
    cr_expect(isnan(tc_item(tc_var(tc_slice(x, 0, 0, 1, 1), TC_ALL, 1, false))));
    tc_tensor *inf = tc_full(TC_DIMS(3), -(double)INFINITY, TC_F32);
    cr_expect_eq(tc_item(tc_logsumexp(inf, TC_ALL, false)), -(double)INFINITY);
  }
}

Test(reduce, scans) {
  for (int d = TC_I16; d < TC_DTYPE_COUNT; d++)
    for (int l = 0; l < LAYOUT_COUNT; l++)
      for (int axis = 0; axis < 2; axis++) TC_SCOPE {
          tc_tensor *x = layout_make((tc_dtype)d, TC_DIMS(6, 5), (layout)l, 4),
                    *y = tc_cumsum(x, axis);
          tc_ints at = first_index(x);
          do {
            double sum = 0;
            for (tc_ints k = at; k.v[axis] >= 0; k.v[axis]--) sum += tc_at(x, k);
            cr_assert(near(sum, tc_at(y, at), tolerance((tc_dtype)d)));
          } while (next_index(&at, x));
          tc_tensor *last = tc_select(tc_cumprod(x, axis), axis, -1),
                    *prod = tc_prod(x, TC_AXES(axis), false);
          cr_assert_eq(tc_max_abs_diff(last, prod), 0);
        }
}

Test(reduce, threads_do_not_change_a_bit) {
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(7, 100003), 3, TC_F32);
    tc_tensor *want[3], *got[3];
    for (int threads = 1; threads <= 7; threads += 3) {
      omp_set_num_threads(threads);
      got[0] = tc_sum(x, TC_ALL, false);
      got[1] = tc_sum(x, TC_AXES(0), false);
      got[2] = tc_softmax(x, 1);
      for (int i = 0; i < 3; i++) {
        if (threads == 1) want[i] = got[i];
        cr_expect_eq(memcmp(tc_cdata(want[i]), tc_cdata(got[i]), (size_t)tc_numel(got[i]) * 4), 0);
      }
    }
  }
}

Test(reduce, f32_sums_do_not_drift) {
  TC_SCOPE {
    tc_tensor *x = tc_full(TC_DIMS(3000000), 0.1, TC_F32);
    cr_expect_eq(tc_item(tc_sum(x, TC_ALL, false)), (double)(float)(3000000 * (double)0.1f));
  }
}
