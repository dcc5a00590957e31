/* fold.h - im2col and its adjoint col2im, channels first: x[N,C,D1..Dk].
 *
 * stride, padding, dilation: one number for all of one to three axes, or one for each. */
#ifndef TCOMPILE_NN_FOLD_H
#define TCOMPILE_NN_FOLD_H

#include <tcompile/conv.h>
#include <tcompile/nn/common.h>
#include <tcompile/library_begin.h>

/* The windows of x, with zeros around, as columns: [N, C K1..Kk, number of windows], in the order of channels, then places in
 * the window; torch.nn.functional.unfold.  Errors: lists of another length, windows that are larger than x. */
static inline tc_tensor *tc_im2col(const tc_tensor *x, tc_ints size, tc_ints stride, tc_ints padding, tc_ints dilation) {
  const int axes = tc_rank(x) - 2;
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (axes < 1 || axes > 3 || (size.n != 1 && size.n != axes) || (stride.n != 1 && stride.n != axes) ||
      (padding.n != 1 && padding.n != axes) || (dilation.n != 1 && dilation.n != axes))
    return TC_NN_FAIL("tc_im2col: x has %d axes, and size, stride, padding and dilation one number, or %d", tc_rank(x), axes);
  TC_SCOPE {
    tc_tensor *z = tc_conv_padded(x, padding, 1);
    int64_t points = 1;
    for (int i = 0; i < axes; i++) {
      z = tc_conv_windows(z, 1, 2 + i, tc_nn_of(size, i), tc_nn_of(stride, i), tc_nn_of(dilation, i));
      points *= tc_size(z, 2 + i);
    }
    y = tc_keep(tc_reshape(z, TC_DIMS(tc_size(z, 0), tc_size(z, 1), points)));
  }
  return y;
}

/* Zeros behind or between the elements of axis 1 of z[B,K,...]. */
static inline const tc_tensor *tc_fold_padded(const tc_tensor *z, int64_t behind) {
  tc_ints none = TC_EMPTY_LIST, after = TC_EMPTY_LIST;
  none.n = after.n = tc_rank(z);
  after.v[1] = behind;
  return behind ? tc_pad(z, none, after, 0) : z;
}
static inline const tc_tensor *tc_fold_dilated(const tc_tensor *z, int64_t dilation) {
  const int64_t b = tc_size(z, 0), k = tc_size(z, 1), o = tc_size(z, 2), r = tc_size(z, 3);
  if (dilation == 1) return z;
  const tc_tensor *rows = tc_fold_padded(tc_reshape(z, TC_DIMS(b * k, 1, o, r)), dilation - 1);
  return tc_slice(tc_reshape(rows, TC_DIMS(b, k * dilation, o, r)), 1, 0, (k - 1) * dilation + 1, 1);
}

/* One axis: y[l] is the sum of z[B,K,O,R] over k dilation + o stride = l: [B,L,R], L = (O - 1) stride + (K - 1) dilation + 1.
 * Without gaps, k = a stride + r with r < stride, so that l = (o + a) stride + r: for each r a sum along diagonals of a and o.
 * These are rows of the same memory, where rows padded to P elements are taken to have P - 1. */
static inline tc_tensor *tc_fold_axis(const tc_tensor *z, int64_t stride, int64_t dilation) {
  z = tc_fold_dilated(z, dilation);
  const int64_t b = tc_size(z, 0), k = tc_size(z, 1), o = tc_size(z, 2), r = tc_size(z, 3);
  const int64_t parts = (k + stride - 1) / stride, row = o + 2 * (parts - 1), sums = o + parts - 1;
  z = tc_reshape(tc_fold_padded(z, parts * stride - k), TC_DIMS(b, parts, stride, o, r));
  z = tc_reshape(tc_permute(z, TC_AXES(0, 1, 3, 2, 4)), TC_DIMS(b, parts, o, stride * r));
  if (parts > 1) {
    const tc_ints edge = TC_DIMS(0, 0, parts - 1, 0);
    const tc_tensor *flat = tc_reshape(tc_pad(z, edge, edge, 0), TC_DIMS(b, parts * row, stride * r));
    const tc_tensor *skewed = tc_slice(flat, 1, parts - 1, parts - 1 + parts * (row - 1), 1);
    skewed = tc_slice(tc_reshape(skewed, TC_DIMS(b, parts, row - 1, stride * r)), 2, 0, sums, 1);
    z = tc_sum(skewed, TC_AXES(1), false);
  }
  return tc_slice(tc_reshape(z, TC_DIMS(b, sums * stride, r)), 1, 0, (o - 1) * stride + k, 1);
}

/* z[B,K1..Kk,O1..Ok], k axes, folded: [B,L1..Lk]. */
static inline tc_tensor *tc_fold_axes(const tc_tensor *z, int axes, tc_ints stride, tc_ints dilation) {
  tc_ints size = tc_shape(z), order = size, dims = TC_EMPTY_LIST;
  int64_t behind = 1; /* points of axes that are folded */
  order.v[0] = 0;
  for (int i = 0; i < 2 * axes; i++) order.v[1 + i] = i % 2 ? 1 + axes + i / 2 : 1 + i / 2; /* K1, O1, K2, O2, ... */
  tc_tensor *y = tc_permute(z, order);
  dims.n = axes + 1;
  dims.v[0] = size.v[0];
  for (int i = axes; i >= 1; i--) {
    int64_t before = size.v[0];
    for (int j = 1; j < i; j++) before *= size.v[j] * size.v[axes + j];
    y = tc_reshape(y, TC_DIMS(before, size.v[i], size.v[axes + i], behind));
    y = tc_fold_axis(y, tc_nn_of(stride, i - 1), tc_nn_of(dilation, i - 1));
    dims.v[i] = tc_size(y, 1);
    behind *= dims.v[i];
  }
  return tc_reshape(y, dims);
}

/* Axis 1 + i of y[B,L1..Lk] from `first` on, `size` elements, with zeros behind where there are fewer. */
static inline tc_tensor *tc_fold_cropped(tc_tensor *y, int i, int64_t first, int64_t size, int64_t lacking) {
  tc_ints none = TC_EMPTY_LIST, after = TC_EMPTY_LIST;
  none.n = after.n = tc_rank(y);
  after.v[1 + i] = lacking;
  return tc_slice(lacking > 0 ? tc_pad(y, none, after, 0) : y, 1 + i, first, first + size, 1);
}

/* Columns added up where their windows lie: x[N, C K1..Kk, number of windows] gives [N,C,image...], k = image.n; the
 * adjoint of tc_im2col, torch.nn.functional.fold.  Errors: lists of another length, a number of columns or of windows that is
 * not that of the image. */
static inline tc_tensor *tc_col2im(const tc_tensor *x, tc_ints image, tc_ints size, tc_ints stride, tc_ints padding,
                                   tc_ints dilation) {
  const int axes = image.n;
  int64_t kernel = 1, points = 1;
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (tc_rank(x) != 3 || axes < 1 || axes > 3 || (size.n != 1 && size.n != axes) || (stride.n != 1 && stride.n != axes) ||
      (padding.n != 1 && padding.n != axes) || (dilation.n != 1 && dilation.n != axes))
    return TC_NN_FAIL("tc_col2im: x has %d axes, not 3; size, stride, padding and dilation one number, or %d", tc_rank(x), axes);
  tc_ints windows = TC_EMPTY_LIST;
  windows.n = 1 + 2 * axes;
  for (int i = 0; i < axes; i++) {
    const int64_t p = tc_nn_of(padding, i), extent = (tc_nn_of(size, i) - 1) * tc_nn_of(dilation, i) + 1;
    windows.v[1 + i] = tc_nn_of(size, i);
    windows.v[1 + axes + i] = (image.v[i] + 2 * p - extent) / tc_nn_of(stride, i) + 1;
    kernel *= windows.v[1 + i];
    points *= windows.v[1 + axes + i];
  }
  if (kernel < 1 || tc_size(x, 1) % kernel || tc_size(x, 2) != points)
    return TC_NN_FAIL("tc_col2im: %lld rows of %lld columns for windows of %lld at %lld places", (long long)tc_size(x, 1),
                      (long long)tc_size(x, 2), (long long)kernel, (long long)points);
  TC_SCOPE {
    tc_ints dims = TC_EMPTY_LIST;
    dims.n = 2 + axes;
    dims.v[0] = tc_size(x, 0);
    dims.v[1] = tc_size(x, 1) / kernel;
    windows.v[0] = dims.v[0] * dims.v[1];
    tc_tensor *z = tc_fold_axes(tc_reshape(x, windows), axes, stride, dilation);
    for (int i = 0; i < axes; i++) {
      const int64_t p = tc_nn_of(padding, i);
      dims.v[2 + i] = image.v[i];
      z = tc_fold_cropped(z, i, p, image.v[i], p + image.v[i] - tc_size(z, 1 + i)); /* places that no window covers are 0 */
    }
    y = tc_keep(tc_reshape(z, dims));
  }
  return y;
}

#include <tcompile/library_end.h>
#endif
