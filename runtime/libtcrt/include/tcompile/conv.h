/* conv.h - convolutions, written with the functions of tcompile.h: windows of a padded array (tc_unfold), and a product.
 *
 *   tc_tensor *y = tc_relu(tc_conv(x, w, b, TC_INTS(1), TC_INTS(1), TC_INTS(1), 1));
 *
 * In a compiled function they are inlined: one product over channels and windows, which on the CPU are read in place (an
 * implicit GEMM).  Called from elsewhere they run op by op, and the windows are copied. */
#ifndef TCOMPILE_CONV_H
#define TCOMPILE_CONV_H

/* Loops declare their counters, one behind the other. */
#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "tcompile/conv.h and tcompile/nn.h need C99 or later, such as -std=gnu99"
#endif

#include <tcompile/autocast.h>
#include <tcompile/library_begin.h>

#define TC_CONV_FAIL(...) (tc_tensor *)tc_fail_as(TC_ERROR_ARGUMENT, __VA_ARGS__)

/* list of an axis; a list of one number is for all axes. */
static inline int64_t tc_conv_of(tc_ints list, int axis) { return list.v[list.n == 1 ? 0 : axis]; }

/* x[N,C,...] with zeros around: [N,C,...], or, of several groups, [N,G,C/G,...]. */
static inline tc_tensor *tc_conv_padded(const tc_tensor *x, tc_ints padding, int64_t groups) {
  tc_ints edge = tc_shape(x), dims = TC_EMPTY_LIST;
  for (int i = 0; i < edge.n; i++) edge.v[i] = i < 2 ? 0 : tc_conv_of(padding, i - 2);
  tc_tensor *y = tc_pad(x, edge, edge, 0);
  if (groups == 1) return y;
  dims.n = tc_rank(x) + 1;
  dims.v[0] = tc_size(x, 0);
  dims.v[1] = groups;
  dims.v[2] = tc_size(x, 1) / groups;
  for (int i = 2; i < tc_rank(x); i++) dims.v[i + 1] = tc_size(y, i);
  return tc_reshape(y, dims);
}

/* The windows of an axis, whose elements become channels: [...,C,D,...] to [...,C*size,O,...]. */
static inline tc_tensor *tc_conv_windows(const tc_tensor *x, int channels, int axis, int64_t size, int64_t stride,
                                         int64_t dilation) {
  tc_tensor *y = tc_unfold(x, axis, (size - 1) * dilation + 1, stride);
  if (dilation != 1) y = tc_slice(y, -1, 0, INT64_MAX, dilation);
  tc_ints order = tc_shape(x), dims = tc_shape(x);
  order.n = tc_rank(x) + 1;
  for (int i = 0; i < order.n; i++) order.v[i] = i <= channels ? i : i == channels + 1 ? tc_rank(x) : i - 1;
  dims.v[channels] *= size;
  dims.v[axis] = tc_size(y, axis);
  return tc_reshape(tc_permute(y, order), dims);
}

/* The cross-correlation, called convolution in neural networks, of x[N,C,D1..Dk] with w[O,C/groups,K1..Kk], k from 1 to 3,
 * of one dtype: [N,O,(Di + 2 padding_i - dilation_i (Ki - 1) - 1) / stride_i + 1, ...], plus bias[O] where that is not NULL.
 * Channels and results are in `groups` parts, each of which sees its own.  stride, padding, dilation: one number for
 * all axes, or one for each.  Errors: sizes that do not fit together; windows that are larger than x and its padding. */
static inline tc_tensor *tc_conv(const tc_tensor *x, const tc_tensor *w, const tc_tensor *bias, tc_ints stride,
                                 tc_ints padding, tc_ints dilation, int64_t groups) {
  const int rank = tc_rank(x), axes = rank - 2, channels = groups == 1 ? 1 : 2;
  tc_tensor *y = NULL;
  if (!x || !w) return NULL;
  if (axes < 1 || axes > 3 || tc_rank(w) != rank)
    return TC_CONV_FAIL("tc_conv: x has %d axes, the weight %d; both have two more than there are dimensions, 1 to 3", rank,
                        tc_rank(w));
  if ((stride.n != 1 && stride.n != axes) || (padding.n != 1 && padding.n != axes) ||
      (dilation.n != 1 && dilation.n != axes))
    return TC_CONV_FAIL("tc_conv: stride, padding and dilation have one number, or %d", axes);
  if (groups < 1 || tc_size(w, 1) * groups != tc_size(x, 1) || tc_size(w, 0) % groups)
    return TC_CONV_FAIL("tc_conv: %lld channels and weights for %lld, %lld results, in %lld groups",
                        (long long)tc_size(x, 1), (long long)tc_size(w, 1), (long long)tc_size(w, 0), (long long)groups);
  TC_SCOPE {
    const int64_t images = tc_size(x, 0), results = tc_size(w, 0);
    tc_ints dims = TC_EMPTY_LIST, ones = tc_shape(w);
    const tc_tensor *weight = tc_as_in_product(w), *added = tc_as_in_product(bias);
    tc_tensor *z = tc_conv_padded(tc_as_in_product(x), padding, groups);
    for (int i = 0; i < axes; i++)
      z = tc_conv_windows(z, channels, channels + 1 + i, tc_size(w, 2 + i), tc_conv_of(stride, i), tc_conv_of(dilation, i));
    int64_t points = 1;
    dims.n = rank;
    dims.v[0] = images;
    dims.v[1] = results;
    for (int i = 0; i < axes; i++) points *= dims.v[2 + i] = tc_size(z, channels + 1 + i);
    if (groups == 1) {
      z = tc_reshape(z, TC_DIMS(images, tc_size(z, 1), points));
      z = tc_matmul(tc_reshape(weight, TC_DIMS(results, tc_size(z, 1))), z);
    } else {
      z = tc_reshape(z, TC_DIMS(images, groups, tc_size(z, 2), points));
      z = tc_matmul(tc_reshape(weight, TC_DIMS(groups, results / groups, tc_size(z, 2))), z);
    }
    z = tc_reshape(z, dims);
    for (int i = 0; i < rank; i++) ones.v[i] = i == 1 ? results : 1;
    if (bias) z = tc_add(z, tc_reshape(added, ones));
    y = tc_keep(z);
  }
  return y;
}

#include <tcompile/library_end.h>
#endif
