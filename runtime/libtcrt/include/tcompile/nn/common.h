/* common.h - what the headers of tcompile/nn share. */
#ifndef TCOMPILE_NN_COMMON_H
#define TCOMPILE_NN_COMMON_H

#include <math.h>
#include <tcompile/autocast.h>
#include <tcompile/library_begin.h>

#define TC_NN_FAIL(...) (tc_tensor *)tc_fail_as(TC_ERROR_ARGUMENT, __VA_ARGS__)

/* The dtype to compute in where 16 bits are too few: f32 for f16, bf16, integers and bool. */
static inline tc_dtype tc_nn_wide(tc_dtype d) { return d == TC_F64 ? TC_F64 : TC_F32; }

static inline const tc_tensor *tc_nn_as(const tc_tensor *x, tc_dtype dtype) {
  return tc_dtype_of(x) == dtype ? x : tc_cast(x, dtype);
}

/* One number is that of all axes. */
static inline int64_t tc_nn_of(tc_ints list, int axis) { return list.v[list.n == 1 ? 0 : axis]; }

/* The shape of x with another size of one axis. */
static inline tc_ints tc_nn_with_size(const tc_tensor *x, int axis, int64_t size) {
  tc_ints dims = tc_shape(x);
  dims.v[axis < 0 ? axis + dims.n : axis] = size;
  return dims;
}

/* v of rank 1 along an axis of a tensor of a rank, to be broadcast: [1,..,n,..,1]. */
static inline tc_tensor *tc_nn_along(const tc_tensor *v, int axis, int rank) {
  tc_ints dims = TC_EMPTY_LIST;
  dims.n = rank;
  for (int i = 0; i < rank; i++) dims.v[i] = i == axis ? tc_size(v, 0) : 1;
  return tc_reshape(v, dims);
}

#include <tcompile/library_end.h>
#endif
