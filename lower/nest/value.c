/* value.c - the value of a node at an index, as an expression over the axes of a nest. */
#include "lower/lowering.h"

#include "graph/extremum.h"

#include <math.h>
#include <string.h>

/* ---- addresses ------------------------------------------------------------------------------- */

tc_address lo_lin_address(lo_kb *b, const lo_lin *l) {
  tc_address a = {.offset = l->offset};
  for (int i = 0; i < TC_MAX_AXES; i++)
    a.coef[i] = i < LO_AXES ? l->coef[i] : tc_dim_const(0);
  for (uint64_t t = 0; t < l->nterm; t++) {
    const lo_term *s = &l->term[t];
    tc_val v = lo_value(b, (tc_ref){(uint32_t)s->node}, s->at);
    a.term[a.nterm++] =
        (tc_term){.value = lo_cast(b, v, TC_I64), .stride = s->stride, .bound = s->bound};
  }
  return a;
}

/* The row-major number of an element, which has no place in memory. */
static tc_address element_number(lo_kb *b, const lo_index *at, const tc_type *t) {
  lo_lin flat;
  if (!lo_flatten(b->L, at, t, &flat))
    lo_fail(b->L, (tc_loc){0}, "an index with more than two data-dependent parts");
  return lo_lin_address(b, &flat);
}

/* The value of an index expression, i64. */
tc_val lo_index_value(lo_kb *b, const lo_lin *l, tc_loc loc) {
  tc_expr e = {.kind = TC_EX_INDEX, .dtype = TC_I64, .address = lo_lin_address(b, l), .loc = loc};
  return lo_expr(b, &e);
}

/* ---- operands -------------------------------------------------------------------------------- */

static tc_val operand(lo_kb *b, const tc_node *n, int k, const lo_index *at) {
  return lo_value(b, n->in[k], lo_operand_index(b->L, b->g, n, k, at));
}

static tc_val rounded(lo_kb *b, tc_val v, tc_dtype storage, tc_loc loc) {
  const tc_expr *x = &b->k->expr[v.id];
  if (storage != TC_F16 && storage != TC_BF16) return v;
  if (x->kind == TC_EX_ROUND && x->storage == storage) return v;
  if (x->kind == TC_EX_LOAD && b->L->p->buffer[b->k->buffer[x->buffer]].dtype == storage) return v;
  tc_expr e = {.kind = TC_EX_ROUND, .dtype = TC_F32, .storage = storage, .in = {v}, .loc = loc};
  return lo_expr(b, &e);
}

tc_val lo_convert(lo_kb *b, tc_val v, tc_dtype to, tc_loc loc) {
  return rounded(b, lo_cast(b, v, to), to, loc);
}

/* ---- elementwise ----------------------------------------------------------------------------- */

/* The type that the operands of n are computed in. */
static tc_dtype operand_type(lo_kb *b, const tc_node *n) {
  const tc_type *a = tc_graph_type(b->L->g, n->in[0]);
  switch (tc_op_get(n->op)->computes_in) {
  case TC_IN_BOOL: return TC_BOOL;
  case TC_IN_OPERANDS:
    return lo_compute_type(n->nin > 1 ? tc_promote(a, tc_graph_type(b->L->g, n->in[1])) : a->dtype);
  default: return lo_compute_type(n->type.dtype);
  }
}

/* keeps x where j - i <= k (tril), j - i >= k (triu) */
static tc_val triangle(lo_kb *b, const tc_node *n, const lo_index *at) {
  lo_lin diff = at->dim[at->rank - 1];
  lo_lin_add(b->L, &diff, &at->dim[at->rank - 2], tc_dim_const(-1));
  tc_val i = lo_index_value(b, &diff, n->loc);
  lo_lin k;
  memset(&k, 0, sizeof k);
  k.offset = tc_attr_int(n, "k");
  tc_val limit = lo_index_value(b, &k, n->loc);
  tc_dtype d = lo_compute_type(n->type.dtype);
  tc_val keep = lo_op(b, n->op == OP_TRIL ? OP_LE : OP_GE, TC_BOOL, i, limit, (tc_val){0}, n->loc);
  return lo_op(b, OP_WHERE, d, keep, operand(b, n, 0, at), lo_const_i(b, d, 0), n->loc);
}

/* x - max x is at most 0, and 0 somewhere, where the maximum is of x as it was rounded: with a
 * product x that were not, it would be as large as half a unit of x, and its exponential
 * infinite.  So are x - min x and max x - x, whose roots are asked for, at least 0. */
static int less_extremum(const lo_kb *b, const tc_node *n) {
  return n->op == OP_SUB ? tc_own_extremum(b->L->g, n) : -1;
}

static bool is_load(const lo_kb *b, tc_val v) { return b->k->expr[v.id].kind == TC_EX_LOAD; }

static tc_val elementwise(lo_kb *b, tc_ref r, const lo_index *at) {
  const tc_node *n = lo_node(b->L, r);
  if (n->op == OP_CAST) return lo_convert(b, operand(b, n, 0, at), n->type.dtype, n->loc);
  if (n->op == OP_TRIL || n->op == OP_TRIU) return triangle(b, n, at);
  tc_dtype t = operand_type(b, n);
  bool test = n->op == OP_ISNAN || n->op == OP_ISINF || n->op == OP_ISFINITE;
  if (test && !tc_dtype_is_float(t)) return lo_const_i(b, TC_BOOL, n->op == OP_ISFINITE);
  tc_val in[3] = {{0}, {0}, {0}};
  for (int k = 0; k < n->nin; k++)
    in[k] = lo_cast(b, operand(b, n, k, at), tc_op_get(n->op)->mask >> k & 1 ? TC_BOOL : t);
  const int extremum = less_extremum(b, n);
  if (extremum >= 0 && is_load(b, in[extremum])) /* rounded, by the loop that found it */
    in[1 - extremum] = rounded(b, in[1 - extremum], n->type.dtype, n->loc);
  tc_expr e = {.kind = TC_EX_OP,
               .op = n->op,
               .dtype = lo_compute_type(n->type.dtype),
               .in = {in[0], in[1], in[2]},
               .reproducible = b->L->fact[r.id].reproducible || extremum >= 0,
               .loc = n->loc};
  return lo_expr(b, &e);
}

/* ---- creation -------------------------------------------------------------------------------- */

/* A whole number with which index arithmetic gives the same in i64 as in f64, for all sizes that
 * there are; -0 is none, for 0 would take its place. */
static bool is_whole(const tc_expr *e) {
  enum { SMALL = 1024 };
  if (!tc_dtype_is_float(e->dtype)) return true;
  return e->kind == TC_EX_CONST && fabs(e->f) <= SMALL && e->f == trunc(e->f) &&
         !(e->f == 0 && signbit(e->f));
}

/* start + i * step; whole numbers count exactly, others in f64.  Integers wrap in both. */
static tc_val arange(lo_kb *b, const tc_node *n, const lo_index *at) {
  tc_val start = operand(b, n, 0, at), step = operand(b, n, 1, at);
  bool whole = is_whole(&b->k->expr[start.id]) && is_whole(&b->k->expr[step.id]);
  tc_dtype d = whole ? TC_I64 : TC_F64;
  tc_val i = lo_cast(b, lo_index_value(b, &at->dim[0], n->loc), d);
  tc_val x = lo_op(b, OP_MUL, d, i, lo_cast(b, step, d), (tc_val){0}, n->loc);
  x = lo_op(b, OP_ADD, d, lo_cast(b, start, d), x, (tc_val){0}, n->loc);
  if (tc_dtype_is_int(n->type.dtype)) x = lo_cast(b, x, TC_I64);
  return lo_convert(b, x, n->type.dtype, n->loc);
}

static tc_val random_value(lo_kb *b, const tc_node *n, const lo_index *at) {
  tc_expr e = {.kind = TC_EX_RANDOM, .op = n->op, .loc = n->loc};
  e.dtype = lo_compute_type(n->type.dtype);
  e.storage = n->type.dtype;
  e.in[0] = lo_cast(b, operand(b, n, 0, at), TC_I64);
  e.address = element_number(b, at, &n->type);
  return rounded(b, lo_expr(b, &e), n->type.dtype, n->loc);
}

static tc_val created(lo_kb *b, const tc_node *n, const lo_index *at) {
  if (n->op == OP_FULL) return lo_convert(b, operand(b, n, 0, at), n->type.dtype, n->loc);
  if (n->op == OP_ARANGE) return arange(b, n, at);
  if (n->op != OP_EYE) return random_value(b, n, at);
  tc_val i = lo_index_value(b, &at->dim[0], n->loc), j = lo_index_value(b, &at->dim[1], n->loc);
  tc_val same = lo_op(b, OP_EQ, TC_BOOL, i, j, (tc_val){0}, n->loc);
  return lo_cast(b, same, n->type.dtype);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static tc_val leaf(lo_kb *b, const tc_node *n, const lo_index *at) {
  tc_expr e = {.dtype = lo_compute_type(n->type.dtype), .loc = n->loc};
  double f;
  int64_t i;
  switch (n->op) {
  case OP_INPUT: {
    uint32_t input = (uint32_t)tc_dim_value(tc_attr_int(n, "index"));
    const uint32_t buffer = lo_input_buffer(b->L, input);
    return lo_load(b, buffer, lo_element(b, buffer, &n->type, at), n->loc);
  }
  case OP_SCALAR:
    e.kind = TC_EX_SCALAR;
    e.index = (uint32_t)tc_dim_value(tc_attr_int(n, "index"));
    return lo_expr(b, &e);
  case OP_DIM:
    e.kind = TC_EX_DIM;
    e.dtype = TC_I64;
    e.dim = tc_attr_int(n, "value");
    return lo_cast(b, lo_expr(b, &e), n->type.dtype);
  default:
    if (!tc_node_const(n, &f, &i)) lo_fail(b->L, n->loc, "an unknown leaf");
    return tc_dtype_is_float(n->type.dtype) ? lo_const_f(b, n->type.dtype, f)
                                            : lo_const_i(b, n->type.dtype, i);
  }
}

/* index == position along the last axis; the index is checked against the number of classes */
static tc_val one_hot(lo_kb *b, const tc_node *n, const lo_index *at) {
  lo_lin checked;
  memset(&checked, 0, sizeof checked);
  checked.nterm = 1;
  checked.term[0] = (lo_term){n->in[0].id, lo_operand_index(b->L, b->g, n, 0, at), tc_dim_const(1),
                              n->type.dim[n->type.rank - 1]};
  tc_val i = lo_index_value(b, &checked, n->loc);
  const lo_index *parts = at->flat ? lo_trailing(b->L, b->g, &n->type, at, 1) : at;
  tc_val c = lo_index_value(b, &parts->dim[parts->rank - 1], n->loc);
  return lo_cast(b, lo_op(b, OP_EQ, TC_BOOL, i, c, (tc_val){0}, n->loc), n->type.dtype);
}

static tc_val reduction(lo_kb *b, tc_ref r, const tc_node *n) {
  for (uint32_t i = 0; i < b->g->nreduce; i++) {
    if (b->g->reduce[i].node.id != r.id) continue;
    if (!b->reduced[i].id) lo_emit_reduce(b, i);
    return lo_cast(b, b->reduced[i], n->type.dtype);
  }
  lo_fail(b->L, n->loc, "a reduction outside of its loop");
}

static tc_val compute(lo_kb *b, tc_ref r, const tc_node *n, const lo_index *at) {
  switch (lo_class(n)) {
  case TC_CLASS_LEAF: return leaf(b, n, at);
  case TC_CLASS_GEN: return created(b, n, at);
  case TC_CLASS_EW: return elementwise(b, r, at);
  case TC_CLASS_VIEW: return operand(b, n, 0, at);
  case TC_CLASS_INDEX: return n->op == OP_ONE_HOT ? one_hot(b, n, at) : operand(b, n, 0, at);
  case TC_CLASS_REDUCE: return reduction(b, r, n);
  case TC_CLASS_MATMUL:
    if (b->g->matmul.id == r.id) return lo_cast(b, lo_result(b, 0, n->loc), n->type.dtype);
    return reduction(b, r, n);
  case TC_CLASS_SCAN: return b->scanned;
  case TC_CLASS_JOIN: return lo_joined(b, n, at);
  default: lo_fail(b->L, n->loc, "a value without an array");
  }
}

/* ---- memo ------------------------------------------------------------------------------------ */

static lo_memo *find(lo_kb *b, uint32_t node, const lo_index *at, uint32_t guard) {
  uint32_t mask = b->cmemo - 1;
  uint32_t h = (uint32_t)(((uintptr_t)at >> 4) * 31 + (node + guard * 7) * 2654435761u) & mask;
  while (b->memo[h].node &&
         (b->memo[h].node != node || b->memo[h].at != at || b->memo[h].guard != guard))
    h = (h + 1) & mask;
  return &b->memo[h];
}

static void remember(lo_kb *b, uint32_t node, const lo_index *at, tc_val v) {
  if ((b->nmemo + 1) * 2 > b->cmemo) {
    lo_memo *old = b->memo;
    uint32_t n = b->cmemo;
    b->cmemo = n ? n * 2 : 512;
    b->memo = lo_alloc(b->L, b->L->scratch, b->cmemo * sizeof *b->memo);
    for (uint32_t i = 0; i < n; i++)
      if (old[i].node) *find(b, old[i].node, old[i].at, old[i].guard) = old[i];
  }
  *find(b, node, at, b->guard.id) = (lo_memo){node, at, b->guard.id, v};
  b->nmemo++;
}

tc_val lo_value(lo_kb *b, tc_ref r, const lo_index *at) {
  lo *L = b->L;
  const tc_node *n = lo_node(L, r);
  if (!at) lo_fail(L, n->loc, "an operand without an index");
  lo_memo *m = b->cmemo ? find(b, r.id, at, b->guard.id) : NULL;
  if (m && m->node) return m->v;
  const lo_place *p = &L->place[r.id];
  tc_val v;
  if (p->buffer && p->group != b->g->id && lo_class(n) != TC_CLASS_LEAF)
    v = lo_load(b, p->buffer - 1, lo_element(b, p->buffer - 1, &n->type, at), n->loc);
  else v = compute(b, r, n, at);
  /* One loop may load what another one computes: both have the bits of the array. */
  if (L->fact[r.id].reproducible) v = rounded(b, v, n->type.dtype, n->loc);
  remember(b, r.id, at, v);
  return v;
}
