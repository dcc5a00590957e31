/* pool.h - pooling over windows of one to three axes, channels first: x[N,C,D1..Dk].
 *
 *   tc_tensor *y = tc_max_pool(x, TC_INTS(3), TC_INTS(2), TC_INTS(1), TC_INTS(1), false);
 *
 * size, stride, padding, dilation: one number for all axes, or one for each.  A stride of TC_EMPTY_LIST is the size: windows lie
 * side by side.  Windows of one axis are i stride - padding + j dilation, j < size; there are
 * (D + 2 padding - dilation (size - 1) - 1) / stride + 1 of them, rounded up with ceil_mode, where windows that begin
 * after the last element of x are left out; as in PyTorch.  Errors of all: axes, lists of another length, sizes, strides
 * or dilations less than 1, padding of more than half a window, windows that are larger than x and its padding. */
#ifndef TCOMPILE_NN_POOL_H
#define TCOMPILE_NN_POOL_H

#include <tcompile/nn/common.h>
#include <tcompile/library_begin.h>

typedef struct tc_pool_windows {
  tc_ints size, stride, padding, dilation;
  bool ceil_mode;
} tc_pool_windows;

static inline int64_t tc_pool_extent(const tc_pool_windows *w, int axis) {
  return (tc_nn_of(w->size, axis) - 1) * tc_nn_of(w->dilation, axis) + 1;
}

/* Elements behind x: with ceil_mode as many as the last window that begins in x, or in front, needs. */
static inline int64_t tc_pool_behind(const tc_pool_windows *w, int axis) {
  const int64_t p = tc_nn_of(w->padding, axis), most = tc_pool_extent(w, axis) - 1;
  const int64_t step = p + tc_nn_of(w->stride, axis) - 1;
  return !w->ceil_mode ? p : step < most ? step : most;
}

static inline bool tc_pool_is_list(tc_ints list, int axes) { return list.n == 1 || list.n == axes; }

/* An error under the function's name, or true.  A stride that is left out is set. */
static inline bool tc_pool_checked(const char *name, const tc_tensor *x, tc_pool_windows *w) {
  const int axes = tc_rank(x) - 2;
  if (!x) return false;
  if (w->stride.n == 0) w->stride = w->size;
  if (axes < 1 || axes > 3)
    return TC_NN_FAIL("%s: x has %d axes, which are N, C and 1 to 3 dimensions", name, tc_rank(x));
  if (!tc_pool_is_list(w->size, axes) || !tc_pool_is_list(w->stride, axes) || !tc_pool_is_list(w->padding, axes) ||
      !tc_pool_is_list(w->dilation, axes))
    return TC_NN_FAIL("%s: size, stride, padding and dilation have one number, or %d", name, axes);
  for (int i = 0; i < axes; i++) {
    const int64_t size = tc_nn_of(w->size, i), padding = tc_nn_of(w->padding, i);
    if (size < 1 || tc_nn_of(w->stride, i) < 1 || tc_nn_of(w->dilation, i) < 1 || padding < 0)
      return TC_NN_FAIL("%s: windows of %lld elements, stride %lld, padding %lld, dilation %lld", name, (long long)size,
                        (long long)tc_nn_of(w->stride, i), (long long)padding, (long long)tc_nn_of(w->dilation, i));
    if (2 * padding > tc_pool_extent(w, i))
      return TC_NN_FAIL("%s: padding of %lld is more than half of a window of %lld", name, (long long)padding,
                        (long long)tc_pool_extent(w, i));
  }
  return true;
}

static inline tc_tensor *tc_pool_padded(const tc_tensor *x, const tc_pool_windows *w, double value) {
  tc_ints before = tc_shape(x), after = before;
  bool any = false;
  for (int i = 0; i < before.n; i++) {
    before.v[i] = i < 2 ? 0 : tc_nn_of(w->padding, i - 2);
    after.v[i] = i < 2 ? 0 : tc_pool_behind(w, i - 2);
    any = any || before.v[i] || after.v[i];
  }
  return any ? tc_pad(x, before, after, value) : tc_reshape(x, tc_shape(x));
}

/* What no element is below: it stands around x where the largest are asked for. */
static inline double tc_pool_least(tc_dtype d) {
  switch (d) {
  case TC_BOOL:
  case TC_U8:
    return 0;
  case TC_I8:
    return INT8_MIN;
  case TC_I16:
    return INT16_MIN;
  case TC_I32:
    return INT32_MIN;
  case TC_I64:
    return (double)INT64_MIN;
  default:
    return -INFINITY;
  }
}

/* The windows of axis 2 + i: it numbers them, and a new last axis runs through one. */
static inline tc_tensor *tc_pool_unfolded(const tc_tensor *x, const tc_pool_windows *w, int i) {
  tc_tensor *y = tc_unfold(x, 2 + i, tc_pool_extent(w, i), tc_nn_of(w->stride, i));
  const int64_t dilation = tc_nn_of(w->dilation, i);
  return dilation == 1 ? y : tc_slice(y, -1, 0, INT64_MAX, dilation);
}

/* ---- the largest element ----------------------------------------------------------------------- */

/* Places [..] in windows of axis 2 + i, those in the padding in front being that of the first element behind it: where all
 * that a window has of x equals the padding. */
static inline tc_tensor *tc_pool_inside(tc_tensor *in_window, const tc_pool_windows *w, int i) {
  const int64_t dilation = tc_nn_of(w->dilation, i), padding = tc_nn_of(w->padding, i);
  if (padding == 0) return in_window;
  const tc_tensor *lacking = tc_arange(tc_size(in_window, 2 + i), (double)(padding + dilation - 1),
                                       (double)-tc_nn_of(w->stride, i), TC_I64);
  const tc_tensor *first = tc_floor_div(tc_clamp_min(lacking, 0), tc_scalar_int(dilation));
  return tc_maximum(in_window, tc_nn_along(first, 2 + i, tc_rank(in_window)));
}

/* Of places [..] in windows of axis 2 + i, the place in x's axis. */
static inline tc_tensor *tc_pool_place(const tc_tensor *in_window, const tc_pool_windows *w, int i) {
  const tc_tensor *first = tc_arange(tc_size(in_window, 2 + i), (double)-tc_nn_of(w->padding, i),
                                     (double)tc_nn_of(w->stride, i), TC_I64);
  return tc_add(tc_mul_s(in_window, (double)tc_nn_of(w->dilation, i)), tc_nn_along(first, 2 + i, tc_rank(in_window)));
}

/* Of each window's `index`, [..,size], the one at place `at`. */
static inline tc_tensor *tc_pool_chosen(const tc_tensor *index, const tc_tensor *at) {
  const tc_tensor *here = tc_eq(tc_arange(tc_size(index, -1), 0, 1, TC_I64), tc_unsqueeze(at, -1));
  return tc_sum(tc_mul(index, here), TC_AXES(-1), false);
}

/* The largest element of each window, [N,C,O1..Ok]; and to *index, where index is not NULL, where it lies, i64, in
 * row-major order of x's D1..Dk: the first of equals, to which the gradient goes.  NaN is the largest. */
static inline tc_tensor *tc_max_pool_with_index(const tc_tensor *x, tc_ints size, tc_ints stride, tc_ints padding,
                                                tc_ints dilation, bool ceil_mode, tc_tensor **index) {
  tc_tensor *y = NULL;
  tc_pool_windows w = {size, stride, padding, dilation, ceil_mode};
  if (index) *index = NULL;
  if (!tc_pool_checked("tc_max_pool", x, &w)) return NULL;
  TC_SCOPE {
    tc_tensor *z = tc_pool_padded(x, &w, tc_pool_least(tc_dtype_of(x))), *place = NULL;
    int64_t step = 1;
    for (int i = tc_rank(x) - 3; i >= 0; i--) { /* the last axis first, so that first of equals is that of rows */
      tc_tensor *at;
      z = tc_max_with_index(tc_pool_unfolded(z, &w, i), TC_AXES(-1), false, &at);
      at = tc_pool_inside(at, &w, i);
      const tc_tensor *here = tc_mul_s(tc_pool_place(at, &w, i), (double)step);
      place = place ? tc_add(here, tc_pool_chosen(tc_pool_unfolded(place, &w, i), at)) : tc_add_s(here, 0);
      step *= tc_size(x, 2 + i);
    }
    if (index) *index = tc_keep(place);
    y = tc_keep(z);
  }
  return y;
}

/* The largest element of each window, as of tc_max_pool_with_index. */
static inline tc_tensor *tc_max_pool(const tc_tensor *x, tc_ints size, tc_ints stride, tc_ints padding, tc_ints dilation,
                                     bool ceil_mode) {
  tc_tensor *y = NULL;
  tc_pool_windows w = {size, stride, padding, dilation, ceil_mode};
  if (!tc_pool_checked("tc_max_pool", x, &w)) return NULL;
  TC_SCOPE {
    tc_tensor *z = tc_pool_padded(x, &w, tc_pool_least(tc_dtype_of(x)));
    for (int i = tc_rank(x) - 3; i >= 0; i--) {
      tc_tensor *at; /* nobody reads it, but the gradient goes there */
      z = tc_max_with_index(tc_pool_unfolded(z, &w, i), TC_AXES(-1), false, &at);
    }
    y = tc_keep(z);
  }
  return y;
}

/* Zeros of sizes [N,C,size...], but x[N,C,O1..Ok] where index says (tc_max_pool_with_index); where it says so more than once,
 * the last one, which alone has a gradient then.  Errors: an index that is outside, or has not the shape of x. */
static inline tc_tensor *tc_max_unpool(const tc_tensor *x, const tc_tensor *index, tc_ints size) {
  tc_tensor *y = NULL;
  if (!x || !index) return NULL;
  if (tc_rank(x) < 3 || tc_rank(index) != tc_rank(x) || size.n != tc_rank(x) - 2)
    return TC_NN_FAIL("tc_max_unpool: x has %d axes, index %d, and there are %d sizes", tc_rank(x), tc_rank(index), size.n);
  for (int i = 0; i < tc_rank(x); i++)
    if (tc_size(index, i) != tc_size(x, i))
      return TC_NN_FAIL("tc_max_unpool: axis %d of index has %lld elements, of x %lld", i, (long long)tc_size(index, i),
                        (long long)tc_size(x, i));
  TC_SCOPE {
    const int last = tc_rank(x) - 1;
    tc_ints dims = tc_shape(x);
    int64_t points = 1;
    for (int i = 0; i < size.n; i++) points *= dims.v[2 + i] = size.v[i];
    const tc_tensor *none = tc_expand(tc_slice(tc_zeros_like(tc_flatten(x, 2, last)), 2, 0, 1, 1),
                                      TC_DIMS(tc_size(x, 0), tc_size(x, 1), points));
    y = tc_keep(tc_reshape(tc_scatter(none, 2, tc_flatten(index, 2, last), tc_flatten(x, 2, last)), dims));
  }
  return y;
}

/* ---- sums -------------------------------------------------------------------------------------- */

/* Over the windows of all axes: [N,C,O1..Ok]. */
static inline tc_tensor *tc_pool_sum(const tc_tensor *x, const tc_pool_windows *w) {
  tc_ints axes = TC_EMPTY_LIST;
  tc_tensor *z = tc_pool_padded(x, w, 0);
  for (axes.n = 0; axes.n < tc_rank(x) - 2; axes.n++) {
    z = tc_pool_unfolded(z, w, axes.n);
    axes.v[axes.n] = -1 - axes.n;
  }
  return tc_sum(z, axes, false);
}

/* How many elements of axis 2 + i, with the padding or without it, each window has. */
static inline tc_tensor *tc_pool_count(const tc_tensor *x, const tc_tensor *sums, const tc_pool_windows *w, int i,
                                       bool include_padding, tc_dtype dtype) {
  const int64_t p = tc_nn_of(w->padding, i), edge = include_padding ? p : 0;
  const tc_tensor *first = tc_arange(tc_size(sums, 2 + i), (double)-p, (double)tc_nn_of(w->stride, i), dtype);
  const tc_tensor *end = tc_minimum_s(tc_add_s(first, (double)tc_nn_of(w->size, i)), (double)(tc_size(x, 2 + i) + edge));
  return tc_nn_along(tc_sub(end, tc_maximum_s(first, (double)-edge)), 2 + i, tc_rank(x));
}

/* The mean of each window, of floating x: of what it has of x and, with include_padding (PyTorch's count_include_pad,
 * default true), zeros beside.  What ceil_mode adds behind that is not counted. */
static inline tc_tensor *tc_avg_pool(const tc_tensor *x, tc_ints size, tc_ints stride, tc_ints padding, bool ceil_mode,
                                     bool include_padding) {
  tc_tensor *y = NULL;
  tc_pool_windows w = {size, stride, padding, TC_INTS(1), ceil_mode};
  if (!tc_pool_checked("tc_avg_pool", x, &w)) return NULL;
  TC_SCOPE {
    const tc_dtype wide = tc_nn_wide(tc_dtype_of(x));
    tc_tensor *z = tc_pool_sum(tc_nn_as(x, wide), &w);
    double all = 1;
    bool equal = true;
    for (int i = 0; i < tc_rank(x) - 2; i++) {
      all *= (double)tc_nn_of(w.size, i);
      equal = equal && !ceil_mode && (include_padding || tc_nn_of(w.padding, i) == 0);
    }
    if (equal) z = tc_mul_s(z, 1 / all);
    for (int i = 0; !equal && i < tc_rank(x) - 2; i++) z = tc_div(z, tc_pool_count(x, z, &w, i, include_padding, wide));
    y = tc_keep(tc_cast(z, tc_dtype_of(x)));
  }
  return y;
}

/* (sum x^p)^(1/p) of each window, of floating x.  The sum has to be positive: its root is NaN, or 0 without a gradient.
 * As in PyTorch, what an incomplete window (ceil_mode) lacks counts as the mean of what it has. */
static inline tc_tensor *tc_lp_pool(const tc_tensor *x, double p, tc_ints size, tc_ints stride, bool ceil_mode) {
  tc_tensor *y = NULL;
  tc_pool_windows w = {size, stride, TC_INTS(0), TC_INTS(1), ceil_mode};
  if (p == 0) return TC_NN_FAIL("tc_lp_pool: there is no norm of p = 0");
  if (!tc_pool_checked("tc_lp_pool", x, &w)) return NULL;
  TC_SCOPE {
    const tc_tensor *wide = tc_nn_as(x, tc_nn_wide(tc_dtype_of(x)));
    const tc_tensor *mean = tc_avg_pool(p == 2 ? tc_square(wide) : tc_pow_s(wide, p), size, stride, TC_INTS(0), ceil_mode, true);
    double all = 1;
    for (int i = 0; i < tc_rank(x) - 2; i++) all *= (double)tc_nn_of(size, i);
    const tc_tensor *sum = tc_mul_s(mean, all);
    y = tc_keep(tc_cast(p == 2 ? tc_sqrt(sum) : tc_pow_s(sum, 1 / p), tc_dtype_of(x)));
  }
  return y;
}

/* ---- as many windows as are asked for ---------------------------------------------------------- */

/* In equal parts. */
static inline tc_tensor *tc_adaptive_even(const tc_tensor *x, tc_ints size, bool max) {
  const int axes = tc_rank(x) - 2;
  tc_ints dims = tc_shape(x), inside = TC_EMPTY_LIST;
  dims.n += axes;
  inside.n = axes;
  for (int i = 0; i < axes; i++) {
    dims.v[2 + 2 * i] = tc_nn_of(size, i);
    dims.v[3 + 2 * i] = tc_size(x, 2 + i) / tc_nn_of(size, i);
    inside.v[i] = 3 + 2 * i;
  }
  const tc_tensor *parts = tc_reshape(x, dims);
  return max ? tc_max(parts, inside, false) : tc_mean(parts, inside, false);
}

/* One axis in n windows that may overlap: by gathering, with what is too much masked. */
static inline tc_tensor *tc_adaptive_uneven(const tc_tensor *x, int axis, int64_t n, bool max) {
  const int64_t length = tc_size(x, axis), most = (length + n - 1) / n + 1;
  const tc_tensor *edge = tc_mul_s(tc_arange(n, 0, 1, TC_I64), (double)length), *by = tc_scalar_int(n);
  const tc_tensor *first = tc_unsqueeze(tc_floor_div(edge, by), -1);
  const tc_tensor *end = tc_unsqueeze(tc_floor_div(tc_add_s(edge, (double)(length + n - 1)), by), -1);
  const tc_tensor *index = tc_add(first, tc_arange(most, 0, 1, TC_I64)); /* [n,most] */
  tc_ints dims = tc_shape(x), seen = TC_EMPTY_LIST;
  dims.n++;
  seen.n = dims.n;
  for (int i = dims.n - 1; i > axis + 1; i--) dims.v[i] = dims.v[i - 1];
  dims.v[axis] = n;
  dims.v[axis + 1] = most;
  for (int i = 0; i < seen.n; i++) seen.v[i] = i == axis ? n : i == axis + 1 ? most : 1;
  const tc_tensor *flat = tc_reshape(tc_minimum_s(index, (double)(length - 1)), TC_DIMS(n * most));
  const tc_tensor *z = tc_reshape(tc_index_select(x, axis, flat), dims);
  const tc_tensor *mask = tc_reshape(tc_lt(index, end), seen);
  if (max) return tc_max(tc_where(mask, z, tc_full_like(z, -INFINITY)), TC_AXES(axis + 1), false);
  seen.n--;
  seen.v[axis + 1] = 1;
  const tc_tensor *sum = tc_sum(tc_where(mask, z, tc_zeros_like(z)), TC_AXES(axis + 1), false);
  return tc_div(sum, tc_cast(tc_nn_along(tc_squeeze(tc_sub(end, first), -1), axis, tc_rank(x)), tc_dtype_of(x)));
}

static inline tc_tensor *tc_adaptive_pool(const char *name, const tc_tensor *x, tc_ints size, bool max) {
  const int axes = tc_rank(x) - 2;
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (axes < 1 || axes > 3 || !tc_pool_is_list(size, axes))
    return TC_NN_FAIL("%s: x has %d axes, which are N, C and 1 to 3 dimensions, and there are %d sizes", name, tc_rank(x),
                      size.n);
  bool even = true;
  for (int i = 0; i < axes; i++) {
    if (tc_nn_of(size, i) < 1 || tc_size(x, 2 + i) < 1)
      return TC_NN_FAIL("%s: %lld windows of %lld elements", name, (long long)tc_nn_of(size, i), (long long)tc_size(x, 2 + i));
    even = even && tc_size(x, 2 + i) % tc_nn_of(size, i) == 0;
  }
  TC_SCOPE {
    const tc_tensor *z = tc_nn_as(x, tc_nn_wide(tc_dtype_of(x)));
    if (even) z = tc_adaptive_even(z, size, max);
    for (int i = 0; !even && i < axes; i++) z = tc_adaptive_uneven(z, 2 + i, tc_nn_of(size, i), max);
    y = tc_keep(tc_cast(z, tc_dtype_of(x)));
  }
  return y;
}

/* The mean of each of size windows: [N,C,size...].  Window i of an axis of D elements is D i / size, rounded down, up to
 * D (i + 1) / size, rounded up: parts where size divides D; TC_INTS(1) is the mean of all. */
static inline tc_tensor *tc_adaptive_avg_pool(const tc_tensor *x, tc_ints size) {
  return tc_adaptive_pool("tc_adaptive_avg_pool", x, size, false);
}

/* Likewise the largest element; of equals each has its part of the gradient. */
static inline tc_tensor *tc_adaptive_max_pool(const tc_tensor *x, tc_ints size) {
  return tc_adaptive_pool("tc_adaptive_max_pool", x, size, true);
}

#include <tcompile/library_end.h>
#endif
