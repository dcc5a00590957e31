/* Result types of ops that join or move pieces, and of indexing by data. */
#include "graph/infer/infer_impl.h"

/* ---- joining --------------------------------------------------------------------------------- */

/* Sizes of b equal those of out except along `skip` (-1: everywhere). */
static bool same_sizes(tc_infer *c, tc_type *out, const tc_type *b, int skip) {
  if (out->rank != b->rank)
    return infer_fail(c, "%s and %s have different numbers of axes", SHAPE(c->in[0]), SHAPE(b));
  for (int i = 0; i < b->rank; i++) {
    if (i == skip) continue;
    tc_dim d = tc_dim_unify(c->dims, out->dim[i], b->dim[i]);
    if (tc_dim_bad(d))
      return infer_fail(c, "%s and %s differ at axis %d: %s != %s", SHAPE(c->in[0]), SHAPE(b), i,
                        SIZE(out->dim[i]), SIZE(b->dim[i]));
    out->dim[i] = d;
  }
  return true;
}

bool infer_concat(tc_infer *c, tc_type *out) {
  int axis;
  *out = *c->in[0];
  if (!infer_axis(c, out, out->rank, c->attr[0], &axis)) return false;
  for (int i = 1; i < c->nin; i++) {
    if (!same_sizes(c, out, c->in[i], axis)) return false;
    out->dim[axis] = tc_dim_add(c->dims, out->dim[axis], c->in[i]->dim[axis]);
  }
  out->dtype = (uint8_t)infer_promoted(c);
  return true;
}

bool infer_stack(tc_infer *c, tc_type *out) {
  int axis;
  tc_type x = *c->in[0];
  if (!infer_axis(c, &x, x.rank + 1, c->attr[0], &axis)) return false;
  for (int i = 1; i < c->nin; i++)
    if (!same_sizes(c, &x, c->in[i], -1)) return false;
  for (int i = 0; i <= x.rank; i++) {
    tc_dim d = i == axis ? tc_dim_const(c->nin) : x.dim[i < axis ? i : i - 1];
    if (!infer_push_dim(c, out, d)) return false;
  }
  out->dtype = (uint8_t)infer_promoted(c);
  return true;
}

bool infer_pad(tc_infer *c, tc_type *out) {
  *out = *c->in[0];
  int n = (int)tc_dim_value(c->attr[0]), m = (int)tc_dim_value(c->attr[1 + n]);
  if (n != out->rank || m != out->rank)
    return infer_fail(c, "needs one amount before and after each axis of %s; %d and %d are given",
                      SHAPE(out), n, m);
  if (!infer_scalar_operand(c, 1, "value")) return false;
  for (int i = 0; i < n; i++) {
    tc_dim before = tc_dim_norm(c->dims, c->attr[1 + i]),
           after = tc_dim_norm(c->dims, c->attr[2 + n + i]);
    if (!infer_nonnegative(c, before, "an amount") || !infer_nonnegative(c, after, "an amount"))
      return false;
    out->dim[i] = tc_dim_add(c->dims, out->dim[i], tc_dim_add(c->dims, before, after));
  }
  return true;
}

/* in[0] with in[1] instead of its elements at first[i] + step[i] * j of each axis i; step >= 1. */
bool infer_put(tc_infer *c, tc_type *out) {
  const tc_type *part = c->in[1];
  *out = *c->in[0];
  int n = (int)tc_dim_value(c->attr[0]), m = (int)tc_dim_value(c->attr[1 + n]);
  if (n != out->rank || m != out->rank || part->rank != out->rank || part->dtype != out->dtype)
    return infer_fail(c, "%s is no part of %s", SHAPE(part), SHAPE(out));
  for (int i = 0; i < n; i++) {
    tc_dim first = tc_dim_norm(c->dims, c->attr[1 + i]), one = tc_dim_const(1);
    int64_t step;
    if (!infer_int(c, 2 + n + i, "step", &step)) return false;
    if (step < 1) return infer_fail(c, "step %lld is less than 1", (long long)step);
    tc_dim span = tc_dim_mul(c->dims, tc_dim_sub(c->dims, part->dim[i], one), tc_dim_const(step));
    tc_dim end = tc_dim_add(c->dims, tc_dim_add(c->dims, first, span), one);
    tc_dim left = tc_dim_sub(c->dims, out->dim[i], end);
    if (tc_dim_bad(left)) return infer_overflow(c);
    if (!infer_nonnegative(c, first, "a position")) return false;
    if (!tc_dim_assume_range(c->dims, left, 0, INT64_MAX))
      return infer_fail(c, "%s from %s on does not lie in %s at axis %d", SHAPE(part), SIZE(first),
                        SHAPE(out), i);
  }
  return true;
}

bool infer_repeat(tc_infer *c, tc_type *out) {
  const tc_type *x = c->in[0];
  int n = (int)tc_dim_value(c->attr[0]), lead = n - x->rank;
  if (lead < 0) return infer_fail(c, "%d counts are too few for %s", n, SHAPE(x));
  out->dtype = x->dtype;
  for (int i = 0; i < n; i++) {
    tc_dim times = tc_dim_norm(c->dims, c->attr[1 + i]),
           size = i < lead ? tc_dim_const(1) : x->dim[i - lead];
    if (!infer_nonnegative(c, times, "a count")) return false;
    out->dim[out->rank++] = tc_dim_mul(c->dims, times, size);
  }
  return true;
}

bool infer_roll(tc_infer *c, tc_type *out) {
  int axis;
  *out = *c->in[0];
  return infer_axis(c, out, out->rank, c->attr[1], &axis);
}

/* ---- indexing by data ------------------------------------------------------------------------ */

/* a.dim <= b.dim everywhere except along `skip`: known, or assumed. */
static bool fits_in(tc_infer *c, const tc_type *a, const tc_type *b, int skip) {
  if (a->rank != b->rank)
    return infer_fail(c, "%s and %s have different numbers of axes", SHAPE(a), SHAPE(b));
  for (int i = 0; i < a->rank; i++) {
    if (i == skip || tc_dim_known_le(c->dims, a->dim[i], b->dim[i])) continue;
    tc_dim room = tc_dim_sub(c->dims, b->dim[i], a->dim[i]);
    if (!tc_dim_assume_range(c->dims, room, 0, INT64_MAX))
      return infer_fail(c, "%s does not fit in %s at axis %d: %s > %s", SHAPE(a), SHAPE(b), i,
                        SIZE(a->dim[i]), SIZE(b->dim[i]));
  }
  return true;
}

bool infer_gather(tc_infer *c, tc_type *out) {
  const tc_type *x = c->in[0], *index = c->in[1];
  int axis;
  if (!infer_index_operand(c, 1) || !infer_axis(c, x, x->rank, c->attr[0], &axis)) return false;
  *out = *index;
  out->dtype = x->dtype;
  return fits_in(c, index, x, axis);
}

bool infer_scatter(tc_infer *c, tc_type *out) {
  const tc_type *x = c->in[0], *index = c->in[1], *src = c->in[2];
  int axis;
  if (!infer_index_operand(c, 1) || !infer_axis(c, x, x->rank, c->attr[0], &axis)) return false;
  if (src->dtype != x->dtype)
    return infer_fail(c, "the source is %s, but the target is %s",
                      tc_dtype_text((tc_dtype)src->dtype), tc_dtype_text((tc_dtype)x->dtype));
  *out = *x;
  return fits_in(c, index, x, axis) && fits_in(c, index, src, -1);
}

bool infer_index_select(tc_infer *c, tc_type *out) {
  const tc_type *index = c->in[1];
  int axis;
  *out = *c->in[0];
  if (!infer_index_operand(c, 1) || !infer_axis(c, out, out->rank, c->attr[0], &axis)) return false;
  if (index->rank != 1) return infer_fail(c, "the index must have one axis, not %s", SHAPE(index));
  out->dim[axis] = index->dim[0];
  return true;
}

bool infer_embedding(tc_infer *c, tc_type *out) {
  const tc_type *w = c->in[0];
  if (w->rank != 2) return infer_fail(c, "the weight must be [V,D], not %s", SHAPE(w));
  if (!infer_index_operand(c, 1)) return false;
  *out = *c->in[1];
  out->dtype = w->dtype;
  return infer_push_dim(c, out, w->dim[1]);
}

bool infer_one_hot(tc_infer *c, tc_type *out) {
  tc_dim classes = tc_dim_norm(c->dims, c->attr[0]);
  if (!infer_index_operand(c, 0)) return false;
  *out = *c->in[0];
  out->dtype = TC_I64;
  return infer_nonnegative(c, classes, "the number of classes") && infer_push_dim(c, out, classes);
}
