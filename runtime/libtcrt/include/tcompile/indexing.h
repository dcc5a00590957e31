/* indexing.h - elements at places that several tensors of indices name together, rows that are added or written at indices, the
 * places of triangles, and differences of neighbours, written with the functions of tcompile.h: docs/programming-model.md lists
 * them.
 *
 * In a compiled function they are inlined.  Called from elsewhere they run op by op.  Shapes or numbers that a function does not
 * take are an error (TC_ERROR_ARGUMENT), with NULL.  An axis may be negative. */
#ifndef TCOMPILE_INDEXING_H
#define TCOMPILE_INDEXING_H

#include <tcompile/nn/common.h>
#include <tcompile/library_begin.h>

static inline int tc_indexing_from_front(const tc_tensor *x, int axis) { return axis < 0 ? axis + tc_rank(x) : axis; }

/* Whether x has n axes from `axis` on. */
static inline bool tc_indexing_has(const char *name, const tc_tensor *x, int axis, int n) {
  const int first = tc_indexing_from_front(x, axis);
  const bool has = n >= 1 && first >= 0 && first <= tc_rank(x) - n;
  if (!has) tc_fail_as(TC_ERROR_ARGUMENT, "%s: %d axes from axis %d of %d on", name, n, axis, tc_rank(x));
  return has;
}

static inline bool tc_indexing_are_indices(const char *name, const tc_tensor *const *index, int n) {
  for (int k = 0; k < n; k++) {
    if (!index[k]) return false;
    const tc_dtype d = tc_dtype_of(index[k]);
    if (d != TC_I32 && d != TC_I64)
      return TC_NN_FAIL("%s: index %d is %s, not i32 or i64", name, k, tc_dtype_name(d)) != NULL;
  }
  return true;
}

/* Indices of an axis of `size` elements, where negative ones are counted from its end; what is outside stays as it is. */
static inline tc_tensor *tc_indexing_wrapped(const tc_tensor *index, int64_t size) {
  const tc_tensor *wide = tc_nn_as(index, TC_I64);
  const tc_tensor *from_end = tc_logical_and(tc_lt_s(wide, 0), tc_ge_s(wide, -(double)size));
  return tc_where(from_end, tc_add_s(wide, (double)size), wide);
}

/* Sizes of x, in which `count` axes from `axis` on are replaced by those of `by`. */
static inline tc_ints tc_indexing_replaced(tc_ints x, int axis, int count, tc_ints by) {
  tc_ints dims = TC_EMPTY_LIST;
  dims.n = x.n - count + by.n;
  for (int i = 0; i < dims.n && i < TC_MAX_RANK; i++)
    dims.v[i] = i < axis ? x.v[i] : i < axis + by.n ? by.v[i - axis] : x.v[i - by.n + count];
  return dims;
}

/* Where the elements index[0], ..., index[n - 1] of axes axis, axis + 1, ... lie among all elements of these axes, in
 * row-major order; i64 of the shape that the indices broadcast to.  Each axis looks up its share of the place, so that an index
 * outside is an error that names it and the size of its axis. */
static inline tc_tensor *tc_indexing_places(const tc_tensor *x, int axis, const tc_tensor *const *index, int n) {
  tc_tensor *place = NULL;
  int64_t stride = 1;
  for (int k = n - 1; k >= 0; k--) {
    const int64_t size = tc_size(x, axis + k);
    const tc_tensor *table = tc_arange(size, 0, (double)stride, TC_I64);
    const tc_tensor *wrapped = tc_indexing_wrapped(index[k], size);
    tc_tensor *share = tc_reshape(tc_index_select(table, 0, tc_reshape(wrapped, TC_DIMS(tc_numel(wrapped)))), tc_shape(wrapped));
    place = k == n - 1 ? share : tc_add(place, share);
    stride *= size;
  }
  return place;
}

/* x with axes axis, ..., axis + n - 1 as one. */
static inline tc_tensor *tc_indexing_joined(const tc_tensor *x, int axis, int n) {
  int64_t size = 1;
  for (int k = 0; k < n; k++) size *= tc_size(x, axis + k);
  return tc_reshape(x, tc_indexing_replaced(tc_shape(x), axis, n, TC_DIMS(size)));
}

/* x[.., index[0], .., index[n - 1], ..]: elements of the axes axis, axis + 1, ..., at places that n tensors of indices name, one
 * for each of these axes.  Indices are i32|i64, broadcast to one shape, which takes the place of these axes, and count from
 * the end where they are negative.  NumPy's and torch's indexing by integer tensors, which are next to each other. */
static inline tc_tensor *tc_index(const tc_tensor *x, int axis, const tc_tensor *const *index, int n) {
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (!tc_indexing_has("tc_index", x, axis, n) || !tc_indexing_are_indices("tc_index", index, n)) return NULL;
  axis = tc_indexing_from_front(x, axis);
  TC_SCOPE {
    const tc_tensor *place = tc_indexing_places(x, axis, index, n);
    const tc_tensor *rows = tc_index_select(tc_indexing_joined(x, axis, n), axis, tc_reshape(place, TC_DIMS(tc_numel(place))));
    y = tc_keep(tc_reshape(rows, tc_indexing_replaced(tc_shape(x), axis, n, tc_shape(place))));
  }
  return y;
}

/* A copy of x whose elements x[.., index[0], .., index[n - 1], ..], as of tc_index, are `value`, which is broadcast to their
 * shape and converted to the dtype of x; accumulate: it is added to them.  Places that are named several times have the last
 * value, or the sum in order.  torch.index_put. */
static inline tc_tensor *tc_index_put(const tc_tensor *x, int axis, const tc_tensor *const *index, int n, const tc_tensor *value,
                                      bool accumulate) {
  tc_tensor *y = NULL;
  if (!x || !value) return NULL;
  if (!tc_indexing_has("tc_index_put", x, axis, n) || !tc_indexing_are_indices("tc_index_put", index, n)) return NULL;
  axis = tc_indexing_from_front(x, axis);
  TC_SCOPE {
    const tc_tensor *place = tc_indexing_places(x, axis, index, n), *joined = tc_indexing_joined(x, axis, n);
    const tc_ints rows = tc_indexing_replaced(tc_shape(joined), axis, 1, TC_DIMS(tc_numel(place)));
    const tc_tensor *each = tc_expand(tc_nn_as(value, tc_dtype_of(x)), tc_indexing_replaced(tc_shape(x), axis, n, tc_shape(place)));
    const tc_tensor *src = tc_reshape(each, rows);
    const tc_tensor *at = tc_expand(tc_nn_along(tc_reshape(place, TC_DIMS(tc_numel(place))), axis, tc_rank(joined)), rows);
    const tc_tensor *written = accumulate ? tc_scatter_add(joined, axis, at, src) : tc_scatter(joined, axis, at, src);
    y = tc_keep(tc_reshape(written, tc_shape(x)));
  }
  return y;
}

/* Elements of x, as if it had one axis, at indices i32|i64 of any shape, which may be negative.  torch.take. */
static inline tc_tensor *tc_take(const tc_tensor *x, const tc_tensor *index) {
  tc_tensor *y = NULL;
  if (!x || !index) return NULL;
  TC_SCOPE { y = tc_keep(tc_index(tc_reshape(x, TC_DIMS(tc_numel(x))), 0, &index, 1)); }
  return y;
}

/* index[I] for each element of src, whose axis has size I. */
static inline tc_tensor *tc_indexing_for_rows(const char *name, const tc_tensor *x, int axis, const tc_tensor *index,
                                              const tc_tensor *src) {
  if (tc_rank(index) != 1 || tc_rank(src) != tc_rank(x))
    return TC_NN_FAIL("%s: indices of %d axes, not 1, and rows of %d for %d axes", name, tc_rank(index), tc_rank(src), tc_rank(x));
  return tc_expand(tc_nn_along(index, axis, tc_rank(x)), tc_shape(src));
}

/* A copy of x to whose rows index[0], index[1], ..., i32|i64[I], along an axis alpha times those of src are added, which has the
 * dtype of x, its shape, and size I there.  Equal indices are added in order.  torch.index_add. */
static inline tc_tensor *tc_index_add(const tc_tensor *x, int axis, const tc_tensor *index, const tc_tensor *src, double alpha) {
  tc_tensor *y = NULL;
  if (!x || !index || !src) return NULL;
  if (!tc_indexing_has("tc_index_add", x, axis, 1)) return NULL;
  axis = tc_indexing_from_front(x, axis);
  TC_SCOPE {
    const tc_tensor *at = tc_indexing_for_rows("tc_index_add", x, axis, index, src);
    y = tc_keep(tc_scatter_add(x, axis, at, alpha == 1 ? src : tc_mul_s(src, alpha)));
  }
  return y;
}

/* A copy of x whose rows index[0], index[1], ... along an axis are those of src, as of tc_index_add.  Equal indices: the last one
 * wins.  torch.index_copy. */
static inline tc_tensor *tc_index_copy(const tc_tensor *x, int axis, const tc_tensor *index, const tc_tensor *src) {
  tc_tensor *y = NULL;
  if (!x || !index || !src) return NULL;
  if (!tc_indexing_has("tc_index_copy", x, axis, 1)) return NULL;
  axis = tc_indexing_from_front(x, axis);
  TC_SCOPE { y = tc_keep(tc_scatter(x, axis, tc_indexing_for_rows("tc_index_copy", x, axis, index, src), src)); }
  return y;
}

/* ---- triangles --------------------------------------------------------------------------------------- */

/* 1 + 2 + ... + m; 0 for m < 1. */
static inline int64_t tc_indexing_sum_to(int64_t m) { return m > 0 ? m * (m + 1) / 2 : 0; }

/* How many elements of a matrix lie where column - row <= k: row i has i + k + 1 of them, at least 0 and at most `columns`. */
TC_CONST static inline int64_t tc_indexing_below(int64_t rows, int64_t columns, int64_t k) {
  const int64_t d = k < -rows ? -rows : k > columns ? columns : k;
  return tc_indexing_sum_to(rows + d) - tc_indexing_sum_to(d) - tc_indexing_sum_to(rows + d - columns) +
         tc_indexing_sum_to(d - columns);
}

/* Row and column of each of n elements of inside[rows,columns], bool, that are true: i64[2,n], in row-major order.  Each goes to
 * the place that counts those in front of it; all others to one behind them, which is left out. */
static inline tc_tensor *tc_indexing_places_of(const tc_tensor *inside, int64_t n) {
  const int64_t cells = tc_numel(inside), columns = tc_size(inside, 1);
  const tc_tensor *flat = tc_reshape(inside, TC_DIMS(cells)), *before = tc_sub_s(tc_cumsum(flat, 0), 1);
  const tc_tensor *cell = tc_arange(cells, 0, 1, TC_I64);
  const tc_tensor *none = tc_zeros(TC_DIMS(n + 1), TC_I64);
  const tc_tensor *found = tc_slice(tc_scatter(none, 0, tc_where(flat, before, tc_full_like(before, (double)n)), cell), 0, 0, n, 1);
  const tc_tensor *width = tc_scalar_int(columns > 0 ? columns : 1);
  const tc_tensor *both[] = {tc_floor_div(found, width), tc_remainder(found, width)};
  return tc_stack(both, 2, 0);
}

/* Rows and columns of the elements of a matrix that tc_tril(x, k) keeps, in row-major order: i64[2,n], on the default device.
 * torch.tril_indices, and with tc_split of axis 0 numpy.tril_indices. */
static inline tc_tensor *tc_tril_indices(int64_t rows, int64_t columns, int64_t k) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *inside = tc_tril(tc_ones(TC_DIMS(rows, columns), TC_BOOL), k);
    if (inside) y = tc_keep(tc_indexing_places_of(inside, tc_indexing_below(rows, columns, k)));
  }
  return y;
}

/* The same of tc_triu(x, k).  torch.triu_indices. */
static inline tc_tensor *tc_triu_indices(int64_t rows, int64_t columns, int64_t k) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    const tc_tensor *inside = tc_triu(tc_ones(TC_DIMS(rows, columns), TC_BOOL), k);
    const int64_t below = tc_indexing_below(rows, columns, k > -rows ? k - 1 : -rows);
    if (inside) y = tc_keep(tc_indexing_places_of(inside, rows * columns - below));
  }
  return y;
}

/* ---- differences ------------------------------------------------------------------------------------- */

/* Each element minus the one in front of it along an axis, which becomes smaller by 1 where it is not empty; n times.  Integers
 * wrap; of bool, where the two are not equal.  torch.diff, numpy.diff. */
static inline tc_tensor *tc_diff(const tc_tensor *x, int n, int axis) {
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (!tc_indexing_has("tc_diff", x, axis, 1)) return NULL;
  axis = tc_indexing_from_front(x, axis);
  if (n < 0) return TC_NN_FAIL("tc_diff: %d differences", n);
  TC_SCOPE {
    const tc_tensor *d = x;
    for (int k = 0; k < n; k++) {
      const tc_tensor *next = tc_slice(d, axis, 1, INT64_MAX, 1), *last = tc_slice(d, axis, 0, -1, 1);
      d = tc_dtype_of(x) == TC_BOOL ? tc_ne(next, last) : tc_sub(next, last);
    }
    y = tc_keep(tc_reshape(d, tc_shape(d)));
  }
  return y;
}

#include <tcompile/library_end.h>
#endif
