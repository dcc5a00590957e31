/* simplify.c
 *
 * requires: primitives.  keeps: locations, every bit of every result, NaN, infinities and signed
 * zeros included; the exceptions are small powers, where products and roots are as close as pow.
 *
 * A rule looks at a node and its already simplified operands and gives what may stand for it, of
 * the same type, or ref 0. */
#include "graph/passes/pass.h"
#include "graph/passes/pattern.h"
#include "graph/passes/rewrite.h"

#include <math.h>

typedef struct site {
  tc_graph *g;
  const tc_node *n; /* op, attributes and type of what is replaced */
  const tc_ref *in; /* operands in g */
} site;

typedef tc_ref rule_fn(const site *s);

static const tc_ref none = {0};

static const tc_node *node(const site *s, tc_ref r) { return tc_graph_node(s->g, r); }
static const tc_type *type(const site *s, tc_ref r) { return tc_graph_type(s->g, r); }
static bool same(tc_ref a, tc_ref b) { return a.id == b.id; }
static bool is_op(const site *s, tc_ref r, tc_op op) { return node(s, r)->op == op; }
static bool is_float(const site *s) { return tc_dtype_is_float((tc_dtype)s->n->type.dtype); }
static bool is_int(const site *s) { return tc_dtype_is_int((tc_dtype)s->n->type.dtype); }
/* Has it the type of the node, its sizes as what is assumed says them? */
static bool fits(const site *s, tc_ref r) {
  tc_dims *dims = tc_graph_dims(s->g);
  const tc_type *x = type(s, r), *want = &s->n->type;
  if (!tc_type_alike(x, want)) return false;
  for (int i = 0; i < x->rank; i++)
    if (!tc_dim_same(tc_dim_norm(dims, x->dim[i]), tc_dim_norm(dims, want->dim[i]))) return false;
  return true;
}
/* r, if it has the type of what it replaces */
static tc_ref keep(const site *s, tc_ref r) { return r.id && fits(s, r) ? r : none; }
static tc_ref make1(const site *s, tc_op op, tc_ref a) { return tc_build1(s->g, op, a, s->n->loc); }
static tc_ref make2(const site *s, tc_op op, tc_ref a, tc_ref b) {
  return tc_build2(s->g, op, a, b, s->n->loc);
}
static tc_ref fill(const site *s, double v) { return tc_filled(s->g, v, &s->n->type, s->n->loc); }

/* Operand of an inner node of op `op` and of the type of the result; ref 0 if r is no such node. */
static tc_ref inside(const site *s, tc_ref r, tc_op op) {
  return is_op(s, r, op) ? keep(s, node(s, r)->in[0]) : none;
}

/* ---- one operand ----------------------------------------------------------------------------- */

static tc_ref rule_involution(const site *s) {
  return inside(s, s->in[0], s->n->op);
} /* f f x = x */

/* |-x| = |x|, (-x)^2 = x^2; of unsigned numbers -x is another magnitude */
static tc_ref rule_even(const site *s) {
  if (s->n->type.dtype == TC_U8) return none;
  tc_ref x = inside(s, s->in[0], OP_NEG);
  if (!x.id) x = inside(s, s->in[0], OP_ABS);
  return x.id ? make1(s, s->n->op, x) : none;
}

/* Rounding what is whole already */
static tc_ref rule_rounding(const site *s) {
  bool whole = tc_op_get(node(s, s->in[0])->op)->whole;
  return whole || !is_float(s) ? keep(s, s->in[0]) : none;
}

static tc_ref rule_abs(const site *s) {
  if (is_op(s, s->in[0], OP_SQUARE) && is_float(s)) return keep(s, s->in[0]);
  return rule_even(s);
}

/* 1 / sqrt(x) */
static tc_ref rule_reciprocal(const site *s) {
  tc_ref x = inside(s, s->in[0], OP_SQRT);
  return x.id ? make1(s, OP_RSQRT, x) : none;
}

static int mantissa_bits(tc_dtype d) {
  switch (d) {
  case TC_BF16:
    return 8;
  case TC_F16:
    return 11;
  case TC_F32:
    return 24;
  case TC_F64:
    return 53;
  default:
    return 0;
  }
}

/* Bits that hold the magnitude of every value of an integer dtype. */
static int value_bits(tc_dtype d) {
  switch (d) {
  case TC_BOOL:
    return 1;
  case TC_U8:
    return 8;
  case TC_I8:
    return 7;
  case TC_I16:
    return 15;
  case TC_I32:
    return 31;
  default:
    return 63;
  }
}

/* Does every value of a survive conversion to b? */
static bool lossless(tc_dtype a, tc_dtype b) {
  if (a == b || a == TC_BOOL) return true;
  if (tc_dtype_is_float(a))
    return tc_dtype_is_float(b) && (b == TC_F64 || (b == TC_F32 && a != TC_F64));
  if (tc_dtype_is_float(b)) return value_bits(a) <= mantissa_bits(b);
  return b != TC_BOOL && b != TC_U8 && value_bits(a) <= value_bits(b);
}

/* Casts in a row: what is held in between without loss need not be. */
static tc_ref rule_cast(const site *s) {
  tc_ref x = s->in[0];
  if (fits(s, x)) return x;
  if (!is_op(s, x, OP_CAST)) return none;
  tc_ref from = node(s, x)->in[0];
  tc_dtype a = (tc_dtype)type(s, from)->dtype, b = (tc_dtype)type(s, x)->dtype;
  tc_dtype c = (tc_dtype)s->n->type.dtype;
  bool wraps = !tc_dtype_is_float(a) && tc_dtype_is_float(b) && !tc_dtype_is_float(c) && a != c;
  if (!lossless(a, b) || wraps)
    return none; /* integer to integer wraps, float to integer does not */
  tc_ref y = a == c ? from : tc_build_cast(s->g, from, c, s->n->loc);
  return keep(s, y);
}

/* ---- sums and products ----------------------------------------------------------------------- */

/* x + -0 = x, and x + 0 = x for integers (-0 + 0 is +0) */
static tc_ref rule_add(const site *s) {
  for (int i = 0; i < 2; i++) {
    tc_ref x = s->in[i], c = s->in[1 - i], y;
    if (is_float(s) ? tc_is_value(s->g, c, -0.0) : tc_is_value(s->g, c, 0)) {
      if ((y = keep(s, x)).id) return y;
    }
    y = inside(s, c, OP_NEG); /* x + -y = x - y */
    if (y.id && s->n->type.dtype != TC_BOOL && !is_op(s, x, OP_NEG))
      return keep(s, make2(s, OP_SUB, x, y));
  }
  return none;
}

static tc_ref rule_sub(const site *s) {
  if (tc_is_value(s->g, s->in[1], 0)) return keep(s, s->in[0]);
  if (is_int(s) && same(s->in[0], s->in[1])) return fill(s, 0);
  tc_ref y = inside(s, s->in[1], OP_NEG);
  return y.id ? keep(s, make2(s, OP_ADD, s->in[0], y)) : none;
}

static tc_ref rule_mul(const site *s) {
  for (int i = 0; i < 2; i++) {
    tc_ref x = s->in[i], c = s->in[1 - i], y;
    if (tc_is_value(s->g, c, 1) && (y = keep(s, x)).id) return y;
    if (is_int(s) && tc_is_int_value(s->g, c, 0)) return fill(s, 0);
    if (tc_is_value(s->g, c, -1) && fits(s, x)) return make1(s, OP_NEG, x);
  }
  tc_ref a = inside(s, s->in[0], OP_NEG), b = inside(s, s->in[1], OP_NEG);
  if (a.id && b.id) return keep(s, make2(s, OP_MUL, a, b));
  return same(s->in[0], s->in[1]) && fits(s, s->in[0]) ? make1(s, OP_SQUARE, s->in[0]) : none;
}

/* x / 2^k = x * 2^-k, bit for bit, while 2^-k is a normal number. */
static tc_ref divide_by_power_of_two(const site *s) {
  tc_scalar_value c;
  int e;
  if (!tc_const_value(s->g, s->in[1], &c) || !tc_dtype_is_float(c.dtype)) return none;
  if (c.dtype != s->n->type.dtype || fabs(frexp(c.f, &e)) != 0.5) return none;
  int limit = c.dtype == TC_F16 ? 14 : c.dtype == TC_F64 ? 1022 : 126;
  if (e - 1 > limit || e - 1 < -limit) return none;
  tc_scalar_value inverse = {c.dtype, 1 / c.f, 0};
  tc_ref k = tc_const_of(s->g, inverse, type(s, s->in[1])->weak, s->n->loc);
  return keep(s, make2(s, OP_MUL, s->in[0], k));
}

static tc_ref rule_div(const site *s) {
  if (tc_is_value(s->g, s->in[1], 1)) return keep(s, s->in[0]);
  if (tc_is_value(s->g, s->in[0], 1) && fits(s, s->in[1])) {
    tc_ref x = inside(s, s->in[1], OP_SQRT);
    return x.id ? make1(s, OP_RSQRT, x) : make1(s, OP_RECIPROCAL, s->in[1]);
  }
  return is_float(s) ? divide_by_power_of_two(s) : none;
}

/* x^p for p = +-0.5, +-1.5, by a root.  pow gives inf at -inf and +0 at -0, where a root does not:
 * hence inf in place of -inf, and the absolute value.  f16 and bf16 would round in between. */
static tc_ref root_power(const site *s, tc_ref x, double p) {
  if (s->n->type.dtype != TC_F32 && s->n->type.dtype != TC_F64) return none;
  tc_ref low = make2(s, OP_EQ, x, fill(s, -INFINITY));
  tc_ref base = tc_build3(s->g, OP_WHERE, low, fill(s, INFINITY), x, s->n->loc);
  tc_ref y = make1(s, OP_SQRT, base);
  if (fabs(p) == 1.5) y = make2(s, OP_MUL, base, y);
  y = make1(s, OP_ABS, y);
  return keep(s, p < 0 ? make1(s, OP_RECIPROCAL, y) : y);
}

/* Small powers as products; the base first takes the dtype of the result. */
static tc_ref rule_pow(const site *s) {
  tc_scalar_value c;
  if (!tc_const_value(s->g, s->in[1], &c)) return none;
  double p = tc_dtype_is_float(c.dtype) ? c.f : (double)c.i;
  if (p == 0) return fill(s, 1);
  tc_ref x = s->in[0];
  if (!tc_same_shape(type(s, x), &s->n->type)) return none;
  const bool root = fabs(p) == 0.5 || fabs(p) == 1.5;
  const bool whole = p == 1 || p == 2 || p == 3 || p == 4 || (p == -1 && is_float(s));
  if (!root && !whole) return none;
  if (type(s, x)->dtype != s->n->type.dtype)
    x = tc_build_cast(s->g, x, (tc_dtype)s->n->type.dtype, s->n->loc);
  if (root) return root_power(s, x, p);
  if (p == 1) return keep(s, x);
  if (p == -1) return keep(s, make1(s, OP_RECIPROCAL, x));
  tc_ref square = make1(s, OP_SQUARE, x);
  if (p == 2) return keep(s, square);
  return keep(s, p == 3 ? make2(s, OP_MUL, square, x) : make1(s, OP_SQUARE, square));
}

/* ---- selection ------------------------------------------------------------------------------- */

/* max(x, x) = x, max(max(x, y), y) = max(x, y) */
static tc_ref rule_idempotent(const site *s) {
  for (int i = 0; i < 2; i++) {
    tc_ref a = s->in[i], b = s->in[1 - i];
    if (same(a, b)) return keep(s, a);
    if (node(s, a)->op == s->n->op && (same(node(s, a)->in[0], b) || same(node(s, a)->in[1], b)))
      return keep(s, a);
  }
  return none;
}

static tc_ref rule_bitxor(const site *s) { return same(s->in[0], s->in[1]) ? fill(s, 0) : none; }

static tc_ref rule_where(const site *s) {
  tc_scalar_value c;
  if (same(s->in[1], s->in[2])) {
    tc_ref y = keep(s, s->in[1]);
    if (y.id) return y;
  }
  if (tc_const_value(s->g, s->in[0], &c)) {
    bool yes = tc_dtype_is_float(c.dtype) ? c.f != 0 : c.i != 0;
    return keep(s, s->in[yes ? 1 : 2]);
  }
  if (!is_op(s, s->in[0], OP_NOT)) return none;
  tc_ref condition = node(s, s->in[0])->in[0];
  if (type(s, condition)->dtype != TC_BOOL) return none;
  return tc_build3(s->g, OP_WHERE, condition, s->in[2], s->in[1], s->n->loc);
}

/* x == x and so on: only NaN is not equal to itself. */
static tc_ref rule_compare(const site *s) {
  if (!same(s->in[0], s->in[1]) || tc_dtype_is_float((tc_dtype)type(s, s->in[0])->dtype))
    return none;
  return fill(s, s->n->op == OP_EQ || s->n->op == OP_LE || s->n->op == OP_GE);
}

/* Tests of what is never NaN or infinite */
static tc_ref rule_test(const site *s) {
  if (tc_dtype_is_float((tc_dtype)type(s, s->in[0])->dtype)) return none;
  return fill(s, s->n->op == OP_ISFINITE);
}

/* not not x = x for bool */
static tc_ref rule_not(const site *s) { return inside(s, s->in[0], OP_NOT); }

/* ---- shapes ---------------------------------------------------------------------------------- */

/* A reduction over axes of size 1 that picks its only element. */
static tc_ref rule_single(const site *s) {
  const tc_type *from = type(s, s->in[0]);
  bool exact = s->n->op != OP_SUM || !is_float(s); /* +0 + -0 is +0 */
  if (!exact || from->dtype != s->n->type.dtype) return none;
  const tc_dim *axes;
  int count = tc_attr_list(s->n, "axes", &axes);
  for (int i = 0; i < (count ? count : from->rank); i++) {
    int64_t a = count ? tc_dim_value(axes[i]) : i;
    if (!tc_dim_is(from->dim[a < 0 ? a + from->rank : a], 1)) return none;
  }
  return tc_build_reshape(s->g, s->in[0], s->n->type.rank, s->n->type.dim, s->n->loc);
}

/* A scan of one element, or of lines of one. */
static tc_ref rule_scan(const site *s) {
  const tc_type *from = type(s, s->in[0]);
  const int64_t axis = tc_dim_value(tc_attr_int(s->n, "axis"));
  if (from->rank && !tc_dim_is(from->dim[axis < 0 ? axis + from->rank : axis], 1)) return none;
  return tc_build_cast(s->g, s->in[0], (tc_dtype)s->n->type.dtype, s->n->loc);
}

static tc_ref rule_concat(const site *s) { return s->n->nin == 1 ? keep(s, s->in[0]) : none; }

typedef struct span { /* first <= i < end along an axis */
  tc_dim first, end;
} span;

/* The elements of a slice of step 1 along its axis. */
static bool slice_span(const site *s, int axis, span *own) {
  tc_dims *dims = tc_graph_dims(s->g);
  tc_dim size = type(s, s->in[0])->dim[axis], length;
  if (!tc_dim_is(tc_attr_int(s->n, "step"), 1) ||
      !tc_slice_bounds(dims, size, tc_attr_int(s->n, "start"), tc_attr_int(s->n, "stop"), 1,
                       &own->first, &length))
    return false;
  own->first = tc_dim_norm(dims, own->first);
  own->end = tc_dim_norm(dims, tc_dim_add(dims, own->first, length));
  return !tc_dim_bad(own->end);
}

/* The elements of a part that was put at step 1 along one axis, whole along the others. */
static bool put_span(const site *s, const tc_node *n, int axis, span *own) {
  tc_dims *dims = tc_graph_dims(s->g);
  const tc_type *part = type(s, n->in[1]);
  const tc_dim *first, *step;
  tc_attr_list(n, "first", &first);
  tc_attr_list(n, "step", &step);
  for (int i = 0; i < part->rank; i++)
    if (!tc_dim_is(step[i], 1) || (i != axis && !tc_dim_same(part->dim[i], n->type.dim[i])))
      return false;
  own->first = tc_dim_norm(dims, first[axis]);
  own->end = tc_dim_norm(dims, tc_dim_add(dims, own->first, part->dim[axis]));
  return !tc_dim_bad(own->end);
}

/* A slice of just what was put into an array, be it before parts that lie elsewhere */
static tc_ref rule_slice(const site *s) {
  enum { LOOK = 2048 };
  tc_dims *dims = tc_graph_dims(s->g);
  const tc_node *x = node(s, s->in[0]);
  const int axis = (int)tc_dim_value(tc_attr_int(s->n, "axis"));
  span want, own;
  if (x->op != OP_PUT || !slice_span(s, axis, &want)) return none;
  for (int look = 0; look < LOOK && x->op == OP_PUT; look++) {
    if (!put_span(s, x, axis, &own)) return none;
    if (tc_dim_same(own.first, want.first) && tc_dim_same(own.end, want.end))
      return keep(s, x->in[1]);
    if (!tc_dim_known_le(dims, own.end, want.first) && !tc_dim_known_le(dims, want.end, own.first))
      return none;
    x = node(s, x->in[0]);
  }
  return none;
}

/* Windows of one element are every step-th element; one of all is the axis as the last one. */
static tc_ref rule_unfold(const site *s) {
  const tc_type *x = type(s, s->in[0]);
  const int axis = (int)tc_dim_value(tc_attr_int(s->n, "axis"));
  const tc_dim size = tc_attr_int(s->n, "size"), step = tc_attr_int(s->n, "step");
  tc_dim slice[4] = {tc_dim_const(axis), tc_dim_const(0), x->dim[axis], step};
  tc_ref each = s->in[0];
  if (tc_dim_same(size, x->dim[axis])) {
    int order[TC_MAX_RANK];
    for (int i = 0; i < x->rank; i++) order[i] = i < axis ? i : i == x->rank - 1 ? axis : i + 1;
    each = tc_build_permute(s->g, each, x->rank, order, s->n->loc);
  } else if (!tc_dim_is(size, 1)) return none;
  else if (!tc_dim_is(step, 1))
    each = tc_build(s->g, OP_SLICE, 1, &each, 4, slice, NULL, s->n->loc);
  return each.id ? tc_build_reshape(s->g, each, s->n->type.rank, s->n->type.dim, s->n->loc) : none;
}

/* No padding on either side of any axis */
static tc_ref rule_pad(const site *s) {
  const tc_dim *before, *after;
  int nb = tc_attr_list(s->n, "before", &before), na = tc_attr_list(s->n, "after", &after);
  for (int i = 0; i < nb; i++)
    if (!tc_dim_is(before[i], 0)) return none;
  for (int i = 0; i < na; i++)
    if (!tc_dim_is(after[i], 0)) return none;
  return keep(s, s->in[0]);
}

/* A triangle that covers the whole matrix */
static tc_ref rule_tri(const site *s) {
  tc_dims *dims = tc_graph_dims(s->g);
  const tc_type *t = &s->n->type;
  tc_dim k = tc_attr_int(s->n, "k"), one = tc_dim_const(1);
  bool all = s->n->op == OP_TRIL
                 ? tc_dim_known_le(dims, tc_dim_sub(dims, t->dim[t->rank - 1], one), k)
                 : tc_dim_known_le(dims, k, tc_dim_sub(dims, one, t->dim[t->rank - 2]));
  return all ? keep(s, s->in[0]) : none;
}

/* ---- the table ------------------------------------------------------------------------------- */

static rule_fn *const rules[OP_COUNT] = {
    [OP_NEG] = rule_involution,
    [OP_ABS] = rule_abs,
    [OP_SQUARE] = rule_even,
    [OP_FLOOR] = rule_rounding,
    [OP_CEIL] = rule_rounding,
    [OP_ROUND] = rule_rounding,
    [OP_TRUNC] = rule_rounding,
    [OP_BITNOT] = rule_involution,
    [OP_NOT] = rule_not,
    [OP_CAST] = rule_cast,
    [OP_RECIPROCAL] = rule_reciprocal,
    [OP_ISNAN] = rule_test,
    [OP_ISINF] = rule_test,
    [OP_ISFINITE] = rule_test,
    [OP_ADD] = rule_add,
    [OP_SUB] = rule_sub,
    [OP_MUL] = rule_mul,
    [OP_DIV] = rule_div,
    [OP_POW] = rule_pow,
    [OP_MAXIMUM] = rule_idempotent,
    [OP_MINIMUM] = rule_idempotent,
    [OP_AND] = rule_idempotent,
    [OP_OR] = rule_idempotent,
    [OP_BITAND] = rule_idempotent,
    [OP_BITOR] = rule_idempotent,
    [OP_BITXOR] = rule_bitxor,
    [OP_WHERE] = rule_where,
    [OP_EQ] = rule_compare,
    [OP_NE] = rule_compare,
    [OP_LT] = rule_compare,
    [OP_LE] = rule_compare,
    [OP_GT] = rule_compare,
    [OP_GE] = rule_compare,
    [OP_SUM] = rule_single,
    [OP_PROD] = rule_single,
    [OP_AMAX] = rule_single,
    [OP_AMIN] = rule_single,
    [OP_ANY] = rule_single,
    [OP_ALL] = rule_single,
    [OP_CUMSUM] = rule_scan,
    [OP_CUMPROD] = rule_scan,
    [OP_RUNNING_MAX] = rule_scan,
    [OP_RUNNING_MIN] = rule_scan,
    [OP_SLICE] = rule_slice,
    [OP_UNFOLD] = rule_unfold,
    [OP_CONCAT] = rule_concat,
    [OP_PAD] = rule_pad,
    [OP_TRIL] = rule_tri,
    [OP_TRIU] = rule_tri,
};

static tc_ref simplify_node(tc_rewrite *w, tc_ref r, const tc_node *n, const tc_ref *in) {
  (void)r;
  site s = {w->g, n, in};
  tc_ref y = rules[n->op] ? rules[n->op](&s) : none;
  return y.id ? y : tc_rewrite_copy(w->g, w->old, n, in);
}

tc_graph *tc_pass_simplify(tc_graph *g) { return tc_rewrite_run(g, simplify_node, NULL); }
