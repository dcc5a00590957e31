/* shuffle.h - pixel shuffle, channel shuffle and transposed convolutions, channels first: x[N,C,D1..Dk]. */
#ifndef TCOMPILE_NN_SHUFFLE_H
#define TCOMPILE_NN_SHUFFLE_H

#include <tcompile/conv.h>
#include <tcompile/nn/common.h>
#include <tcompile/library_begin.h>

/* The product of sizes first, ..., last - 1. */
static inline int64_t tc_shuffle_points(const tc_tensor *x, int first, int last) {
  int64_t n = 1;
  for (int i = first; i < last; i++) n *= tc_size(x, i);
  return n;
}

/* x[N,C f1..fk,D1..Dk] to [N,C,D1 f1,..,Dk fk]. */
static inline tc_tensor *tc_shuffle_out(const tc_tensor *x, tc_ints factor) {
  const int rank = tc_rank(x);
  tc_tensor *y = tc_reshape(x, tc_shape(x));
  for (int i = rank - 1; i >= 2; i--) { /* f of the last axis changes fastest */
    const int64_t f = tc_nn_of(factor, i - 2);
    tc_ints dims = tc_shape(y), parts = TC_EMPTY_LIST;
    dims.v[1] /= f;
    dims.v[i] *= f;
    parts = TC_DIMS(dims.v[0], dims.v[1], f, tc_shuffle_points(y, 2, i), tc_size(y, i), tc_shuffle_points(y, i + 1, rank));
    y = tc_reshape(tc_permute(tc_reshape(y, parts), TC_AXES(0, 1, 3, 4, 2, 5)), dims);
  }
  return y;
}

/* x[N,C,D1 f1,..,Dk fk] to [N,C f1..fk,D1..Dk]. */
static inline tc_tensor *tc_shuffle_in(const tc_tensor *x, tc_ints factor) {
  const int rank = tc_rank(x);
  tc_tensor *y = tc_reshape(x, tc_shape(x));
  for (int i = 2; i < rank; i++) {
    const int64_t f = tc_nn_of(factor, i - 2);
    tc_ints dims = tc_shape(y), parts = TC_EMPTY_LIST;
    dims.v[1] *= f;
    dims.v[i] /= f;
    parts = TC_DIMS(dims.v[0], tc_size(y, 1), tc_shuffle_points(y, 2, i), dims.v[i], f, tc_shuffle_points(y, i + 1, rank));
    y = tc_reshape(tc_permute(tc_reshape(y, parts), TC_AXES(0, 1, 4, 2, 3, 5)), dims);
  }
  return y;
}

/* x[N,C r^2,H,W] to [N,C,H r,W r]: element (h r + i, w r + j) of channel c is that of channel (c r + i) r + j at (h, w).  Also of
 * one and three dimensions.  Errors: axes, channels that r^2 does not divide.
 * Shi et al., Real-time single image and video super-resolution using an efficient sub-pixel convolutional network, 2016. */
static inline tc_tensor *tc_pixel_shuffle(const tc_tensor *x, int64_t r) {
  tc_tensor *y = NULL;
  int64_t all = 1;
  if (!x) return NULL;
  for (int i = 2; i < tc_rank(x); i++) all *= r;
  if (tc_rank(x) < 3 || tc_rank(x) > 5 || r < 1 || tc_size(x, 1) % all)
    return TC_NN_FAIL("tc_pixel_shuffle: by %lld, x has %d axes, which are N, C and 1 to 3 dimensions", (long long)r, tc_rank(x));
  TC_SCOPE y = tc_keep(tc_shuffle_out(x, TC_INTS(r)));
  return y;
}

/* The inverse: x[N,C,H r,W r] to [N,C r^2,H,W].  Errors: axes, sizes that r does not divide. */
static inline tc_tensor *tc_pixel_unshuffle(const tc_tensor *x, int64_t r) {
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (tc_rank(x) < 3 || tc_rank(x) > 5 || r < 1)
    return TC_NN_FAIL("tc_pixel_unshuffle: by %lld, x has %d axes, which are N, C and 1 to 3 dimensions", (long long)r,
                      tc_rank(x));
  for (int i = 2; i < tc_rank(x); i++)
    if (tc_size(x, i) % r)
      return TC_NN_FAIL("tc_pixel_unshuffle: %lld does not divide size %lld", (long long)r, (long long)tc_size(x, i));
  TC_SCOPE y = tc_keep(tc_shuffle_in(x, TC_INTS(r)));
  return y;
}

/* Channel g C/groups + c of x[N,C,...] becomes channel c groups + g.  Errors: axes, groups that do not divide C.
 * Zhang, Zhou, Lin and Sun, ShuffleNet, 2018. */
static inline tc_tensor *tc_channel_shuffle(const tc_tensor *x, int64_t groups) {
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (tc_rank(x) < 2 || groups < 1 || tc_size(x, 1) % groups)
    return TC_NN_FAIL("tc_channel_shuffle: %lld groups of the channels of %d axes, of N, C, ...", (long long)groups, tc_rank(x));
  TC_SCOPE {
    const tc_ints parts = TC_DIMS(tc_size(x, 0), groups, tc_size(x, 1) / groups, tc_shuffle_points(x, 2, tc_rank(x)));
    y = tc_keep(tc_reshape(tc_transpose(tc_reshape(x, parts), 1, 2), tc_shape(x)));
  }
  return y;
}

/* ---- transposed convolution --------------------------------------------------------------------
 *
 * y[l] = sum over o, k with o stride + k = l of x[o] w[k].  With k = a stride + r, r < stride, results l = m stride + r are
 * sum over a of x[m - a] w[a stride + r]: convolutions of x with stride 1, whose results for all r are channels that become
 * places (Shi et al., Is the deconvolution layer the same as a convolutional layer?, 2016). */

/* How many a there are, and elements that k steps over with zeros between. */
static inline int64_t tc_transposed_extent(const tc_tensor *w, int i, int64_t stride, int64_t dilation) {
  return stride == 1 ? tc_size(w, 2 + i) : (tc_size(w, 2 + i) - 1) * dilation + 1;
}

/* Axis `axis` of w[C,O,K1..Kk] with zeros between and behind, so that stride divides its size. */
static inline const tc_tensor *tc_transposed_padded(const tc_tensor *w, int axis, int64_t stride, int64_t dilation) {
  const int64_t k = tc_size(w, axis), extent = tc_transposed_extent(w, axis - 2, stride, dilation);
  const int64_t behind = (extent + stride - 1) / stride * stride - extent;
  if (stride == 1) return w; /* windows have the dilation */
  if (dilation > 1) {
    const tc_ints rows = TC_DIMS(tc_shuffle_points(w, 0, axis) * k, 1, tc_shuffle_points(w, axis + 1, tc_rank(w)));
    const tc_tensor *between = tc_pad(tc_reshape(w, rows), TC_DIMS(0, 0, 0), TC_DIMS(0, dilation - 1, 0), 0);
    w = tc_slice(tc_reshape(between, tc_nn_with_size(w, axis, k * dilation)), axis, 0, extent, 1);
  }
  tc_ints none = TC_EMPTY_LIST, after = TC_EMPTY_LIST;
  none.n = after.n = tc_rank(w);
  after.v[axis] = behind;
  return behind ? tc_pad(w, none, after, 0) : w;
}

/* The weights of that convolution: [groups O s1..sk, C/groups, A1..Ak] of w[C,O,K1..Kk], flipped along all axes. */
static inline tc_tensor *tc_transposed_weights(const tc_tensor *w, tc_ints stride, tc_ints dilation, int64_t groups) {
  const int rank = tc_rank(w);
  tc_ints axes = TC_EMPTY_LIST;
  for (int i = 2; i < rank; i++) {
    w = tc_transposed_padded(w, i, tc_nn_of(stride, i - 2), tc_nn_of(dilation, i - 2));
    axes.v[axes.n++] = i;
  }
  const tc_tensor *z = tc_flip(tc_shuffle_in(w, stride), axes);
  tc_ints dims = tc_shape(z);
  const tc_ints parts = TC_DIMS(groups, dims.v[0] / groups, dims.v[1], tc_shuffle_points(z, 2, rank));
  const int64_t channels = dims.v[0] / groups;
  dims.v[0] = groups * dims.v[1];
  dims.v[1] = channels;
  return tc_reshape(tc_transpose(tc_reshape(z, parts), 1, 2), dims);
}

/* What is wrong, as an error; true: nothing. */
static inline bool tc_transposed_checked(const tc_tensor *x, const tc_tensor *w, tc_ints stride, tc_ints padding,
                                         tc_ints output_padding, tc_ints dilation, int64_t groups) {
  const int rank = tc_rank(x), axes = rank - 2;
  if (axes < 1 || axes > 3 || tc_rank(w) != rank)
    return TC_NN_FAIL("tc_conv_transpose: x has %d axes, the weight %d; both have two more than there are dimensions, 1 to 3",
                      rank, tc_rank(w));
  if ((stride.n != 1 && stride.n != axes) || (padding.n != 1 && padding.n != axes) ||
      (output_padding.n != 1 && output_padding.n != axes) || (dilation.n != 1 && dilation.n != axes))
    return TC_NN_FAIL("tc_conv_transpose: stride, paddings and dilation have one number, or %d", axes);
  if (groups < 1 || tc_size(w, 0) != tc_size(x, 1) || tc_size(x, 1) % groups)
    return TC_NN_FAIL("tc_conv_transpose: %lld channels and weights for %lld, in %lld groups", (long long)tc_size(x, 1),
                      (long long)tc_size(w, 0), (long long)groups);
  for (int i = 0; i < axes; i++) {
    const int64_t s = tc_nn_of(stride, i), d = tc_nn_of(dilation, i), more = tc_nn_of(output_padding, i);
    if (s < 1 || d < 1 || tc_nn_of(padding, i) < 0 || more < 0 || (more >= s && more >= d))
      return TC_NN_FAIL("tc_conv_transpose: stride %lld, dilation %lld, padding %lld, output padding %lld", (long long)s,
                        (long long)d, (long long)tc_nn_of(padding, i), (long long)more);
  }
  return true;
}

/* The transposed convolution of x[N,C,D1..Dk] with w[C,O/groups,K1..Kk] of one dtype, the adjoint of tc_conv:
 * [N, O, (Di - 1) stride_i - 2 padding_i + dilation_i (Ki - 1) + 1 + output_padding_i, ...], plus bias[O] where that is not
 * NULL.  Numbers are one for all axes, or one for each; output_padding is less than stride or dilation.  Errors: what does not
 * fit together.  Dumoulin and Visin, A guide to convolution arithmetic for deep learning, 2016; as conv_transpose2d of
 * PyTorch, but for the order of the last two arguments, which is that of tc_conv. */
static inline tc_tensor *tc_conv_transpose(const tc_tensor *x, const tc_tensor *w, const tc_tensor *bias, tc_ints stride,
                                           tc_ints padding, tc_ints output_padding, tc_ints dilation, int64_t groups) {
  tc_tensor *y = NULL;
  if (!x || !w || !tc_transposed_checked(x, w, stride, padding, output_padding, dilation, groups)) return NULL;
  TC_SCOPE {
    const tc_tensor *turned = tc_transposed_weights(w, stride, dilation, groups);
    tc_ints around = TC_EMPTY_LIST, apart = TC_EMPTY_LIST, none = TC_EMPTY_LIST, after = TC_EMPTY_LIST;
    around.n = apart.n = tc_rank(x) - 2;
    none.n = after.n = tc_rank(x);
    for (int i = 0; i < around.n; i++) {
      apart.v[i] = tc_nn_of(stride, i) == 1 ? tc_nn_of(dilation, i) : 1;
      around.v[i] = (tc_size(turned, 2 + i) - 1) * apart.v[i];
    }
    tc_tensor *z = tc_shuffle_out(tc_conv(x, turned, NULL, TC_INTS(1), around, apart, groups), stride);
    for (int i = 0; i < around.n; i++) {
      const int64_t p = tc_nn_of(padding, i);
      const int64_t extent = (tc_size(x, 2 + i) - 1) * tc_nn_of(stride, i) + tc_nn_of(dilation, i) * (tc_size(w, 2 + i) - 1) + 1;
      const int64_t end = extent - p + tc_nn_of(output_padding, i);
      after.v[2 + i] = tc_nn_of(output_padding, i) > p ? tc_nn_of(output_padding, i) - p : 0;
      z = tc_slice(z, 2 + i, 0, extent, 1);
      if (after.v[2 + i]) z = tc_pad(z, none, after, 0);
      after.v[2 + i] = 0;
      z = tc_slice(z, 2 + i, p, end, 1);
    }
    z = tc_contiguous(z);
    if (bias) z = tc_add(z, tc_nn_along(bias, 1, tc_rank(x)));
    y = tc_keep(z);
  }
  return y;
}

#include <tcompile/library_end.h>
#endif
