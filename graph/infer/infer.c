/* Inference: the driver, and the helpers of the rules.
 *
 * With constant sizes (the eager runtime, dims == NULL) nothing here allocates. */
#include "graph/infer/infer_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- messages -------------------------------------------------------------------------------- */

static void set_message(tc_infer *c, const char *format, va_list ap) {
  if (c->message && c->message_size) vsnprintf(c->message, c->message_size, format, ap);
}

bool infer_fail(tc_infer *c, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  set_message(c, format, ap);
  va_end(ap);
  return false;
}

bool infer_unsupported(tc_infer *c, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  set_message(c, format, ap);
  va_end(ap);
  c->soft = true;
  return false;
}

bool infer_overflow(tc_infer *c) {
  c->soft = c->dims != NULL;
  return infer_fail(c, "size product exceeds 64 bits");
}

static infer_text keep_text(tc_buf *b) {
  infer_text t;
  bool long_text = b->len >= sizeof t.s;
  snprintf(t.s, sizeof t.s, "%.*s%s", (int)sizeof t.s - 4, b->text ? b->text : "?",
           long_text ? "..." : "");
  tc_buf_free(b);
  return t;
}

infer_text infer_shape_text(tc_infer *c, const tc_type *t) {
  tc_buf b = {0};
  tc_shape_print(c->dims, t, &b);
  return keep_text(&b);
}

infer_text infer_dim_text(tc_infer *c, tc_dim d) {
  tc_buf b = {0};
  tc_dim_print(c->dims, d, NULL, &b);
  return keep_text(&b);
}

/* ---- attributes ------------------------------------------------------------------------------ */

bool infer_int(tc_infer *c, int k, const char *name, int64_t *v) {
  tc_dim d = tc_dim_norm(c->dims, c->attr[k]);
  if (!tc_dim_is_const(d))
    return infer_unsupported(c, "%s must be a constant, not %s", name, SIZE(d));
  *v = tc_dim_value(d);
  return true;
}

bool infer_axis(tc_infer *c, const tc_type *t, int rank, tc_dim axis, int *out) {
  if (!tc_dim_is_const(axis))
    return infer_unsupported(c, "an axis must be a constant, not %s", SIZE(axis));
  int64_t v = tc_dim_value(axis);
  if (v < -rank || v >= rank)
    return infer_fail(c, "axis %lld is out of range for %s", (long long)v, SHAPE(t));
  *out = (int)(v < 0 ? v + rank : v);
  return true;
}

bool infer_along(tc_infer *c, const tc_type *t, tc_dim axis, int *out) {
  return infer_axis(c, t, t->rank ? t->rank : 1, axis, out);
}

bool infer_axes(tc_infer *c, const tc_type *t, int k, uint32_t *mask, int *n) {
  *mask = 0;
  *n = (int)tc_dim_value(c->attr[k]);
  for (int i = 0; i < *n; i++) {
    int axis;
    if (!infer_along(c, t, c->attr[k + 1 + i], &axis)) return false;
    if (*mask >> axis & 1) return infer_fail(c, "axis %d appears twice", axis);
    *mask |= 1u << axis;
  }
  return true;
}

/* ---- broadcasting ---------------------------------------------------------------------------- */

/* a == b, or one of them is 1 after all: then the assumption was a guess. */
tc_dim infer_unify_guess(tc_infer *c, tc_dim a, tc_dim b) {
  const tc_dim_pair *pairs;
  if (!c->dims) return tc_dim_unify(NULL, a, b);
  uint32_t before = tc_dims_assumed(c->dims, &pairs);
  tc_dim one = tc_dim_const(1), both;
  bool may_be_1 = !tc_dim_known_ne(c->dims, a, one) || !tc_dim_known_ne(c->dims, b, one);
  both = tc_dim_unify(c->dims, a, b);
  if (may_be_1 && tc_dims_assumed(c->dims, &pairs) > before) tc_dims_guess(c->dims);
  return both;
}

tc_dim infer_guess_one(tc_infer *c, tc_dim a, tc_dim other) {
  const tc_dim one = tc_dim_const(1);
  if (!c->dims || tc_dim_is_const(a) || tc_dim_same(a, other)) return a;
  if (tc_dim_known_ne(c->dims, a, one)) return a;
  if (!tc_dim_known_le(c->dims, a, one) && !tc_dim_known_ne(c->dims, a, other)) return a;
  const tc_dim found = tc_dim_unify(c->dims, a, one);
  if (tc_dim_bad(found)) return a;
  tc_dims_guess(c->dims);
  return one;
}

bool infer_broadcast_dim(tc_infer *c, tc_dim a, tc_dim b, tc_dim *out) {
  if (!tc_dim_is_const(a) || !tc_dim_is_const(b)) {
    a = tc_dim_norm(c->dims, a);
    b = tc_dim_norm(c->dims, b);
    a = infer_guess_one(c, a, b);
    b = infer_guess_one(c, b, a);
  }
  if (tc_dim_is(a, 1)) *out = b;
  else if (tc_dim_is(b, 1)) *out = a;
  else *out = infer_unify_guess(c, a, b);
  return !tc_dim_bad(*out);
}

bool infer_broadcast(tc_infer *c, tc_type *acc, const tc_type *b) {
  tc_type r = *acc;
  r.rank = acc->rank > b->rank ? acc->rank : b->rank;
  for (int i = 0; i < r.rank; i++) {
    int x = i - (r.rank - acc->rank), y = i - (r.rank - b->rank);
    tc_dim one = tc_dim_const(1), p = x < 0 ? one : acc->dim[x], q = y < 0 ? one : b->dim[y];
    if (!infer_broadcast_dim(c, p, q, &r.dim[i]))
      return infer_fail(c, "%s and %s do not broadcast: %s != %s at axis %d", SHAPE(acc), SHAPE(b),
                        SIZE(p), SIZE(q), i);
  }
  *acc = r;
  return true;
}

bool infer_broadcast_all(tc_infer *c, tc_type *out) {
  for (int i = 0; i < c->nin; i++)
    if (c->in[i] && !infer_broadcast(c, out, c->in[i])) return false;
  return true;
}

/* ---- operands -------------------------------------------------------------------------------- */

tc_dtype infer_promoted(const tc_infer *c) { return tc_promote_all(c->in, c->nin); }

static bool all_weak(const tc_infer *c) {
  bool any = false;
  for (int i = 0; i < c->nin; i++) {
    if (c->in[i] && !c->in[i]->weak) return false;
    any |= c->in[i] != NULL;
  }
  return any;
}

tc_dtype infer_real(const tc_infer *c) {
  tc_dtype d = infer_promoted(c);
  if (tc_dtype_is_float(d)) return d;
  return all_weak(c) ? TC_F64 : TC_F32;
}

bool infer_scalar_operand(tc_infer *c, int k, const char *name) {
  if (c->in[k]->rank == 0) return true;
  return infer_fail(c, "%s must be a scalar, not %s", name, SHAPE(c->in[k]));
}

bool infer_index_operand(tc_infer *c, int k) {
  tc_dtype d = (tc_dtype)c->in[k]->dtype;
  if (d == TC_I32 || d == TC_I64) return true;
  return infer_fail(c, "indices must be i32 or i64, not %s", tc_dtype_text(d));
}

bool infer_nonnegative(tc_infer *c, tc_dim d, const char *what) {
  if (tc_dim_assume_range(c->dims, d, 0, INT64_MAX)) return true;
  if (tc_dim_bad(d)) return infer_overflow(c);
  return infer_fail(c, "%s must not be negative: %s", what, SIZE(d));
}

bool infer_push_dim(tc_infer *c, tc_type *out, tc_dim d) {
  if (out->rank == TC_MAX_RANK)
    return infer_fail(c, "the result has more than %d axes", TC_MAX_RANK);
  out->dim[out->rank++] = d;
  return true;
}

/* ---- the driver ------------------------------------------------------------------------------ */

static bool check_operands(tc_infer *c, const tc_op_info *info) {
  if (c->nin < info->min_in || (c->nin > info->max_in && info->max_in != 255))
    return infer_fail(c, "takes %d operand%s, not %d", info->min_in, info->min_in == 1 ? "" : "s",
                      c->nin);
  uint32_t optional = info->optional;
  for (int i = 0; i < c->nin; i++)
    if (!c->in[i] && !(i < 32 && optional >> i & 1))
      return infer_fail(c, "operand %d is missing", i + 1);
  return true;
}

static bool check_attr(tc_infer *c, const char *name, char kind, tc_dim v) {
  int length = (int)strcspn(name, ":");
  if (tc_dim_bad(v)) return infer_fail(c, "%.*s exceeds 64 bits", length, name);
  if (kind == 'b' && !tc_dim_is(v, 0) && !tc_dim_is(v, 1))
    return infer_fail(c, "%.*s must be 0 or 1", length, name);
  if (kind == 'D' && (!tc_dim_is_const(v) || (uint64_t)tc_dim_value(v) >= TC_DTYPE_COUNT))
    return infer_fail(c, "%.*s is not an element type", length, name);
  return true;
}

/* The flat list follows the schema: every kind one entry, lists their length first. */
static bool check_attrs(tc_infer *c, const char *schema) {
  int k = 0;
  for (const char *s = schema; *s; s += strcspn(s, " "), s += *s == ' ') {
    char kind = s[strcspn(s, ":") + 1];
    if (k >= c->nattr) return infer_fail(c, "too few attributes");
    tc_dim v = c->attr[k++];
    if (!check_attr(c, s, kind, v)) return false;
    if (kind != 'I') continue;
    int length = (int)strcspn(s, ":");
    if (!tc_dim_is_const(v) || tc_dim_value(v) < 0)
      return infer_fail(c, "%.*s has no valid length", length, s);
    if (tc_dim_value(v) > TC_MAX_RANK)
      return infer_fail(c, "%.*s has more than %d entries", length, s, TC_MAX_RANK);
    for (int64_t n = tc_dim_value(v); n > 0; n--, k++) {
      if (k >= c->nattr) return infer_fail(c, "too few attributes");
      if (!check_attr(c, s, kind, c->attr[k])) return false;
    }
  }
  return k == c->nattr || infer_fail(c, "too many attributes");
}

/* Sizes known at this point must have a product that fits. */
static bool check_size(tc_infer *c, const tc_type *t) {
  int64_t n = 1;
  bool over = false, all = true;
  for (int i = 0; i < t->rank; i++) {
    if (tc_dim_bad(t->dim[i])) return infer_overflow(c);
    if (tc_dim_is(t->dim[i], 0)) return true;
  }
  for (int i = 0; i < t->rank; i++) {
    if (tc_dim_is_const(t->dim[i])) over |= __builtin_mul_overflow(n, tc_dim_value(t->dim[i]), &n);
    else all = false;
  }
  if (!over && !tc_dim_bad(tc_dim_const(n))) return true;
  c->soft = !all; /* a symbolic size may turn out to be 0 */
  return infer_fail(c, "size product exceeds 64 bits: %s", SHAPE(t));
}

static bool run_rule(tc_infer *c, const tc_op_info *info, tc_type *out) {
  c->nresult = 1;
  if (!check_operands(c, info) || !check_attrs(c, info->attrs)) return false;
  if (!info->infer(c, out)) return false;
  /* What is created with a dtype has that dtype, even from a C scalar; tuples hand types on. */
  const bool derives = c->nin > 0 && info->cls != TC_CLASS_GEN && info->cls != TC_CLASS_TUPLE;
  const bool weak = derives && all_weak(c);
  for (int i = 0; i < c->nresult; i++) {
    if (derives) out[i].weak = out[i].rank == 0 && weak;
    if (!check_size(c, &out[i])) return false;
  }
  return true;
}

bool infer_tuple(tc_infer *c, tc_type *out) {
  if (c->nin > TC_MAX_RESULTS) return infer_fail(c, "more than %d results", TC_MAX_RESULTS);
  c->nresult = c->nin;
  for (int i = 0; i < c->nin; i++) out[i] = *c->in[i];
  return true;
}

/* The types of several results lie side by side (tc_graph_type); the graph has checked the
 * index. */
bool infer_result(tc_infer *c, tc_type *out) {
  *out = c->in[0][tc_dim_value(c->attr[0])];
  return true;
}

bool tc_infer_type(tc_infer *c, tc_type *out) {
  const tc_op_info *info = tc_op_get(c->op);
  *out = (tc_type){0};
  if (!info) return infer_fail(c, "no such op");
  c->soft = false;
  if (run_rule(c, info, out)) return true;
  c->soft |= c->dims && tc_dims_guessed(c->dims);
  size_t n = strlen(info->text) + 2; /* "matmul: " goes in front */
  if (c->message && c->message_size > n) {
    size_t len = strlen(c->message), room = c->message_size - 1 - n;
    if (len > room) len = room;
    memmove(c->message + n, c->message, len);
    memcpy(c->message, info->text, n - 2);
    memcpy(c->message + n - 2, ": ", 2);
    c->message[n + len] = 0;
  }
  return false;
}
