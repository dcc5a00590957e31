/* resample.h - padding with elements of x, interpolation to other sizes, and sampling at computed positions; channels first,
 * x[N,C,D1..Dk]. */
#ifndef TCOMPILE_NN_RESAMPLE_H
#define TCOMPILE_NN_RESAMPLE_H

#include <tcompile/nn/common.h>
#include <tcompile/nn/pool.h>
#include <tcompile/library_begin.h>

/* ---- padding ----------------------------------------------------------------------------------- */

typedef enum tc_padding { TC_PAD_REFLECT, TC_PAD_REPLICATE, TC_PAD_CIRCULAR } tc_padding;

/* What stands beside axis `axis`: n elements in front of it, or behind. */
static inline tc_tensor *tc_pad_side(const tc_tensor *x, int axis, int64_t n, bool front, tc_padding mode) {
  const int64_t size = tc_size(x, axis);
  if (mode == TC_PAD_CIRCULAR) return tc_slice(x, axis, front ? size - n : 0, front ? size : n, 1);
  if (mode == TC_PAD_REFLECT)
    return tc_flip(tc_slice(x, axis, front ? 1 : size - 1 - n, front ? n + 1 : size - 1, 1), TC_AXES(axis));
  return tc_expand(tc_slice(x, axis, front ? 0 : size - 1, front ? 1 : size, 1), tc_nn_with_size(x, axis, n));
}

static inline tc_tensor *tc_pad_by(const char *name, const tc_tensor *x, tc_ints before, tc_ints after, tc_padding mode) {
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (before.n != tc_rank(x) || after.n != tc_rank(x))
    return TC_NN_FAIL("%s: %d and %d numbers for %d axes", name, before.n, after.n, tc_rank(x));
  for (int i = 0; i < before.n; i++) {
    const int64_t most = before.v[i] > after.v[i] ? before.v[i] : after.v[i];
    if (before.v[i] < 0 || after.v[i] < 0) return TC_NN_FAIL("%s: padding is negative", name);
    if (most > 0 && tc_size(x, i) < (mode == TC_PAD_REFLECT ? most + 1 : mode == TC_PAD_CIRCULAR ? most : 1))
      return TC_NN_FAIL("%s: padding of %lld beside %lld elements", name, (long long)most, (long long)tc_size(x, i));
  }
  TC_SCOPE {
    tc_tensor *z = tc_reshape(x, tc_shape(x));
    bool any = false;
    for (int i = 0; i < before.n; i++) {
      const tc_tensor *part[3];
      int parts = 0;
      if (before.v[i]) part[parts++] = tc_pad_side(z, i, before.v[i], true, mode);
      part[parts++] = z;
      if (after.v[i]) part[parts++] = tc_pad_side(z, i, after.v[i], false, mode);
      if (parts > 1) z = tc_concat(part, parts, i);
      any = any || parts > 1;
    }
    y = tc_keep(any ? z : tc_clone(x));
  }
  return y;
}

/* tc_pad with x mirrored at its first and last elements, which are not repeated: c b | a b c | b a.  before and after have
 * a number for each axis, less than its size. */
static inline tc_tensor *tc_pad_reflect(const tc_tensor *x, tc_ints before, tc_ints after) {
  return tc_pad_by("tc_pad_reflect", x, before, after, TC_PAD_REFLECT);
}
/* With the first and last elements repeated: a a | a b c | c c. */
static inline tc_tensor *tc_pad_replicate(const tc_tensor *x, tc_ints before, tc_ints after) {
  return tc_pad_by("tc_pad_replicate", x, before, after, TC_PAD_REPLICATE);
}
/* With x repeated: b c | a b c | a b; numbers are at most the size. */
static inline tc_tensor *tc_pad_circular(const tc_tensor *x, tc_ints before, tc_ints after) {
  return tc_pad_by("tc_pad_circular", x, before, after, TC_PAD_CIRCULAR);
}

/* ---- other sizes ------------------------------------------------------------------------------- */

typedef enum tc_interpolation {
  TC_NEAREST,       /* element i D / size, rounded down, of D */
  TC_NEAREST_EXACT, /* element (i + 1/2) D / size, rounded down */
  TC_LINEAR,        /* bilinear of two axes, trilinear of three */
  TC_CUBIC,         /* Keys, Cubic convolution interpolation, 1981, with a = -3/4 */
  TC_AREA           /* tc_adaptive_avg_pool */
} tc_interpolation;

/* Elements at indices, [size], those outside being the nearest ones. */
static inline tc_tensor *tc_resample_taken(const tc_tensor *x, int axis, const tc_tensor *index) {
  return tc_index_select(x, axis, tc_clamp(index, 0, (double)(tc_size(x, axis) - 1)));
}

/* Where elements 0, ..., size - 1 lie in axis `axis` of x, in integers: the element in front, i64[size], and to *part how far
 * behind it, in [0,1), to be broadcast. */
static inline tc_tensor *tc_resample_places(const tc_tensor *x, int axis, int64_t size, bool align_corners, bool inside,
                                            tc_tensor **part) {
  const int64_t length = tc_size(x, axis), by = align_corners ? (size > 1 ? size - 1 : 1) : 2 * size;
  const int64_t first = align_corners ? 0 : length - size, step = align_corners ? (size > 1 ? length - 1 : 0) : 2 * length;
  const tc_tensor *place = tc_arange(size, (double)first, (double)step, TC_I64); /* times `by` */
  if (inside) place = tc_maximum_s(place, 0);
  tc_tensor *front = tc_floor_div(place, tc_scalar_int(by));
  const tc_tensor *rest = tc_cast(tc_sub(place, tc_mul_s(front, (double)by)), tc_dtype_of(x));
  *part = tc_nn_along(tc_mul_s(rest, 1 / (double)by), axis, tc_rank(x));
  return front;
}

static inline tc_tensor *tc_resample_nearest(const tc_tensor *x, int axis, int64_t size, bool exact) {
  const tc_tensor *twice = tc_arange(size, exact, 2, TC_I64);
  const tc_tensor *index = tc_floor_div(tc_mul_s(twice, (double)tc_size(x, axis)), tc_scalar_int(2 * size));
  return tc_index_select(x, axis, index);
}

static inline tc_tensor *tc_resample_linear(const tc_tensor *x, int axis, int64_t size, bool align_corners) {
  tc_tensor *part, *front = tc_resample_places(x, axis, size, align_corners, true, &part);
  const tc_tensor *low = tc_resample_taken(x, axis, front), *high = tc_resample_taken(x, axis, tc_add_s(front, 1));
  return tc_add(low, tc_mul(part, tc_sub(high, low)));
}

/* a polynomial c3 t^3 + c2 t^2 + c1 t + c0 */
static inline tc_tensor *tc_resample_cubic_weight(const tc_tensor *t, double c3, double c2, double c1, double c0) {
  return tc_add_s(tc_mul(tc_add_s(tc_mul(tc_add_s(tc_mul_s(t, c3), c2), t), c1), t), c0);
}

/* Polynomials of t that are the shares of the elements at -1, 0, 1, 2 for a place t in [0,1). */
static const double tc_resample_cubic_table[4][4] = {
    {-0.75, 1.5, -0.75, 0}, {1.25, -2.25, 0, 1}, {-1.25, 1.5, 0.75, 0}, {0.75, -0.75, 0, 0}};

static inline tc_tensor *tc_resample_cubic(const tc_tensor *x, int axis, int64_t size, bool align_corners) {
  const double(*c)[4] = tc_resample_cubic_table;
  tc_tensor *y = NULL, *part, *front = tc_resample_places(x, axis, size, align_corners, false, &part);
  for (int i = 0; i < 4; i++) {
    const tc_tensor *weight = tc_resample_cubic_weight(part, c[i][0], c[i][1], c[i][2], c[i][3]);
    tc_tensor *term = tc_mul(weight, tc_resample_taken(x, axis, tc_add_s(front, i - 1)));
    y = y ? tc_add(y, term) : term;
  }
  return y;
}

/* x[N,C,D1..Dk] with other sizes, k from 1 to 3: [N,C,size...].  align_corners, of TC_LINEAR and TC_CUBIC: the centres of the
 * first and last elements stay where they are, else the edges of the axes do.  Axes are treated one after the other; x is
 * floating but for the nearest, and 16-bit x is computed in f32.  Errors: axes, sizes.  As interpolate of PyTorch with
 * `size`. */
static inline tc_tensor *tc_interpolate(const tc_tensor *x, tc_ints size, tc_interpolation mode, bool align_corners) {
  const int axes = tc_rank(x) - 2;
  tc_tensor *y = NULL;
  if (!x) return NULL;
  if (axes < 1 || axes > 3 || (size.n != 1 && size.n != axes))
    return TC_NN_FAIL("tc_interpolate: x has %d axes, which are N, C and 1 to 3 dimensions, and there are %d sizes",
                      tc_rank(x), size.n);
  for (int i = 0; i < axes; i++)
    if (tc_nn_of(size, i) < 1 || tc_size(x, 2 + i) < 1)
      return TC_NN_FAIL("tc_interpolate: %lld elements of %lld", (long long)tc_nn_of(size, i), (long long)tc_size(x, 2 + i));
  if (mode == TC_AREA) return tc_adaptive_avg_pool(x, size);
  TC_SCOPE {
    const bool nearest = mode == TC_NEAREST || mode == TC_NEAREST_EXACT;
    const tc_tensor *z = nearest ? x : tc_nn_as(x, tc_nn_wide(tc_dtype_of(x)));
    for (int i = 0; i < axes; i++) {
      const int64_t n = tc_nn_of(size, i);
      if (nearest) z = tc_resample_nearest(z, 2 + i, n, mode == TC_NEAREST_EXACT);
      else if (mode == TC_LINEAR) z = tc_resample_linear(z, 2 + i, n, align_corners);
      else z = tc_resample_cubic(z, 2 + i, n, align_corners);
    }
    y = tc_keep(tc_cast(z, tc_dtype_of(x)));
  }
  return y;
}

/* Each element factor times along its axis: by a view, without indices. */
static inline tc_tensor *tc_upsample_repeated(const tc_tensor *x, tc_ints factor) {
  tc_ints one = TC_EMPTY_LIST, each = TC_EMPTY_LIST, dims = tc_shape(x);
  one.n = each.n = 2 * dims.n - 2;
  one.v[0] = each.v[0] = dims.v[0];
  one.v[1] = each.v[1] = dims.v[1];
  for (int i = 2; i < dims.n; i++) {
    const int64_t f = tc_nn_of(factor, i - 2);
    one.v[2 * i - 2] = each.v[2 * i - 2] = dims.v[i];
    one.v[2 * i - 1] = 1;
    each.v[2 * i - 1] = f;
    dims.v[i] *= f;
  }
  return tc_reshape(tc_expand(tc_reshape(x, one), each), dims);
}

/* tc_interpolate to sizes factor times as large, factor an integer: one for all axes, or one for each. */
static inline tc_tensor *tc_upsample(const tc_tensor *x, tc_ints factor, tc_interpolation mode, bool align_corners) {
  const int axes = tc_rank(x) - 2;
  tc_tensor *y = NULL;
  tc_ints size = TC_EMPTY_LIST;
  if (!x) return NULL;
  if (axes < 1 || axes > 3 || (factor.n != 1 && factor.n != axes))
    return TC_NN_FAIL("tc_upsample: x has %d axes, which are N, C and 1 to 3 dimensions, and there are %d factors", tc_rank(x),
                      factor.n);
  size.n = axes;
  for (int i = 0; i < axes; i++) {
    if (tc_nn_of(factor, i) < 1) return TC_NN_FAIL("tc_upsample: by %lld", (long long)tc_nn_of(factor, i));
    size.v[i] = tc_size(x, 2 + i) * tc_nn_of(factor, i);
  }
  if (mode != TC_NEAREST && mode != TC_NEAREST_EXACT) return tc_interpolate(x, size, mode, align_corners);
  TC_SCOPE y = tc_keep(tc_upsample_repeated(x, factor));
  return y;
}

/* ---- computed positions --------------------------------------------------------------------------- */

/* The coordinates of `size` elements of an axis: [size]. */
static inline tc_tensor *tc_grid_axis(int64_t size, bool align_corners, tc_dtype dtype) {
  const double step = align_corners ? (size > 1 ? 2.0 / (double)(size - 1) : 0) : 2.0 / (double)size;
  return tc_arange(size, align_corners ? (size > 1 ? -1 : 0) : step / 2 - 1, step, dtype);
}

/* The grid of tc_grid_sample that reads an image moved by theta[N,2,3]: theta (x, y, 1) for each place of [N,height,width,2].
 * Errors: the shape of theta. */
static inline tc_tensor *tc_affine_grid(const tc_tensor *theta, int64_t height, int64_t width, bool align_corners) {
  tc_tensor *y = NULL;
  if (!theta) return NULL;
  if (tc_rank(theta) != 3 || tc_size(theta, 1) != 2 || tc_size(theta, 2) != 3 || height < 1 || width < 1)
    return TC_NN_FAIL("tc_affine_grid: theta has %d axes, and is [N,2,3]; %lld x %lld places", tc_rank(theta), (long long)height,
                      (long long)width);
  TC_SCOPE {
    const tc_dtype d = tc_dtype_of(theta);
    const tc_ints all = TC_DIMS(height, width);
    const tc_tensor *x = tc_expand(tc_grid_axis(width, align_corners, d), all);
    const tc_tensor *place[] = {
        x, tc_expand(tc_reshape(tc_grid_axis(height, align_corners, d), TC_DIMS(height, 1)), all), tc_ones_like(x)};
    const tc_tensor *places = tc_reshape(tc_stack(place, 3, -1), TC_DIMS(height * width, 3));
    tc_tensor *z = NULL; /* places are numbers that 16 bits are too few for */
    TC_NO_AUTOCAST z = tc_matmul(places, tc_transpose(theta, 1, 2));
    y = tc_keep(tc_reshape(z, TC_DIMS(tc_size(theta, 0), height, width, 2)));
  }
  return y;
}

/* Places of grid coordinates in an axis of `length` elements: -1 and 1 are its first and last elements, or else their
 * outer edges. */
static inline tc_tensor *tc_grid_places(const tc_tensor *grid, int64_t length, bool align_corners) {
  const double half = (double)(align_corners ? length - 1 : length) / 2;
  return tc_add_s(tc_mul_s(grid, half), align_corners ? half : half - 0.5);
}

/* What tc_grid_sample reads where a place is outside of x. */
typedef enum tc_outside {
  TC_OUTSIDE_ZERO,   /* 0 */
  TC_OUTSIDE_BORDER, /* the nearest element */
  TC_OUTSIDE_REFLECT /* the elements mirrored, about the outer ones with align_corners, else about their outer edges */
} tc_outside;

/* Places (not TC_OUTSIDE_ZERO) moved to where they are read in an axis of `length` elements. */
static inline tc_tensor *tc_grid_moved(const tc_tensor *place, int64_t length, tc_outside outside, bool align_corners) {
  const double edge = align_corners ? 0 : -0.5, span = (double)(align_corners ? length - 1 : length);
  if (outside == TC_OUTSIDE_REFLECT && span > 0) { /* a triangle of period 2 span: span - |d mod 2 span - span| */
    const tc_tensor *way = tc_sub_s(tc_remainder_s(tc_sub_s(place, edge), 2 * span), span);
    place = tc_rsub_s(tc_abs(way), span + edge);
  }
  return tc_clamp(place, 0, (double)(length - 1));
}

typedef struct tc_grid_options {
  tc_interpolation mode;
  tc_outside outside;
  bool align_corners;
  int axes;
  int64_t length[3];
} tc_grid_options;

/* Elements along an axis that a place is read from. */
static inline int tc_grid_taps(tc_interpolation mode) { return mode == TC_NEAREST ? 1 : mode == TC_LINEAR ? 2 : 4; }

/* Share of element number `tap` of them, where a place is `part` behind the first, or the second of four. */
static inline tc_tensor *tc_grid_share(const tc_tensor *part, tc_interpolation mode, int tap) {
  const double *c = tc_resample_cubic_table[tap];
  if (mode == TC_NEAREST) return tc_ones_like(part);
  if (mode == TC_LINEAR) return tap ? tc_mul_s(part, 1) : tc_rsub_s(part, 1);
  return tc_resample_cubic_weight(part, c[0], c[1], c[2], c[3]);
}

/* Element number `corner` of those that places, [N,1,P] for each axis, are read from: which one it is of x[N,C,D] with axes
 * of length[i], and to *weight its share; 0 outside. */
static inline tc_tensor *tc_grid_corner(const tc_tensor *const *place, const tc_grid_options *o, int corner,
                                        const tc_tensor **weight) {
  const tc_tensor *inside = NULL, *share = NULL;
  tc_tensor *index = NULL;
  const int taps = tc_grid_taps(o->mode);
  for (int i = 0; i < o->axes; i++, corner /= taps) {
    const int tap = corner % taps;
    const double last = (double)(o->length[i] - 1);
    const tc_tensor *low = o->mode == TC_NEAREST ? tc_round(place[i]) : tc_floor(place[i]);
    const tc_tensor *at = tc_add_s(low, o->mode == TC_CUBIC ? tap - 1 : tap);
    if (o->mode == TC_CUBIC && o->outside) at = tc_grid_moved(at, o->length[i], o->outside, o->align_corners);
    const tc_tensor *here = tc_logical_and(tc_ge_s(at, 0), tc_le_s(at, last));
    const tc_tensor *along = tc_grid_share(tc_sub(place[i], low), o->mode, tap);
    tc_tensor *element = tc_cast(tc_clamp(at, 0, last), TC_I64);
    inside = inside ? tc_logical_and(inside, here) : here;
    share = share ? tc_mul(share, along) : along;
    index = index ? tc_add(tc_mul_s(index, (double)o->length[i]), element) : element;
  }
  *weight = tc_where(inside, share, tc_zeros_like(share));
  return index;
}

/* x[N,C,D1..Dk] read at the places grid[N,O1..Ok,k], k 2 or 3, in [-1,1] along each axis, the last axis of x first: [N,C,O1..Ok].
 * mode TC_LINEAR, TC_NEAREST (halves to even), or TC_CUBIC of two axes, which moves the elements that it reads, not the place.
 * align_corners: -1 and 1 are the first and the last element, else their outer edges.  Errors: axes, mode.
 * Jaderberg, Simonyan, Zisserman and Kavukcuoglu, Spatial transformer networks, 2015; as grid_sample of PyTorch. */
static inline tc_tensor *tc_grid_sample(const tc_tensor *x, const tc_tensor *grid, tc_interpolation mode, tc_outside outside,
                                        bool align_corners) {
  const int rank = tc_rank(x), axes = rank - 2;
  tc_tensor *y = NULL;
  if (!x || !grid) return NULL;
  if (axes < 2 || axes > 3 || tc_rank(grid) != rank || tc_size(grid, -1) != axes || tc_size(grid, 0) != tc_size(x, 0))
    return TC_NN_FAIL("tc_grid_sample: x has %d axes, the grid %d; they are [N,C,D1..Dk] and [N,O1..Ok,k], k 2 or 3", rank,
                      tc_rank(grid));
  if (mode != TC_LINEAR && mode != TC_NEAREST && (mode != TC_CUBIC || axes > 2))
    return TC_NN_FAIL("tc_grid_sample: the mode is TC_LINEAR, TC_NEAREST, or TC_CUBIC of two axes");
  TC_SCOPE {
    const tc_dtype wide = tc_nn_wide(tc_dtype_of(x));
    const tc_tensor *flat = tc_flatten(tc_nn_as(x, wide), 2, rank - 1), *place[3], *index[16], *weight[16];
    tc_grid_options o = {mode, outside, align_corners, axes, {0}};
    tc_ints dims = tc_shape(x);
    int corners = 1;
    int64_t points = 1;
    for (int i = 0; i < axes; i++) points *= dims.v[2 + i] = tc_size(grid, 1 + i);
    for (int i = 0; i < axes; i++) {
      o.length[i] = tc_size(x, 2 + i);
      corners *= tc_grid_taps(mode);
      const tc_tensor *along = tc_reshape(tc_select(tc_nn_as(grid, wide), -1, axes - 1 - i), TC_DIMS(dims.v[0], 1, points));
      place[i] = tc_grid_places(along, o.length[i], align_corners);
      if (outside && mode != TC_CUBIC) place[i] = tc_grid_moved(place[i], o.length[i], outside, align_corners);
    }
    for (int i = 0; i < corners; i++) index[i] = tc_grid_corner(place, &o, i, &weight[i]);
    /* arrays, so that they are not computed for each channel */
    const tc_tensor *all = tc_concat(index, corners, 2), *share = tc_concat(weight, corners, 1);
    tc_tensor *z = tc_gather(flat, 2, tc_expand(all, TC_DIMS(dims.v[0], dims.v[1], corners * points)));
    z = tc_reshape(z, TC_DIMS(dims.v[0], dims.v[1], corners, points));
    z = tc_sum(tc_mul(z, tc_unsqueeze(share, 1)), TC_AXES(2), false);
    y = tc_keep(tc_cast(tc_reshape(z, dims), tc_dtype_of(x)));
  }
  return y;
}

#include <tcompile/library_end.h>
#endif
