/* tcompile/statistics.h. */
#define NN_STATISTICS
#define NN_WAYS 2 /* in 16 bits elements would become equal */
#include "nn.h"

#include <tcompile/statistics.h>

#define M "f32[N,D]"

static inline tc_tensor *sorted(const tc_tensor *x) { return tc_sort(x, -1, false, NULL); }
static inline tc_tensor *median_at(const tc_tensor *x) {
  tc_tensor *index, *y = tc_median(x, 0, true, &index);
  return y ? index : NULL;
}

NN1(kth, 1, M, tc_kthvalue(a, 2, -1, false, NULL))
NN1(middle, 1, M, tc_median(a, 1, true, NULL))
NN1(middle_at, 0, M, median_at(a))
NN1(middle_one, 1, "f32[]", tc_median(a, 0, false, NULL))
NN1(kth_one, 1, "f32[]", tc_kthvalue(a, 1, -1, true, NULL))
NN1(quantile_one, 1, "f32[]", tc_quantile(a, 0.3, -1, false))
NN1(quantile, 1, M, tc_quantile(a, 0.3, 0, false))
NN1(largest, 1, M, tc_quantile(a, 1, 1, true))
NN2(places, 0, "i64[B,N]", "i64[B,K]", tc_searchsorted(sorted(a), b, false))
NN2(buckets, 0, "i64[N]", "i64[B,K]", tc_searchsorted(sorted(a), b, true))
NN1(counts, 0, "i64[N,D]", tc_bincount(a, NULL, 6))
NN2(shares, 1, "f32[N]", "i64[N]", tc_bincount(b, a, 6))
NN1(histogram, 0, "i64[N,D]", tc_histc(tc_cast(a, TC_F32), 4, 1, 7))
NN2(distances, 2, "f32[B,N,D]", "f32[B,K,D]", tc_cdist(a, b, 2))
NN2(sums_of_distances, 2, M, "f32[K,D]", tc_cdist(a, b, 1))

static const nn_function functions[] = {
    NN_ROW(kth),     NN_ROW(middle), NN_ROW(middle_at), NN_ROW(quantile),  NN_ROW(largest),   NN_ROW(places),
    NN_ROW(buckets), NN_ROW(counts), NN_ROW(shares),    NN_ROW(histogram), NN_ROW(distances), NN_ROW(sums_of_distances),
    NN_ROW(middle_one), NN_ROW(kth_one), NN_ROW(quantile_one),
};

TC_COMPILE_WITH("fullgraph") static bool with_nan(NN_OPERAND(x, M), tc_tensor **y, tc_tensor **index) {
  y[0] = tc_median(x, 1, false, &index[0]);
  y[1] = tc_kthvalue(x, 3, 1, false, &index[1]);
  y[2] = tc_quantile(x, 0.5, 1, false);
  y[3] = tc_searchsorted(sorted(tc_slice(x, 0, 0, 1, 1)), tc_slice(x, 0, 1, 2, 1), false);
  y[4] = tc_histc(x, 2, 0, 2);
  return y[0] && y[1] && y[2] && y[3] && y[4];
}

/* A NaN makes a median and a quantile NaN, is behind all numbers in a row, and in no interval. */
static void check_nan(void) {
  const float data[] = {3, 1, 2, 0, 1, NAN, 0.5, 2};
  for (int on = 0; on < 2; on++) TC_SCOPE {
    tc_tensor *y[5], *index[2];
    tc_set_enabled(on);
    CHECK(with_nan(tc_from(TC_DIMS(2, 4), data, TC_F32), y, index));
    CHECK(tc_at(y[0], TC_INTS(0)) == 1 && isnan(tc_at(y[0], TC_INTS(1))) && tc_at(index[0], TC_INTS(0)) == 1 && tc_at(index[0], TC_INTS(1)) == 1);
    CHECK(tc_at(y[1], TC_INTS(0)) == 2 && tc_at(y[1], TC_INTS(1)) == 2 && tc_at(index[1], TC_INTS(1)) == 3);
    CHECK(tc_at(y[2], TC_INTS(0)) == 1.5 && isnan(tc_at(y[2], TC_INTS(1))));
    CHECK(tc_at(y[3], TC_INTS(0, 0)) == 1 && tc_at(y[3], TC_INTS(0, 1)) == 4);
    CHECK(tc_at(y[4], TC_INTS(0)) == 2 && tc_at(y[4], TC_INTS(1)) == 4);
  }
  tc_set_enabled(true);
}

static void check_refused(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(3, 5), TC_F32), *none = tc_zeros(TC_DIMS(3, 0), TC_F32), *i = tc_zeros(TC_DIMS(3), TC_I64);
    nn_refused(tc_kthvalue(x, 0, 1, false, NULL), "tc_kthvalue: k is 0");
    nn_refused(tc_kthvalue(x, 6, 1, false, NULL), "topk");
    nn_refused(tc_median(x, 2, false, NULL), "tc_median: axis 2 of 2");
    nn_refused(tc_median(tc_scalar(2.0), 1, false, NULL), "tc_median: axis 1 of 0");
    nn_refused(tc_median(none, 1, false, NULL), "tc_median: the axis has no elements");
    nn_refused(tc_quantile(x, 1.5, 1, false), "tc_quantile: q is 1.5");
    nn_refused(tc_searchsorted(x, i, false), "tc_searchsorted: rows of 2 axes for values of 1");
    nn_refused(tc_bincount(i, x, 3), "tc_bincount: weights of 2 axes");
    nn_refused(tc_histc(x, 3, 1, 1), "tc_histc: 3 intervals");
    nn_refused(tc_cdist(x, i, 2), "tc_cdist: rows of 2 and 1 axes");
  }
}

int main(void) {
  NN_CHECK(statistics, functions);
  check_nan();
  check_refused();
  return 0;
}
