/* Result types of views. */
#include "graph/infer/infer_impl.h"

bool infer_permute(tc_infer *c, tc_type *out) {
  const tc_type *x = c->in[0];
  uint32_t seen = 0;
  int n = (int)tc_dim_value(c->attr[0]);
  if (n != x->rank) return infer_fail(c, "%d axes given for %s", n, SHAPE(x));
  *out = *x;
  for (int i = 0; i < n; i++) {
    int axis;
    if (!infer_axis(c, x, n, c->attr[1 + i], &axis)) return false;
    if (seen >> axis & 1) return infer_fail(c, "axis %d appears twice", axis);
    seen |= 1u << axis;
    out->dim[i] = x->dim[axis];
  }
  return true;
}

bool infer_transpose(tc_infer *c, tc_type *out) {
  const tc_type *x = c->in[0];
  int a, b;
  if (!infer_axis(c, x, x->rank, c->attr[0], &a) || !infer_axis(c, x, x->rank, c->attr[1], &b))
    return false;
  *out = *x;
  out->dim[a] = x->dim[b];
  out->dim[b] = x->dim[a];
  return true;
}

bool infer_flip(tc_infer *c, tc_type *out) {
  uint32_t mask;
  int n;
  *out = *c->in[0];
  return infer_axes(c, out, 0, &mask, &n);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

bool infer_expand(tc_infer *c, tc_type *out) {
  const tc_type *x = c->in[0];
  int n = (int)tc_dim_value(c->attr[0]), lead = n - x->rank;
  if (lead < 0) return infer_fail(c, "cannot expand %s to %d axes", SHAPE(x), n);
  out->dtype = x->dtype;
  for (int i = 0; i < n; i++) {
    tc_dim want = tc_dim_norm(c->dims, c->attr[1 + i]),
           have = i < lead ? tc_dim_const(1) : x->dim[i - lead];
    bool keeps = tc_dim_is(want, -1);
    if (keeps && i < lead)
      return infer_fail(c, "size -1 at axis %d keeps a size that %s does not have", i, SHAPE(x));
    if (!keeps && !infer_nonnegative(c, want, "a size")) return false;
    tc_dim size = keeps ? have : want;
    if (!keeps) have = infer_guess_one(c, tc_dim_norm(c->dims, have), want);
    if (!keeps && !tc_dim_is(have, 1))
      size = infer_unify_guess(c, have, want);
    if (tc_dim_bad(size))
      return infer_fail(c, "cannot expand %s: size %s at axis %d does not become %s", SHAPE(x),
                        SIZE(have), i - lead, SIZE(want));
    out->dim[out->rank++] = size;
  }
  return true;
}

/* The size that -1 stands for: total / rest, which must be exact. */
static bool reshape_rest(tc_infer *c, tc_dim total, tc_dim rest, const tc_type *to, tc_dim *size) {
  const tc_type *x = c->in[0];
  if (!tc_dim_assume_range(c->dims, rest, 1, INT64_MAX))
    return infer_fail(c, "cannot reshape %s to %s: -1 is not determined", SHAPE(x), SHAPE(to));
  tc_dim left = tc_dim_mod(c->dims, total, rest);
  if (tc_dim_bad(tc_dim_unify(c->dims, left, tc_dim_const(0))))
    return infer_fail(c, "cannot reshape %s to %s: %s elements are not a multiple of %s", SHAPE(x),
                      SHAPE(to), SIZE(total), SIZE(rest));
  *size = tc_dim_div(c->dims, total, rest);
  return true;
}

bool infer_reshape(tc_infer *c, tc_type *out) {
  const tc_type *x = c->in[0];
  int n = (int)tc_dim_value(c->attr[0]), hole = -1;
  out->dtype = x->dtype;
  for (int i = 0; i < n; i++) {
    tc_dim d = out->dim[out->rank++] = tc_dim_norm(c->dims, c->attr[1 + i]);
    if (tc_dim_is(d, -1) && hole >= 0) return infer_fail(c, "only one size may be -1");
    if (tc_dim_is(d, -1)) hole = i;
    else if (!infer_nonnegative(c, d, "a size")) return false;
  }
  tc_type known = *out;
  if (hole >= 0) known.dim[hole] = tc_dim_const(1);
  tc_dim total = tc_type_numel(c->dims, x), rest = tc_type_numel(c->dims, &known);
  if (tc_dim_bad(total) || tc_dim_bad(rest)) return infer_overflow(c);
  if (hole >= 0) return reshape_rest(c, total, rest, out, &out->dim[hole]);
  if (!tc_dim_bad(tc_dim_unify(c->dims, total, rest))) return true;
  return infer_fail(c, "cannot reshape %s to %s: %s elements are not %s", SHAPE(x), SHAPE(out),
                    SIZE(total), SIZE(rest));
}

bool infer_squeeze(tc_infer *c, tc_type *out) {
  const tc_type *x = c->in[0];
  int axis;
  if (!infer_axis(c, x, x->rank, c->attr[0], &axis)) return false;
  if (tc_dim_bad(tc_dim_unify(c->dims, x->dim[axis], tc_dim_const(1))))
    return infer_fail(c, "axis %d of %s has size %s, not 1", axis, SHAPE(x), SIZE(x->dim[axis]));
  out->dtype = x->dtype;
  for (int i = 0; i < x->rank; i++)
    if (i != axis) out->dim[out->rank++] = x->dim[i];
  return true;
}

bool infer_unsqueeze(tc_infer *c, tc_type *out) {
  const tc_type *x = c->in[0];
  int axis;
  if (!infer_axis(c, x, x->rank + 1, c->attr[0], &axis)) return false;
  out->dtype = x->dtype;
  for (int i = 0; i <= x->rank; i++) {
    tc_dim d = i == axis ? tc_dim_const(1) : x->dim[i < axis ? i : i - 1];
    if (!infer_push_dim(c, out, d)) return false;
  }
  return true;
}

bool infer_flatten(tc_infer *c, tc_type *out) {
  const tc_type *x = c->in[0];
  int first = 0, last = 0;
  out->dtype = x->dtype;
  if (x->rank == 0) { /* a scalar flattens to one element */
    bool fits = (tc_dim_is(c->attr[0], 0) || tc_dim_is(c->attr[0], -1)) &&
                (tc_dim_is(c->attr[1], 0) || tc_dim_is(c->attr[1], -1));
    return fits ? infer_push_dim(c, out, tc_dim_const(1))
                : infer_fail(c, "axis is out of range for []");
  }
  if (!infer_axis(c, x, x->rank, c->attr[0], &first) ||
      !infer_axis(c, x, x->rank, c->attr[1], &last))
    return false;
  if (first > last) return infer_fail(c, "first axis %d lies behind last axis %d", first, last);
  tc_type part = {.rank = (uint8_t)(last - first + 1)};
  for (int i = first; i <= last; i++) part.dim[i - first] = x->dim[i];
  for (int i = 0; i < x->rank; i++) {
    if (i == first) out->dim[out->rank++] = tc_type_numel(c->dims, &part);
    else if (i < first || i > last) out->dim[out->rank++] = x->dim[i];
  }
  return true;
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* A position as NumPy reads it: negative ones count from the end; then clamped to [lo, hi]. */
static bool position(tc_dims *c, tc_dim at, tc_dim size, tc_dim lo, tc_dim hi, tc_dim *out) {
  bool constant = tc_dim_is_const(at);
  if (constant && tc_dim_value(at) >= TC_SLICE_ALL) return *out = hi, true;
  if (constant && tc_dim_value(at) <= -TC_SLICE_ALL) return *out = lo, true;
  if (tc_dim_known_le(c, at, tc_dim_const(-1))) at = tc_dim_add(c, at, size);
  else if (!tc_dim_known_le(c, tc_dim_const(0), at)) {
    if (!tc_dim_assume_range(c, at, 0, INT64_MAX)) return false;
    tc_dims_guess(c); /* it could count from the end */
  }
  *out = tc_dim_max(c, tc_dim_min(c, at, hi), lo);
  return !tc_dim_bad(*out);
}

bool tc_slice_bounds(tc_dims *c, tc_dim size, tc_dim start, tc_dim stop, int64_t step,
                     tc_dim *first, tc_dim *length) {
  tc_dim down = tc_dim_const(step < 0 ? -1 : 0), lo = down, hi = tc_dim_add(c, size, down), end,
         span;
  tc_dim stride = tc_dim_const(step < 0 ? -step : step), zero = tc_dim_const(0);
  if (tc_dim_is(stride, 0) || tc_dim_bad(stride) || step == INT64_MIN) return false;
  if (!position(c, start, size, lo, hi, first) || !position(c, stop, size, lo, hi, &end))
    return false;
  span = step < 0 ? tc_dim_sub(c, *first, end) : tc_dim_sub(c, end, *first);
  *length = tc_dim_ceildiv(c, tc_dim_max(c, span, zero), stride);
  return !tc_dim_bad(*length);
}

/* x[n:n+3] and x[n+3:n:-1], where n is known at run time only, lie inside of x as a rule; then they
 * have 3 elements. */
static void guess_inside(tc_infer *c, tc_dim size, tc_dim start, tc_dim stop, bool down) {
  const tc_dim one = tc_dim_const(1), above = down ? tc_dim_add(c->dims, start, one) : stop,
               below = down ? tc_dim_add(c->dims, stop, one) : start,
               length = tc_dim_norm(c->dims, tc_dim_sub(c->dims, above, below));
  if (tc_dim_is_const(start) || !tc_dim_is_const(length) || tc_dim_value(length) < 1) return;
  if (tc_dim_known_le(c->dims, above, size)) return;
  if (tc_dim_assume_range(c->dims, tc_dim_sub(c->dims, size, above), 0, INT64_MAX))
    tc_dims_guess(c->dims);
}

bool infer_slice(tc_infer *c, tc_type *out) {
  int axis;
  int64_t step;
  tc_dim first, start = tc_dim_norm(c->dims, c->attr[1]), stop = tc_dim_norm(c->dims, c->attr[2]);
  *out = *c->in[0];
  if (!infer_axis(c, out, out->rank, c->attr[0], &axis) || !infer_int(c, 3, "step", &step))
    return false;
  if (!step) return infer_fail(c, "step must not be 0");
  guess_inside(c, out->dim[axis], start, stop, step < 0);
  if (tc_slice_bounds(c->dims, out->dim[axis], start, stop, step, &first, &out->dim[axis]))
    return true;
  return infer_unsupported(c, "cannot resolve %s:%s of %s", SIZE(start), SIZE(stop),
                           SHAPE(c->in[0]));
}

bool infer_unfold(tc_infer *c, tc_type *out) {
  int axis;
  int64_t step;
  *out = *c->in[0];
  if (!infer_axis(c, out, out->rank, c->attr[0], &axis) || !infer_int(c, 2, "step", &step))
    return false;
  if (step < 1) return infer_fail(c, "step must be positive");
  const tc_dim size = tc_dim_norm(c->dims, c->attr[1]);
  const tc_dim left = tc_dim_norm(c->dims, tc_dim_sub(c->dims, out->dim[axis], size));
  if (!infer_nonnegative(c, size, "size")) return false;
  if (!tc_dim_assume_range(c->dims, left, 0, INT64_MAX))
    return infer_fail(c, "windows of %s are larger than axis %d of %s", SIZE(size), axis,
                      SHAPE(c->in[0]));
  out->dim[axis] =
      tc_dim_ceildiv(c->dims, tc_dim_add(c->dims, left, tc_dim_const(1)), tc_dim_const(step));
  return infer_push_dim(c, out, size);
}

bool infer_select(tc_infer *c, tc_type *out) {
  const tc_type *x = c->in[0];
  int axis;
  if (!infer_axis(c, x, x->rank, c->attr[0], &axis)) return false;
  tc_dim at = tc_dim_norm(c->dims, c->attr[1]), size = x->dim[axis];
  bool from_end = tc_dim_known_le(c->dims, at, tc_dim_const(-1));
  tc_dim index = from_end ? tc_dim_add(c->dims, at, size) : at;
  tc_dim left = tc_dim_sub(c->dims, tc_dim_sub(c->dims, size, index), tc_dim_const(1));
  if (tc_dim_bad(left) || !tc_dim_assume_range(c->dims, index, 0, INT64_MAX) ||
      !tc_dim_assume_range(c->dims, left, 0, INT64_MAX))
    return infer_fail(c, "index %s is out of range for axis %d of %s", SIZE(at), axis, SHAPE(x));
  out->dtype = x->dtype;
  for (int i = 0; i < x->rank; i++)
    if (i != axis) out->dim[out->rank++] = x->dim[i];
  return true;
}
