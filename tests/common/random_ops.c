/* random_ops.c - one random node of each elementwise, reducing, view, joining or indexing op. */
#include "tests/common/random_impl.h"

static const tc_loc nowhere = {0, 0, 0, 0};
static const tc_ref none = {0};

/* ---- elementwise ----------------------------------------------------------------------------- */

/* Ops whose result jumps: a rounding error in the operand would show. */
static bool decides(tc_op op) {
  return (op >= OP_FLOOR && op <= OP_NOT) || op == OP_SIGN || op == OP_FREXP ||
         (op >= OP_FLOORDIV && op <= OP_FMOD) || (op >= OP_EQ && op <= OP_XOR) ||
         op == OP_COPYSIGN || op == OP_POW || op == OP_CAST;
}

static int operand_needs(tc_op op) {
  int need = decides(op) ? NEED_EXACT : 0;
  if (op == OP_BITNOT || (op >= OP_BITAND && op <= OP_BITXOR)) return NEED_EXACT;
  return op == OP_SHL || op == OP_SHR ? NEED_INT
                                      : need | (op == OP_NEG || op == OP_SUB ? NEED_NOT_BOOL : 0);
}

static tc_ref pointwise_special(random_state *r, tc_op op, const random_value *x) {
  const random_value *y = random_partner(r, x, 0), *mask = random_partner(r, x, NEED_BOOL);
  double c = (double)random_below(r, 9) / 4 - 1;
  int64_t attr = (int64_t)random_below(r, 6) - 2;
  switch (op) {
  case OP_CAST:
    attr = (int64_t)random_below(r, 2) ? TC_F64 : TC_I32;
    return random_node(r, op, 1, &x->ref, 1, &attr);
  case OP_TRIL:
  case OP_TRIU:
    return x->type.rank < 2 ? none : random_node(r, op, 1, &x->ref, 1, &attr);
  case OP_LEAKY_RELU:
  case OP_ELU:
    return tc_build2(r->g, op, x->ref, random_const(r, c), nowhere);
  case OP_LERP:
    return y ? tc_build3(r->g, op, x->ref, y->ref, random_const(r, c), nowhere) : none;
  case OP_CLAMP:
    return tc_build3(r->g, op, x->ref, random_const(r, c), random_const(r, c + 1), nowhere);
  case OP_MASKED_FILL:
    return mask ? tc_build3(r->g, op, x->ref, mask->ref, random_const(r, c), nowhere) : none;
  default:
    return none;
  }
}

/* Three operands that broadcast together: the third must fit the result of the first two. */
static tc_ref three(random_state *r, tc_op op) {
  const random_value *a = random_pick(r, op == OP_WHERE ? NEED_BOOL : NEED_NOT_BOOL, 0, 4);
  const random_value *b = random_partner(r, a, 0);
  const random_value *c = b ? random_shaped(r, 0, b->type.rank, b->dim) : NULL;
  return c ? tc_build3(r->g, op, a->ref, b->ref, c->ref, nowhere) : none;
}

tc_ref random_pointwise(random_state *r, tc_op op) {
  const tc_op_info *info = tc_op_get(op);
  int need = operand_needs(op);
  const random_value *x = random_pick(r, need, 0, 5);
  if (!x) return none;
  tc_ref y = pointwise_special(r, op, x);
  if (y.id || info->attrs[0]) return y;
  if (info->min_in == 1) return tc_build1(r->g, op, x->ref, nowhere);
  if (info->min_in == 3) return three(r, op);
  /* Some constants: what simplification looks for. */
  static const double constants[] = {0, -0.0, 1, -1, 2, 3, 0.5, 4};
  bool constant = random_below(r, 4) == 0 && tc_dtype_is_float((tc_dtype)x->type.dtype);
  const random_value *o = random_partner(r, x, need);
  tc_ref other = constant ? random_const(r, constants[random_below(r, 8)]) : o ? o->ref : none;
  return random_below(r, 3) ? tc_build2(r->g, op, x->ref, other, nowhere)
                            : tc_build2(r->g, op, other, x->ref, nowhere);
}

/* ---- reductions ------------------------------------------------------------------------------ */

static int random_axes(random_state *r, int rank, int64_t *axes) {
  int n = 0;
  for (int i = 0; i < rank; i++)
    if (random_below(r, 2)) axes[n++] = random_below(r, 2) ? i : i - rank;
  return n;
}

tc_ref random_reduction(random_state *r, tc_op op) {
  static const double powers[] = {0, 1, 2, 3, 1.5, 1.0 / 0.0, -1.0 / 0.0};
  const bool index =
      op == OP_ARGMAX || op == OP_ARGMIN || op == OP_MAX_WITH_INDEX || op == OP_MIN_WITH_INDEX;
  const bool extrema = op == OP_CUMMAX || op == OP_CUMMIN || op == OP_RUNNING_ARGMAX || op == OP_RUNNING_ARGMIN;
  const bool jumps = op == OP_ANY || op == OP_ALL || index || extrema;
  const random_value *x =
      random_pick(r, NEED_DATA | (jumps || op == OP_NORM ? NEED_EXACT : 0), 1, 4);
  int64_t attr[TC_MAX_RANK + 3] = {0};
  if (!x) return none;
  if (tc_op_get(op)->cls == TC_CLASS_SCAN || extrema) {
    attr[0] = (int64_t)random_below(r, x->type.rank);
    return random_node(r, op, 1, &x->ref, 1, attr);
  }
  int n = random_axes(r, x->type.rank, attr + 1);
  if (index && n > 1) n = 1;
  attr[0] = n++;
  if (op == OP_VAR || op == OP_STD || op == OP_VAR_MEAN) attr[n++] = (int64_t)random_below(r, 3);
  attr[n++] = (int64_t)random_below(r, 2);
  tc_ref p = random_below(r, 4) ? random_const(r, powers[random_below(r, 7)]) : r->scalar[0];
  return random_node(r, op, op == OP_NORM ? 2 : 1, (tc_ref[]){x->ref, p}, n, attr);
}

/* All of an axis in order, or the first of it. */
tc_ref random_order(random_state *r, tc_op op) {
  const random_value *x = random_pick(r, NEED_DATA | NEED_EXACT, 1, 4);
  if (!x) return none;
  const int axis = (int)random_below(r, x->type.rank);
  const int64_t size = x->dim[axis], k = size ? 1 + (int64_t)random_below(r, (uint64_t)size) : 0,
                flag = (int64_t)random_below(r, 2);
  if (op == OP_ORDER || op == OP_TOPK) return random_node(r, op, 1, &x->ref, 3, (int64_t[]){k, axis, flag});
  return random_node(r, op, 1, &x->ref, 2, (int64_t[]){axis, flag});
}

/* ---- views ----------------------------------------------------------------------------------- */

/* An axis whose elements, or which as a whole, repeats: unsqueeze, expand and reshape, as repeat_kv is. */
static tc_ref random_repeat(random_state *r, const random_value *x, int at) {
  tc_dims *dims = tc_graph_dims(r->g);
  tc_dim to[TC_MAX_RANK + 1];
  const int rank = x->type.rank, new = at + (int)random_below(r, 2);
  const tc_dim times = tc_dim_const(2 + (int64_t)random_below(r, 2));
  for (int i = 0; i <= rank; i++) to[i] = i == new ? tc_dim_const(1) : x->type.dim[i - (i > new)];
  tc_ref y = tc_build_reshape(r->g, x->ref, rank + 1, to, nowhere);
  to[new] = times;
  y = tc_build_expand(r->g, y, rank + 1, to, nowhere);
  for (int i = 0; i < rank; i++)
    to[i] = i == at ? tc_dim_mul(dims, x->type.dim[i], times) : x->type.dim[i];
  return tc_build_reshape(r->g, y, rank, to, nowhere);
}

/* One of: flat, a new axis of size 1, two axes merged, an axis of 4 split, ones dropped, one repeated. */
static tc_ref random_reshape(random_state *r, const random_value *x) {
  tc_dims *dims = tc_graph_dims(r->g);
  tc_dim to[TC_MAX_RANK + 1];
  int how = (int)random_below(r, 6), n = 0, at = (int)random_below(r, x->type.rank);
  if (how == 5) return random_repeat(r, x, at);
  if (how == 0)
    return tc_build_reshape(r->g, x->ref, 1, (tc_dim[]){tc_type_numel(dims, &x->type)}, nowhere);
  for (int i = 0; i < x->type.rank; i++) {
    tc_dim d = x->type.dim[i];
    if (how == 1 && i == at) to[n++] = tc_dim_const(1);
    if (how == 2 && i == at && i + 1 < x->type.rank) d = tc_dim_mul(dims, d, x->type.dim[++i]);
    if (how == 3 && tc_dim_is(d, 4)) to[n++] = d = tc_dim_const(2);
    if (how != 4 || !tc_dim_is(d, 1)) to[n++] = d;
  }
  return n > 6 ? none : tc_build_reshape(r->g, x->ref, n, to, nowhere);
}

static tc_ref random_permute(random_state *r, const random_value *x) {
  int axes[TC_MAX_RANK], rank = x->type.rank;
  for (int i = 0; i < rank; i++) axes[i] = i;
  for (int i = rank - 1; i > 0; i--) {
    int j = (int)random_below(r, (uint64_t)i + 1), t = axes[i];
    axes[i] = axes[j], axes[j] = t;
  }
  return tc_build_permute(r->g, x->ref, rank, axes, nowhere);
}

/* Axes of size 1 grow, and one may be new. */
static tc_ref random_expand(random_state *r, const random_value *x) {
  tc_dim to[TC_MAX_RANK + 1];
  int n = 0;
  if (random_below(r, 2)) to[n++] = tc_dim_const(2);
  for (int i = 0; i < x->type.rank; i++)
    to[n++] = tc_dim_is(x->type.dim[i], 1) && random_below(r, 2) ? tc_dim_const(3) : x->type.dim[i];
  return n > 6 ? none : tc_build_expand(r->g, x->ref, n, to, nowhere);
}

static tc_ref random_slice(random_state *r, const random_value *x, int axis) {
  int64_t size = x->dim[axis], start = (int64_t)random_below(r, (uint64_t)size + 1), stop = size;
  int64_t step = 1 + (int64_t)random_below(r, 2);
  if (tc_dim_is_const(x->type.dim[axis]))
    stop = start + (int64_t)random_below(r, (uint64_t)size + 1);
  if (random_below(r, 3) == 0) start = size - 1, stop = -(INT64_C(1) << 60), step = -step;
  if (!tc_dim_is_const(x->type.dim[axis])) { /* from the front or to the end, whatever the size */
    start = (int64_t)random_below(r, 2);
    stop = INT64_C(1) << 60;
    step = 1;
  }
  return random_node(r, OP_SLICE, 1, &x->ref, 4, (int64_t[]){axis, start, stop, step});
}

/* Of a symbol, which is 2 or 3 where the graph runs, the size has to be at least that of a window. */
static tc_ref random_unfold(random_state *r, const random_value *x, int axis) {
  const bool known = tc_dim_is_const(x->type.dim[axis]);
  const int64_t size = (int64_t)random_below(r, (uint64_t)(known ? x->dim[axis] + 1 : 2));
  if (x->type.rank > 5) return none;
  return random_node(r, OP_UNFOLD, 1, &x->ref, 3, (int64_t[]){axis, size, 1 + (int64_t)random_below(r, 3)});
}

tc_ref random_view(random_state *r, tc_op op) {
  const random_value *x = random_pick(r, op == OP_SELECT ? NEED_DATA : 0, 1, 5);
  if (!x) return none;
  int rank = x->type.rank, axis = (int)random_below(r, (uint64_t)rank);
  int64_t attr[TC_MAX_RANK + 1] = {axis, (int64_t)random_below(r, (uint64_t)rank)};
  switch (op) {
  case OP_RESHAPE:
    return random_reshape(r, x);
  case OP_PERMUTE:
    return random_permute(r, x);
  case OP_EXPAND:
    return random_expand(r, x);
  case OP_SLICE:
    return random_slice(r, x, axis);
  case OP_UNFOLD:
    return random_unfold(r, x, axis);
  case OP_FLIP:
    return random_node(r, op, 1, &x->ref, 2, (int64_t[]){1, axis});
  case OP_TRANSPOSE:
    return random_node(r, op, 1, &x->ref, 2, attr);
  case OP_SELECT:
    return random_node(r, op, 1, &x->ref, 2, (int64_t[]){axis, random_below(r, 2) ? 0 : -1});
  case OP_SQUEEZE:
    return x->dim[axis] == 1 && tc_dim_is_const(x->type.dim[axis])
               ? random_node(r, op, 1, &x->ref, 1, attr)
               : none;
  case OP_UNSQUEEZE:
    return rank > 5 ? none : random_node(r, op, 1, &x->ref, 1, attr);
  case OP_FLATTEN:
    return attr[0] > attr[1] ? none : random_node(r, op, 1, &x->ref, 2, attr);
  default:
    return tc_build1(r->g, op, x->ref, nowhere);
  }
}

/* ---- joins ----------------------------------------------------------------------------------- */

/* What a slice of x made of y's elements, or of its own, is put back into x or another place. */
static tc_ref random_put(random_state *r, const random_value *x, const random_value *y) {
  int rank = x->type.rank;
  int64_t attr[2 * TC_MAX_RANK + 2] = {rank};
  tc_ref part = random_below(r, 2) ? x->ref : y->ref;
  attr[rank + 1] = rank;
  for (int i = 0; i < rank; i++) {
    bool known = tc_dim_is_const(x->type.dim[i]) && tc_dim_is_const(y->type.dim[i]);
    int64_t size = x->dim[i], step = known ? 1 + (int64_t)random_below(r, 2) : 1;
    int64_t take =
        known ? (int64_t)random_below(r, (uint64_t)((size + step - 1) / step) + 1) : size;
    int64_t room = take ? size - (take - 1) * step - 1 : size;
    attr[1 + i] = known ? (int64_t)random_below(r, (uint64_t)room + 1) : 0;
    attr[2 + rank + i] = step;
    int64_t from = take ? (int64_t)random_below(r, (uint64_t)(size - take) + 1) : 0;
    if (known) part = random_node(r, OP_SLICE, 1, &part, 4, (int64_t[]){i, from, from + take, 1});
  }
  return random_node(r, OP_PUT, 2, (tc_ref[]){x->ref, part}, 2 * rank + 2, attr);
}

tc_ref random_join(random_state *r, tc_op op) {
  const random_value *x = random_pick(r, 0, 1, 4);
  if (!x) return none;
  int rank = x->type.rank, axis = (int)random_below(r, (uint64_t)rank);
  int64_t attr[2 * TC_MAX_RANK + 4] = {axis}, n = 0;
  const random_value *y = random_shaped(r, 0, rank, x->dim);
  tc_ref pair[3] = {x->ref, y ? y->ref : x->ref, x->ref};
  switch (op) {
  case OP_CONCAT:
  case OP_STACK:
    return random_node(r, op, 1 + (int)random_below(r, 3), pair, 1, attr);
  case OP_PUT:
    return random_put(r, x, y && y->type.dtype == x->type.dtype ? y : x);
  case OP_ROLL:
    return random_node(r, op, 1, &x->ref, 2, (int64_t[]){(int64_t)random_below(r, 9) - 4, axis});
  case OP_REPEAT:
    attr[n++] = rank + (int)random_below(r, 2);
    while (n <= attr[0]) attr[n++] = 1 + (int64_t)random_below(r, 2);
    return random_node(r, op, 1, &x->ref, (int)n, attr);
  default: /* PAD */
    for (int side = 0; side < 2; side++) {
      attr[n++] = rank;
      for (int i = 0; i < rank; i++) attr[n++] = (int64_t)random_below(r, 3) / 2;
    }
    return random_node(r, op, 2, (tc_ref[]){x->ref, random_const(r, 0.5)}, (int)n, attr);
  }
}

/* ---- indexing -------------------------------------------------------------------------------- */

tc_ref random_indexing(random_state *r, tc_op op) {
  const random_value *x =
      random_pick(r, NEED_DATA, op == OP_EMBEDDING ? 2 : 1, op == OP_EMBEDDING ? 2 : 4);
  if (!x) return none;
  int axis = (int)random_below(r, x->type.rank);
  int64_t attr = axis;
  tc_dim some[2] = {tc_dim_const(2), tc_dim_const(3)}, five = tc_dim_const(5);
  tc_ref line = random_index(r, 1, &five, x->type.dim[axis]), index;
  switch (op) {
  case OP_GATHER:
    index = random_index(r, x->type.rank, x->type.dim, x->type.dim[axis]);
    break;
  case OP_INDEX_SELECT:
    index = line;
    break;
  case OP_EMBEDDING:
    index = random_index(r, 2, some, x->type.dim[0]);
    return tc_build2(r->g, op, x->ref, index, nowhere);
  case OP_ONE_HOT:
    index = random_index(r, 2, some, five);
    attr = 5;
    return random_node(r, op, 1, &index, 1, &attr);
  default: {
    index = random_index(r, x->type.rank, x->type.dim, x->type.dim[axis]);
    const random_value *s = random_shaped(r, 0, x->type.rank, x->dim);
    tc_ref src = tc_build_cast(r->g, s ? s->ref : x->ref, (tc_dtype)x->type.dtype, nowhere);
    if (s && !s->exact && x->type.dtype != s->type.dtype) src = x->ref; /* no jump by conversion */
    return random_node(r, op, 3, (tc_ref[]){x->ref, index, src}, 1, &attr);
  }
  }
  return random_node(r, op, 2, (tc_ref[]){x->ref, index}, 1, &attr);
}
