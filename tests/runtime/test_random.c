/* <tcompile/random.h> and <tcompile/init.h> by the eager library: which numbers, how they are distributed (with fixed seeds,
 * so that a bound holds always or never), what is refused. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include <tcompile/init.h>

enum { N = 200000 };

static const tc_dtype floats[] = {TC_F32, TC_F64, TC_F16, TC_BF16};
enum { FLOATS = 4 };

static bool same(const tc_tensor *a, const tc_tensor *b) {
  return a && b && tc_max_abs_diff(a, b) == 0;
}

/* The error says where the call stands, which is not in a header. */
#define REFUSED(call, text)                                                                        \
  do {                                                                                             \
    tc_clear_error();                                                                              \
    cr_expect_null(call);                                                                          \
    cr_expect(tc_error() && strstr(tc_error(), text) && strstr(tc_error(), "test_random.c:"),      \
              "%s", tc_error() ? tc_error() : "no error");                                         \
    tc_clear_error();                                                                              \
  } while (0)

/* ---- generators -------------------------------------------------------------------------------- */

Test(random, streams_are_taken_in_the_order_of_calls) {
  TC_SCOPE {
    tc_generator g = tc_generator_of(7), copy = g;
    tc_tensor *a = tc_uniform(TC_DIMS(50), 0, 1, TC_F32, &g);
    tc_tensor *b = tc_uniform(TC_DIMS(50), 0, 1, TC_F32, &g);
    cr_expect(!same(a, b));
    cr_expect_eq(g.offset, 2);
    cr_expect(same(a, tc_rand(TC_DIMS(50), tc_next_seed(&copy), TC_F32)), "0 to 1 is tc_rand");
    cr_expect(same(b, tc_uniform(TC_DIMS(50), 0, 1, TC_F32, &copy)), "a copy goes on from there");
    cr_expect_eq(tc_next_seed(&g), tc_next_seed(&copy));
  }
}

Test(random, the_default_generator_is_seeded) {
  TC_SCOPE {
    tc_generator g = tc_generator_of(3);
    tc_manual_seed(3);
    tc_tensor *a = tc_normal(TC_DIMS(50), 0, 1, TC_F32, NULL);
    cr_expect(same(a, tc_normal(TC_DIMS(50), 0, 1, TC_F32, &g)));
    tc_manual_seed(4);
    cr_expect(!same(a, tc_normal(TC_DIMS(50), 0, 1, TC_F32, NULL)));
  }
}

static void *offset_here(void *offset) {
  *(uint64_t *)offset = tc_default_generator.offset;
  return NULL;
}

Test(random, each_thread_has_a_default_generator) {
  uint64_t there = 9;
  pthread_t t;
  tc_manual_seed(1);
  tc_next_seed(NULL);
  pthread_create(&t, NULL, offset_here, &there);
  pthread_join(t, NULL);
  cr_expect_eq(there, 0);
  cr_expect_eq(tc_default_generator.offset, 1);
}

Test(random, seeds_of_neighbours_and_of_parts_are_far_apart) {
  enum { SEEDS = 100, STREAMS = 100 };
  static uint64_t seen[2 * SEEDS * STREAMS];
  int n = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    tc_generator g = tc_generator_of(seed), part = tc_split_generator(&g);
    for (int i = 0; i < STREAMS; i++) {
      seen[n++] = tc_next_seed(&g);
      seen[n++] = tc_next_seed(&part);
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) cr_assert_neq(seen[i], seen[j], "%d and %d", i, j);
}

/* ---- distributions ----------------------------------------------------------------------------- */

/* Of values 0, ..., k - 1, beside what is expected of each; 0 where nothing is expected and nothing came. */
static double chi_square(const tc_tensor *x, int k, const double *expected) {
  const tc_tensor *flat = tc_flatten(tc_cast(x, TC_I64), 0, -1);
  double sum = 0;
  for (int i = 0; i < k; i++) {
    const double seen = tc_item(tc_sum(tc_eq_s(flat, i), TC_ALL, false));
    if (expected[i] > 0) sum += (seen - expected[i]) * (seen - expected[i]) / expected[i];
    else if (seen > 0) return INFINITY;
  }
  return sum;
}

/* With d degrees of freedom: mean d, variance 2 d; four standard deviations. */
static double bound(int d) { return d + 4 * sqrt(2. * d); }

Test(random, uniforms_are_uniform) {
  enum { BINS = 64 };
  double expected[BINS];
  for (int i = 0; i < BINS; i++) expected[i] = (double)N / BINS;
  for (int d = 0; d < FLOATS; d++) TC_SCOPE {
      tc_generator g = tc_generator_of(11);
      tc_tensor *x = tc_uniform(TC_DIMS(N), -3, 5, floats[d], &g);
      cr_assert_eq(tc_dtype_of(x), floats[d]);
      cr_expect(tc_item(tc_min(x, TC_ALL, false)) >= -3 && tc_item(tc_max(x, TC_ALL, false)) <= 5);
      if (floats[d] == TC_BF16) continue; /* too coarse for the bins */
      tc_tensor *bin =
          tc_clamp_max(tc_floor(tc_mul_s(tc_add_s(tc_cast(x, TC_F64), 3), BINS / 8.)), BINS - 1);
      const double chi = chi_square(bin, BINS, expected);
      cr_expect_leq(chi, bound(BINS - 1), "%s: %g", tc_dtype_name(floats[d]), chi);
    }
}

Test(random, equal_ends_are_that_number) {
  TC_SCOPE {
    tc_tensor *x = tc_uniform(TC_DIMS(4), 2.5, 2.5, TC_F32, NULL);
    cr_expect(same(x, tc_full(TC_DIMS(4), 2.5, TC_F32)));
  }
}

static void expect_moments(const tc_tensor *x, double mean, double std, const char *name) {
  const tc_tensor *wide = tc_cast(x, TC_F64);
  const double m = tc_item(tc_mean(wide, TC_ALL, false)),
               s = tc_item(tc_std(wide, TC_ALL, 0, false));
  const double n = (double)tc_numel(x);
  cr_expect_leq(fabs(m - mean), 4 * std / sqrt(n), "%s: mean %g", name, m);
  cr_expect_leq(fabs(s / std - 1), 4 / sqrt(n), "%s: standard deviation %g", name, s);
}

Test(random, normals_have_their_moments) {
  for (int d = 0; d < FLOATS; d++) TC_SCOPE {
      tc_generator g = tc_generator_of(5);
      tc_tensor *x = tc_normal(TC_DIMS(N), 1.5, 0.25, floats[d], &g);
      cr_assert_eq(tc_dtype_of(x), floats[d]);
      expect_moments(x, 1.5, 0.25, tc_dtype_name(floats[d]));
    }
}

Test(random, integers_come_equally_often_in_every_dtype) {
  for (tc_dtype d = 0; d < TC_DTYPE_COUNT; d++) TC_SCOPE {
      tc_generator g = tc_generator_of(2);
      const int low = d == TC_U8 || d == TC_BOOL ? 0 : -3, k = d == TC_BOOL ? 2 : 10;
      double expected[10];
      for (int i = 0; i < k; i++) expected[i] = (double)N / k;
      tc_tensor *x = tc_randint(TC_DIMS(N), low, low + k, d, &g);
      cr_assert_eq(tc_dtype_of(x), d);
      const double chi = chi_square(tc_sub_s(tc_cast(x, TC_I64), low), k, expected);
      cr_expect_leq(chi, bound(k - 1), "%s: %g", tc_dtype_name(d), chi);
    }
}

Test(random, integers_reach_both_ends) {
  TC_SCOPE {
    const int64_t far = INT64_C(1) << 52;
    tc_tensor *x = tc_randint(TC_DIMS(N), -128, 128, TC_I8, NULL);
    cr_expect_eq(tc_item_int(tc_min(x, TC_ALL, false)), -128);
    cr_expect_eq(tc_item_int(tc_max(x, TC_ALL, false)), 127);
    x = tc_randint(TC_DIMS(N), -far, far, TC_I64, NULL);
    cr_expect(tc_item(tc_min(x, TC_ALL, false)) < -0.999 * 0x1p52);
    cr_expect(tc_item(tc_max(x, TC_ALL, false)) > 0.999 * 0x1p52);
    cr_expect(same(tc_randint(TC_DIMS(9), 5, 6, TC_U8, NULL), tc_full(TC_DIMS(9), 5, TC_U8)));
  }
}

Test(random, bernoulli_takes_each_probability) {
  for (int d = 0; d < FLOATS; d++) TC_SCOPE {
      tc_tensor *p = tc_expand(tc_arange(5, 0, 0.25, floats[d]), TC_DIMS(N / 5, 5));
      tc_generator g = tc_generator_of(6);
      tc_tensor *x = tc_bernoulli(p, &g), *share = tc_mean(tc_cast(x, TC_F64), TC_AXES(0), false);
      cr_assert(tc_dtype_of(x) == floats[d] && same(x, tc_square(x)));
      cr_expect(tc_allclose(share, tc_arange(5, 0, 0.25, TC_F64), 0, 4 * 0.5 / sqrt(N / 5)));
      cr_expect_eq(tc_at(share, TC_INTS(0)), 0);
      cr_expect_eq(tc_at(share, TC_INTS(4)), 1);
    }
}

Test(random, bernoulli_in_place_is_of_any_dtype) {
  for (tc_dtype d = 0; d < TC_DTYPE_COUNT; d++) TC_SCOPE {
      tc_generator g = tc_generator_of(6);
      tc_tensor *x = tc_ones(TC_DIMS(N), d);
      cr_assert_eq(tc_bernoulli_(x, 0.3, &g), x);
      const double share = tc_item(tc_sum(tc_cast(x, TC_F64), TC_ALL, false)) / N;
      cr_expect_leq(fabs(share - 0.3), 4 * 0.46 / sqrt(N), "%s: %g", tc_dtype_name(d), share);
    }
}

/* ---- dropout ----------------------------------------------------------------------------------- */

Test(random, dropout_keeps_the_mean) {
  for (int d = 0; d < FLOATS; d++) TC_SCOPE {
      tc_generator g = tc_generator_of(1);
      tc_tensor *x = tc_ones(TC_DIMS(N), floats[d]), *y = tc_dropout(x, 0.2, true, &g);
      const double kept = tc_item(tc_sum(tc_cast(tc_gt_s(y, 0), TC_F64), TC_ALL, false)) / N;
      cr_expect_leq(fabs(kept - 0.8), 4 * 0.4 / sqrt(N), "%s: %g", tc_dtype_name(floats[d]), kept);
      cr_expect_leq(fabs(tc_item(tc_max(y, TC_ALL, false)) - 1.25), 1e-6);
      cr_expect_eq(g.offset, 1);
      cr_expect(same(tc_dropout(x, 0.2, false, &g), x) && g.offset == 1, "none where not training");
      cr_expect(same(tc_dropout(x, 0, true, &g), x));
      cr_expect(same(tc_dropout(x, 1, true, &g), tc_zeros_like(x)));
    }
}

Test(random, the_gradient_of_dropout_has_the_same_mask) {
  for (int d = 0; d < FLOATS; d++) TC_SCOPE {
      tc_generator g = tc_generator_of(1), again = g;
      tc_tensor *x = tc_requires_grad_(tc_ones(TC_DIMS(40, 50), floats[d]), true), *dx;
      tc_tensor *y = tc_dropout(x, 0.3, true, &g);
      cr_assert(tc_grad(tc_sum(y, TC_ALL, false), 1, &x, &dx), "%s", tc_error());
      cr_expect(same(dx, tc_dropout(tc_detach(x), 0.3, true, &again)));
    }
}

/* ---- permutations, samples --------------------------------------------------------------------- */

Test(random, permutations_are_equally_likely) {
  enum { TIMES = 24000 };
  tc_generator g = tc_generator_of(8);
  int seen[256] = {0}, kinds = 0;
  double chi = 0;
  for (int k = 0; k < TIMES; k++) TC_SCOPE {
      const tc_tensor *p = tc_permutation(4, &g);
      const int64_t *v = tc_cdata(p);
      seen[v[0] | v[1] << 2 | v[2] << 4 | v[3] << 6]++;
    }
  for (int i = 0; i < 256; i++)
    if (seen[i]) kinds++, chi += (seen[i] - TIMES / 24.) * (seen[i] - TIMES / 24.) / (TIMES / 24.);
  cr_expect_eq(kinds, 24);
  cr_expect_leq(chi, bound(23), "%g", chi);
}

Test(random, permutations_have_every_number_once) {
  for (int64_t n = 0; n < 40; n++) TC_SCOPE {
      uint64_t seen = 0;
      const tc_tensor *p = tc_randperm(n, (uint64_t)n);
      cr_assert(p && tc_numel(p) == n && tc_dtype_of(p) == TC_I64);
      for (int64_t i = 0; i < n; i++) seen |= UINT64_C(1) << ((const int64_t *)tc_cdata(p))[i];
      cr_expect_eq(seen, (UINT64_C(1) << n) - 1);
    }
}

static const double weights[2][5] = {{1, 2, 0, 5, 2}, {0, 0, 3, 0, 1}};

Test(random, multinomial_samples_in_proportion) {
  for (int d = 0; d < FLOATS; d++) TC_SCOPE {
      tc_generator g = tc_generator_of(4);
      tc_tensor *w = tc_cast(tc_from(TC_DIMS(2, 5), weights, TC_F64), floats[d]);
      tc_tensor *x = tc_multinomial(w, N, true, &g);
      cr_assert(x && tc_dtype_of(x) == TC_I64 && tc_size(x, 0) == 2 && tc_size(x, 1) == N);
      for (int row = 0; row < 2; row++) {
        double expected[5];
        for (int i = 0; i < 5; i++) expected[i] = weights[row][i] * N / (row ? 4 : 10);
        const double chi = chi_square(tc_select(x, 0, row), 5, expected);
        cr_expect_leq(chi, bound(row ? 1 : 3), "%s, row %d: %g", tc_dtype_name(floats[d]), row,
                      chi);
      }
    }
}

/* The second is in proportion among those that the first left: P(1, 3) = 2/10 5/8. */
Test(random, multinomial_without_replacement) {
  TC_SCOPE {
    tc_tensor *w =
        tc_expand(tc_slice(tc_from(TC_DIMS(2, 5), weights, TC_F64), 0, 0, 1, 1), TC_DIMS(N / 4, 5));
    tc_generator g = tc_generator_of(4);
    tc_tensor *x = tc_multinomial(w, 2, false, &g);
    tc_tensor *pair = tc_add(tc_mul_s(tc_select(x, 1, 0), 5), tc_select(x, 1, 1));
    double expected[25] = {0};
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < 5; j++)
        if (i != j)
          expected[5 * i + j] = N / 4 * weights[0][i] / 10 * weights[0][j] / (10 - weights[0][i]);
    const double chi = chi_square(pair, 25, expected);
    cr_expect_leq(chi, bound(11), "%g", chi);
  }
}

Test(random, multinomial_of_one_distribution_and_of_many_axes) {
  TC_SCOPE {
    tc_tensor *one = tc_multinomial(tc_ones(TC_DIMS(3), TC_F32), 7, true, NULL);
    cr_expect(one && tc_rank(one) == 1 && tc_size(one, 0) == 7);
    tc_tensor *three = tc_multinomial(tc_ones(TC_DIMS(2, 4, 3), TC_F32), 3, false, NULL);
    cr_assert(three && tc_rank(three) == 3 && tc_size(three, 1) == 4);
    cr_expect(same(tc_sum(three, TC_AXES(2), false), tc_full(TC_DIMS(2, 4), 3, TC_I64)));
  }
}

/* ---- nothing, and what is refused ---------------------------------------------------------------- */

Test(random, of_no_elements) {
  TC_SCOPE {
    const tc_ints none = TC_DIMS(3, 0);
    cr_expect_eq(tc_numel(tc_uniform(none, 0, 1, TC_F32, NULL)), 0);
    cr_expect_eq(tc_numel(tc_normal(none, 0, 1, TC_BF16, NULL)), 0);
    cr_expect_eq(tc_numel(tc_randint(none, 0, 9, TC_I32, NULL)), 0);
    cr_expect_eq(tc_numel(tc_bernoulli(tc_zeros(none, TC_F32), NULL)), 0);
    cr_expect_eq(tc_numel(tc_dropout(tc_zeros(none, TC_F32), 0.5, true, NULL)), 0);
    cr_expect_eq(tc_numel(tc_multinomial(tc_ones(TC_DIMS(0, 3), TC_F32), 2, false, NULL)), 0);
    cr_expect_eq(tc_numel(tc_kaiming_normal_(tc_zeros(none, TC_F32), 1, TC_FAN_IN, NULL)), 0);
    cr_expect_null(tc_error(), "%s", tc_error());
  }
}

Test(random, errors_name_the_place) {
  TC_SCOPE {
    tc_tensor *x = tc_ones(TC_DIMS(2, 3), TC_F32), *i = tc_ones(TC_DIMS(2, 3), TC_I32);
    const tc_ints dims = TC_DIMS(2);
    REFUSED(tc_dropout(x, 1.25, true, NULL), "tc_dropout: 1.25 is no probability");
    REFUSED(tc_dropout(x, NAN, false, NULL), "tc_dropout: nan is no probability");
    REFUSED(tc_dropout(i, 0.5, true, NULL), "tc_dropout: of floating numbers, not i32");
    REFUSED(tc_dropout(NULL, 0.5, true, NULL), "operand 1 is NULL");
    REFUSED(tc_uniform(dims, 1, 0, TC_F32, NULL), "tc_uniform: from 1 to 0 is no range");
    REFUSED(tc_uniform(dims, 0, INFINITY, TC_F32, NULL), "tc_uniform: from 0 to inf is no range");
    REFUSED(tc_uniform(dims, 0, 1, TC_I32, NULL), "gives floating numbers, not i32");
    REFUSED(tc_normal(dims, 0, -1, TC_F32, NULL), "tc_normal: no distribution has mean 0 and");
    REFUSED(tc_randint(dims, 3, 3, TC_I32, NULL),
            "tc_randint: from 3 up to, not with, 3 is no range of i32");
    REFUSED(tc_randint(dims, 0, 257, TC_U8, NULL), "is no range of u8");
    REFUSED(tc_randint(dims, -129, 0, TC_I8, NULL), "is no range of i8");
    REFUSED(tc_randint(dims, INT64_MIN, INT64_MAX, TC_I64, NULL), "is no range of i64");
    REFUSED(tc_bernoulli_(x, -0.5, NULL), "tc_bernoulli_: -0.5 is no probability");
    REFUSED(tc_randperm(-1, 0), "tc_randperm: ");
    REFUSED(tc_multinomial(x, 0, true, NULL), "tc_multinomial: 0 samples");
    REFUSED(tc_multinomial(x, 4, false, NULL),
            "tc_multinomial: weights are negative, infinite or NaN, or too few");
    REFUSED(tc_multinomial(tc_neg(x), 1, true, NULL), "tc_multinomial: weights are negative");
    REFUSED(tc_multinomial(tc_full_like(x, NAN), 1, true, NULL),
            "tc_multinomial: weights are negative");
    REFUSED(tc_multinomial(tc_zeros_like(x), 1, true, NULL),
            "tc_multinomial: weights are negative");
    REFUSED(tc_xavier_normal_(tc_ones(dims, TC_F32), 1, NULL),
            "tc_xavier_normal_: weights have two axes");
    REFUSED(tc_trunc_normal_(x, 0, 1, 2, 1, NULL), "tc_trunc_normal_: no distribution");
  }
}

/* ---- weights ------------------------------------------------------------------------------------- */

Test(random, weights_have_their_variance) {
  for (int d = 0; d < FLOATS; d++) TC_SCOPE {
      tc_generator g = tc_generator_of(12);
      const char *name = tc_dtype_name(floats[d]);
      tc_tensor *x = tc_requires_grad_(tc_zeros(TC_DIMS(90, 60, 3, 5), floats[d]), true);
      cr_assert_eq(tc_xavier_uniform_(x, 2, &g), x);
      expect_moments(x, 0, 2 * sqrt(2 / (150. * 15)), name);
      cr_assert_eq(tc_xavier_normal_(x, 2, &g), x);
      expect_moments(x, 0, 2 * sqrt(2 / (150. * 15)), name);
      cr_assert_eq(tc_kaiming_uniform_(x, TC_GAIN_RELU, TC_FAN_IN, &g), x);
      expect_moments(x, 0, sqrt(2 / (60. * 15)), name);
      cr_assert_eq(tc_kaiming_normal_(x, tc_gain_leaky_relu(1), TC_FAN_OUT, &g), x);
      expect_moments(x, 0, sqrt(1 / (90. * 15)), name);
      cr_assert_eq(tc_trunc_normal_(x, 0, 1, -2, 2, &g), x);
      expect_moments(x, 0, 0.8796256610342398, name); /* 1 - 4 phi(2) / (2 Phi(2) - 1), its root */
      cr_expect(tc_item(tc_max(x, TC_ALL, false)) <= 2 && tc_item(tc_min(x, TC_ALL, false)) >= -2);
      cr_expect(tc_requires_grad(x) && g.offset == 5);
    }
}

Test(random, erfinv_is_the_inverse) {
  TC_SCOPE {
    tc_tensor *y = tc_arange(19999, -0.9999, 0.0001, TC_F64);
    cr_expect_leq(tc_max_abs_diff(tc_erf(tc_init_erfinv(y)), y), 1e-14);
  }
}
