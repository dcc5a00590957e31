/* Result types of reductions and scans. */
#include "graph/infer/infer_impl.h"

/* Drops the axes in mask (or leaves them with size 1). */
static void reduced_shape(const tc_type *x, uint32_t mask, bool keep, tc_type *out) {
  for (int i = 0; i < x->rank; i++) {
    if (!(mask >> i & 1)) out->dim[out->rank++] = x->dim[i];
    else if (keep) out->dim[out->rank++] = tc_dim_const(1);
  }
}

/* attr: axes, then (at distance `gap`) keep.  An empty list means every axis. */
static bool reduce(tc_infer *c, int gap, tc_dtype dtype, tc_type *out, uint32_t *mask) {
  const tc_type *x = c->in[0];
  int n;
  if (!infer_axes(c, x, 0, mask, &n)) return false;
  if (!n) *mask = (1u << x->rank) - 1;
  out->dtype = (uint8_t)dtype;
  reduced_shape(x, *mask, tc_dim_is(c->attr[n + gap], 1), out);
  return true;
}

bool infer_sum(tc_infer *c, tc_type *out) {
  uint32_t mask;
  tc_dtype d = (tc_dtype)c->in[0]->dtype;
  return reduce(c, 1, tc_dtype_is_float(d) ? d : TC_I64, out, &mask);
}

bool infer_any(tc_infer *c, tc_type *out) {
  uint32_t mask;
  return reduce(c, 1, TC_BOOL, out, &mask);
}

bool infer_mean(tc_infer *c, tc_type *out) {
  uint32_t mask;
  return reduce(c, 1, infer_real(c), out, &mask);
}

bool infer_var(tc_infer *c, tc_type *out) {
  uint32_t mask;
  return reduce(c, 2, infer_real(c), out, &mask);
}

/* p is a number like an exponent: it does not widen x. */
bool infer_norm(tc_infer *c, tc_type *out) {
  uint32_t mask;
  tc_dtype d = (tc_dtype)c->in[0]->dtype;
  if (!infer_scalar_operand(c, 1, "p")) return false;
  return reduce(c, 1, tc_dtype_is_float(d) ? d : TC_F32, out, &mask);
}

/* The axes in mask have elements: known, or assumed (a guard checks it). */
static bool not_empty(tc_infer *c, uint32_t mask) {
  const tc_type *x = c->in[0];
  for (int i = 0; i < x->rank; i++)
    if (mask >> i & 1 && !tc_dim_assume_range(c->dims, x->dim[i], 1, INT64_MAX))
      return infer_fail(c, "axis %d of %s is empty", i, SHAPE(x));
  return true;
}

bool infer_extremum(tc_infer *c, tc_type *out) {
  uint32_t mask;
  return reduce(c, 1, (tc_dtype)c->in[0]->dtype, out, &mask) && not_empty(c, mask);
}

bool infer_arg(tc_infer *c, tc_type *out) {
  uint32_t mask;
  if (!reduce(c, 1, TC_I64, out, &mask)) return false;
  if (tc_dim_value(c->attr[0]) > 1) return infer_fail(c, "takes one axis, or none for all");
  return not_empty(c, mask);
}

static bool infer_second(tc_infer *c, tc_infer_fn *rule, tc_type *out) {
  out[1] = (tc_type){0};
  c->nresult = 2;
  return rule(c, &out[1]);
}

bool infer_var_mean(tc_infer *c, tc_type *out) {
  return infer_var(c, out) && infer_second(c, infer_var, out);
}

bool infer_with_index(tc_infer *c, tc_type *out) {
  return infer_extremum(c, out) && infer_second(c, infer_arg, out);
}

bool infer_cum(tc_infer *c, tc_type *out) {
  int axis;
  *out = *c->in[0];
  if (!tc_dtype_is_float((tc_dtype)out->dtype)) out->dtype = TC_I64;
  return infer_along(c, out, c->attr[0], &axis);
}

bool infer_running(tc_infer *c, tc_type *out) {
  int axis;
  *out = *c->in[0];
  return infer_along(c, out, c->attr[0], &axis);
}

bool infer_running_arg(tc_infer *c, tc_type *out) {
  const bool ok = infer_running(c, out);
  out->dtype = TC_I64;
  return ok;
}

bool infer_cum_extremum(tc_infer *c, tc_type *out) {
  return infer_running(c, out) && infer_second(c, infer_running_arg, out);
}

/* k elements of an axis; a scalar has one. */
static bool infer_first(tc_infer *c, tc_type *out, int k, int at) {
  int axis;
  const tc_type *x = c->in[0];
  const tc_dim count = tc_dim_norm(c->dims, c->attr[k]);
  *out = *x;
  if (!infer_along(c, x, c->attr[at], &axis) || !infer_nonnegative(c, count, "k")) return false;
  const tc_dim size = x->rank ? x->dim[axis] : tc_dim_const(1);
  const bool fits = tc_dim_known_le(c->dims, count, size) ||
                    tc_dim_assume_range(c->dims, tc_dim_sub(c->dims, size, count), 0, INT64_MAX);
  if (!fits)
    return infer_fail(c, "k is %s, and axis %d of %s has %s elements", SIZE(count), axis, SHAPE(x),
                      SIZE(size));
  if (x->rank) out->dim[axis] = count;
  else if (!tc_dim_is(count, 1))
    return infer_fail(c, "k is %s, and a number is one element", SIZE(count));
  return true;
}

bool infer_order(tc_infer *c, tc_type *out) {
  const bool ok = infer_first(c, out, 0, 1);
  out->dtype = TC_I64;
  return ok;
}

bool infer_argsort(tc_infer *c, tc_type *out) { return infer_running_arg(c, out); }

bool infer_sort(tc_infer *c, tc_type *out) {
  return infer_running(c, out) && infer_second(c, infer_argsort, out);
}

static bool infer_topk_values(tc_infer *c, tc_type *out) { return infer_first(c, out, 0, 1); }

bool infer_topk(tc_infer *c, tc_type *out) {
  return infer_topk_values(c, out) && infer_second(c, infer_order, out);
}

bool infer_softmax(tc_infer *c, tc_type *out) {
  int axis;
  *out = *c->in[0];
  out->dtype = (uint8_t)infer_real(c);
  return infer_along(c, out, c->attr[0], &axis);
}
