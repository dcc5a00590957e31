/* statistics.h - medians and quantiles, positions in sorted rows, histograms and distances, written with the functions of
 * tcompile.h: docs/programming-model.md lists them.
 *
 * In a compiled function they are inlined.  Called from elsewhere they run op by op.  Shapes or numbers that a function does not
 * take are an error (TC_ERROR_ARGUMENT), with NULL.  An axis may be negative, and a scalar is a row of one, as in
 * tcompile.h; keepdim leaves the axis with size 1; index may be NULL. */
#ifndef TCOMPILE_STATISTICS_H
#define TCOMPILE_STATISTICS_H

#include <tcompile/nn/common.h>
#include <tcompile/library_begin.h>

static inline bool tc_statistics_has(const char *name, const tc_tensor *x, int axis) {
  const int rank = tc_rank(x) > 0 ? tc_rank(x) : 1;
  if (axis < -rank || axis >= rank) tc_fail_as(TC_ERROR_ARGUMENT, "%s: axis %d of %d", name, axis, tc_rank(x));
  return axis >= -rank && axis < rank;
}

static inline int64_t tc_statistics_size(const tc_tensor *x, int axis) { return tc_rank(x) ? tc_size(x, axis) : 1; }

/* Element number k of an axis, which is kept or dropped. */
static inline tc_tensor *tc_statistics_at(const tc_tensor *x, int axis, int64_t k, bool keepdim) {
  if (!tc_rank(x)) return tc_reshape(x, TC_SCALAR_SHAPE);
  tc_tensor *y = tc_slice(x, axis, k, k + 1, 1);
  return keepdim ? y : tc_squeeze(y, axis);
}

/* ---- order statistics ------------------------------------------------------------------------------ */

/* The k-th smallest element along an axis, k from 1 on, and to *index where it lies, i64; NaN is above all others.
 * torch.kthvalue.  Errors: k outside of 1 .. size of the axis. */
static inline tc_tensor *tc_kthvalue(const tc_tensor *x, int64_t k, int axis, bool keepdim, tc_tensor **index) {
  tc_tensor *y = NULL, *place = NULL;
  if (index) *index = NULL;
  if (!x || !tc_statistics_has("tc_kthvalue", x, axis)) return NULL;
  if (k < 1) return TC_NN_FAIL("tc_kthvalue: k is %lld, and counts from 1 on", (long long)k);
  TC_SCOPE {
    const tc_tensor *first = tc_topk(x, k, axis, false, &place);
    y = tc_keep(tc_statistics_at(first, axis, k - 1, keepdim));
    if (index) *index = tc_keep(tc_statistics_at(place, axis, k - 1, keepdim));
  }
  return y;
}

/* The median along an axis, of an even number of elements the lower of the two in the middle, and to *index where it lies,
 * i64.  NaN where one element is.  torch.median.  Errors: an axis without elements. */
static inline tc_tensor *tc_median(const tc_tensor *x, int axis, bool keepdim, tc_tensor **index) {
  tc_tensor *y = NULL, *place = NULL, *most_at = NULL;
  if (index) *index = NULL;
  if (!x || !tc_statistics_has("tc_median", x, axis)) return NULL;
  if (tc_statistics_size(x, axis) < 1) return TC_NN_FAIL("tc_median: the axis has no elements");
  TC_SCOPE {
    const int64_t middle = (tc_statistics_size(x, axis) - 1) / 2;
    const tc_tensor *sorted = tc_sort(x, axis, false, &place);
    const tc_tensor *value = tc_statistics_at(sorted, axis, middle, keepdim);
    const tc_tensor *most = tc_detach(tc_max_with_index(x, TC_AXES(axis), keepdim, &most_at));
    y = tc_keep(tc_where(tc_isnan(most), most, value));
    if (index) *index = tc_keep(tc_where(tc_isnan(most), most_at, tc_statistics_at(place, axis, middle, keepdim)));
  }
  return y;
}

/* The q-quantile along an axis of floating x, 0 <= q <= 1: between the two elements beside place q (n - 1) of the sorted axis,
 * linearly.  NaN where one element is.  torch.quantile with interpolation="linear".  Errors: q; an axis without elements. */
static inline tc_tensor *tc_quantile(const tc_tensor *x, double q, int axis, bool keepdim) {
  tc_tensor *y = NULL, *place = NULL;
  if (!x || !tc_statistics_has("tc_quantile", x, axis)) return NULL;
  if (!(q >= 0 && q <= 1)) return TC_NN_FAIL("tc_quantile: q is %g, and lies between 0 and 1", q);
  if (tc_statistics_size(x, axis) < 1) return TC_NN_FAIL("tc_quantile: the axis has no elements");
  TC_SCOPE {
    const int64_t last = tc_statistics_size(x, axis) - 1;
    const double at = q * (double)last;
    const int64_t below = (int64_t)floor(at), above = below < last ? below + 1 : last;
    const tc_tensor *sorted = tc_sort(x, axis, false, &place);
    const tc_tensor *low = tc_statistics_at(sorted, axis, below, keepdim);
    const tc_tensor *high = tc_statistics_at(sorted, axis, above, keepdim);
    const tc_tensor *most = tc_detach(tc_statistics_at(sorted, axis, last, keepdim));
    y = tc_keep(tc_where(tc_isnan(most), most, tc_lerp(low, high, at - floor(at))));
  }
  return y;
}

/* ---- positions in sorted rows ------------------------------------------------------------------------ */

/* How many elements of a row are below each value (right: or equal to it), i64 of the shape of the values: where they keep
 * the row in ascending order.  sorted[N] with values of any shape, or sorted[..,N] with values[..,M].  NaN is above all
 * others.  Each value is compared with each element.  torch.searchsorted, and with sorted[N] torch.bucketize. */
static inline tc_tensor *tc_searchsorted(const tc_tensor *sorted, const tc_tensor *value, bool right) {
  tc_tensor *y = NULL;
  if (!sorted || !value) return NULL;
  if (tc_rank(sorted) < 1 || (tc_rank(sorted) > 1 && tc_rank(sorted) != tc_rank(value)))
    return TC_NN_FAIL("tc_searchsorted: rows of %d axes for values of %d; both have as many, or the rows 1", tc_rank(sorted),
                      tc_rank(value));
  TC_SCOPE {
    const tc_tensor *row = tc_rank(sorted) > 1 ? tc_unsqueeze(sorted, -2) : sorted, *v = tc_unsqueeze(value, -1);
    const tc_tensor *behind = right ? tc_gt(row, v) : tc_ge(row, v); /* false for NaN */
    y = tc_keep(tc_sum(tc_logical_not(behind), TC_AXES(-1), false));
  }
  return y;
}

/* ---- histograms -------------------------------------------------------------------------------------- */

/* How often each of 0, ..., n - 1 is in index, i32|i64 of any shape: i64[n]; or, with weight of the shape of index, the sum of
 * the weights there, of their dtype.  torch.bincount with a number of bins.  An index outside is an error. */
static inline tc_tensor *tc_bincount(const tc_tensor *index, const tc_tensor *weight, int64_t n) {
  tc_tensor *y = NULL;
  if (!index) return NULL;
  if (weight && tc_rank(weight) != tc_rank(index))
    return TC_NN_FAIL("tc_bincount: weights of %d axes for indices of %d", tc_rank(weight), tc_rank(index));
  TC_SCOPE {
    const tc_tensor *flat = tc_reshape(index, TC_DIMS(-1));
    const tc_tensor *each = weight ? tc_reshape(weight, TC_DIMS(-1)) : tc_ones(TC_DIMS(tc_numel(index)), TC_I64);
    y = tc_keep(tc_scatter_add(tc_zeros(TC_DIMS(n), tc_dtype_of(each)), 0, flat, each));
  }
  return y;
}

/* How many elements of floating x lie in each of n intervals of equal length between low and high, the last with its end: [n] of
 * the dtype of x.  What is outside, and NaN, is not counted.  torch.histc.  Errors: low >= high; n < 1. */
static inline tc_tensor *tc_histc(const tc_tensor *x, int64_t n, double low, double high) {
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (!(low < high) || n < 1) return TC_NN_FAIL("tc_histc: %lld intervals between %g and %g", (long long)n, low, high);
  TC_SCOPE {
    const tc_dtype d = tc_dtype_of(x);
    const tc_tensor *wide = tc_reshape(tc_nn_as(x, tc_nn_wide(d)), TC_DIMS(-1));
    const tc_tensor *inside = tc_logical_and(tc_ge_s(wide, low), tc_le_s(wide, high));
    const tc_tensor *place = tc_div_s(tc_mul_s(tc_sub_s(wide, low), (double)n), high - low);
    const tc_tensor *bin = tc_cast(tc_clamp(tc_masked_fill(place, tc_logical_not(inside), 0), 0, (double)(n - 1)), TC_I64);
    y = tc_keep(tc_cast(tc_bincount(bin, tc_cast(inside, TC_I64), n), d));
  }
  return y;
}

/* ---- distances --------------------------------------------------------------------------------------- */

/* The p-norms of all differences of rows of floating a[..,N,D] and b[..,M,D]: [..,N,M].  torch.cdist, whose default p is 2. */
static inline tc_tensor *tc_cdist(const tc_tensor *a, const tc_tensor *b, double p) {
  tc_tensor *y = NULL;
  if (!a || !b) return NULL;
  if (tc_rank(a) < 2 || tc_rank(b) < 2)
    return TC_NN_FAIL("tc_cdist: rows of %d and %d axes; both have [..,N,D]", tc_rank(a), tc_rank(b));
  TC_SCOPE {
    const tc_tensor *d = tc_sub(tc_unsqueeze(tc_nn_as(a, tc_nn_wide(tc_dtype_of(a))), -2), tc_unsqueeze(b, -3));
    y = tc_keep(tc_cast(tc_norm(d, p, TC_AXES(-1), false), tc_dtype_of(a)));
  }
  return y;
}

#include <tcompile/library_end.h>
#endif
