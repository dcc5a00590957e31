/* chain_softmax.c - weights of a softmax in a chain of products: terms of online_softmax times what is one for a row. */
#include "lower/chain.h"

#include <math.h>

uint8_t *lo_find_dependent(lo *L, const tc_kernel *k, int axis, uint32_t along) {
  uint8_t *of = lo_alloc(L, L->scratch, k->nexpr + 1u);
  for (uint32_t id = 1; id < k->nexpr; id++) {
    const tc_expr *e = &k->expr[id];
    of[id] = of[e->guard.id];
    for (int i = 0; i < 3; i++) of[id] |= of[e->in[i].id];
    if (e->kind == TC_EX_RESULT) of[id] |= along >> e->index & 1 ? LO_ALONG : LO_OF_ROWS;
    if (!tc_expr_has_address(e)) continue;
    if (!tc_dim_is(e->address.coef[axis], 0)) of[id] |= LO_ALONG;
    for (int t = 0; t < e->address.nterm; t++) of[id] |= of[e->address.term[t].value.id];
  }
  return of;
}

static const tc_expr *op_of(const lo_chain *c, tc_val v, tc_op op) {
  const tc_expr *e = &c->b.k->expr[v.id];
  return e->kind == TC_EX_OP && e->op == op ? e : NULL;
}

tc_val lo_unrounded(lo_chain *c, tc_val v) {
  tc_expr e = c->b.k->expr[v.id];
  const int zero = tc_zero_operand(c->b.k, &e);
  const bool product = e.kind == TC_EX_OP && e.op == OP_MUL;
  bool changes = false;
  if (e.kind == TC_EX_ROUND && e.storage == c->mm.operand) return lo_unrounded(c, e.in[0]);
  for (int i = 0; i < 3; i++) {
    if (!(product ? i < 2 : zero && i == 3 - zero)) continue;
    const tc_val x = lo_unrounded(c, e.in[i]);
    changes |= x.id != e.in[i].id;
    e.in[i] = x;
  }
  return changes ? lo_op(&c->b, e.op, e.dtype, e.in[0], e.in[1], e.in[2], e.loc) : v;
}

tc_val lo_times(lo_chain *c, tc_val x, tc_val y, tc_loc loc) {
  if (!x.id || !y.id) return x.id ? x : y;
  return lo_op(&c->b, OP_MUL, c->mm.acc, x, y, (tc_val){0}, loc);
}

/* v as a product of what changes along k, and of what does not; of the exponentials `e` as `term`.
 * Without them, a factor has to do with neither maximum nor sum. */
typedef struct factors {
  const uint8_t *of; /* per value: does it change ALONG k, has it to do with OF_ROWS */
  tc_val x, e, term; /* scores, exponentials of them, and as the chain has those */
  tc_val along, row;
  int terms;
  bool or_none; /* a row that has no keys is 0 */
} factors;

/* ---- selects ---------------------------------------------------------------------------------- */

static bool is_random(const lo_chain *c, tc_val v) {
  const tc_expr *e = &c->b.k->expr[v.id];
  bool random = e->kind == TC_EX_RANDOM;
  for (int i = 0; i < 3 && !random; i++) random = e->in[i].id && is_random(c, e->in[i]);
  return random;
}

/* Is a score finite where operands of products and scalars are, and not too large? */
static bool is_bounded(const lo_chain *c, tc_val v) {
  const tc_expr *e = &c->b.k->expr[v.id];
  switch (e->kind) {
  case TC_EX_RESULT: case TC_EX_SCALAR: case TC_EX_DIM: case TC_EX_INDEX: case TC_EX_RANDOM: return true;
  case TC_EX_CONST: return !tc_dtype_is_float(e->dtype) || isfinite(e->f);
  case TC_EX_CAST: case TC_EX_ROUND: return is_bounded(c, e->in[0]);
  case TC_EX_OP: break;
  default: return false;
  }
  switch (e->op) {
  case OP_ADD: case OP_SUB: case OP_MUL: case OP_MAXIMUM: case OP_MINIMUM:
    return is_bounded(c, e->in[0]) && is_bounded(c, e->in[1]);
  case OP_NEG: case OP_ABS: return is_bounded(c, e->in[0]);
  case OP_TANH: case OP_SIGMOID: return true;
  case OP_WHERE: return is_bounded(c, e->in[1]) && is_bounded(c, e->in[2]);
  default: return false;
  }
}

/* Scores are -inf where `cond` selects that operand of where(), and finite elsewhere. */
static bool hides(const lo_chain *c, tc_val score, tc_val cond, int operand) {
  const tc_expr *w = op_of(c, score, OP_WHERE), *low = w ? &c->b.k->expr[w->in[operand].id] : NULL;
  return w && w->in[0].id == cond.id && low->kind == TC_EX_CONST && low->f < 0 && isinf(low->f) &&
         is_bounded(c, w->in[3 - operand]);
}

/* Weights of a row without a key are NaN; those that a select along k replaces are 0, and the chain knows only all of them
 * or none: all, where the select is that which hides scores; none, where it is random. */
static bool take_condition(const lo_chain *c, tc_val cond, int zero, factors *f) {
  const bool hidden = hides(c, f->x, cond, zero);
  f->or_none |= hidden;
  return hidden || is_random(c, cond) || is_bounded(c, f->x);
}

static bool split_factors(lo_chain *c, tc_val v, factors *f);

static tc_val with_zero(lo_chain *c, const tc_expr *x, int zero, tc_val v) {
  const tc_val a = zero == 1 ? x->in[1] : v, b = zero == 1 ? v : x->in[2];
  return lo_op(&c->b, OP_WHERE, c->mm.acc, x->in[0], a, b, x->loc);
}

/* where(): operand `zero` is 0, the other one a multiple of the exponentials. */
static bool split_select(lo_chain *c, const tc_expr *x, int zero, factors *f) {
  const uint8_t of = f->of[x->in[0].id];
  factors v = {.of = f->of, .x = f->x, .e = f->e, .term = f->term};
  if (of & LO_OF_ROWS || !split_factors(c, x->in[3 - zero], &v)) return false;
  if (!(of & LO_ALONG)) {
    v.row = with_zero(c, x, zero, v.row.id ? v.row : lo_const_f(&c->b, c->mm.acc, 1));
  } else {
    if (!take_condition(c, x->in[0], zero, f)) return false;
    v.along = with_zero(c, x, zero, v.along);
  }
  f->along = lo_times(c, f->along, v.along, x->loc);
  f->row = lo_times(c, f->row, v.row, x->loc);
  f->terms += v.terms;
  f->or_none |= v.or_none;
  return true;
}

/* ---- factors ---------------------------------------------------------------------------------- */

static bool split_factors(lo_chain *c, tc_val v, factors *f) {
  const tc_expr x = c->b.k->expr[v.id];
  const int zero = tc_zero_operand(c->b.k, &x);
  if (v.id == f->e.id) {
    f->along = lo_times(c, f->along, f->term, x.loc);
    f->terms++;
    return true;
  }
  if (!(f->of[v.id] & LO_ALONG)) {
    f->row = lo_times(c, f->row, v, x.loc);
    return true;
  }
  if (!(f->of[v.id] & LO_OF_ROWS)) {
    f->along = lo_times(c, f->along, v, x.loc);
    return true;
  }
  if (zero) return split_select(c, &x, zero, f);
  if (x.kind == TC_EX_OP && x.op == OP_MUL)
    return split_factors(c, x.in[0], f) && split_factors(c, x.in[1], f);
  if (x.kind != TC_EX_OP || x.op != OP_DIV || f->of[x.in[1].id] & LO_ALONG) return false;
  const tc_val by =
      lo_op(&c->b, OP_RECIPROCAL, c->mm.acc, x.in[1], (tc_val){0}, (tc_val){0}, x.loc);
  f->row = lo_times(c, f->row, by, x.loc);
  return split_factors(c, x.in[0], f);
}

/* The factor of rows that have keys, and 0 for others. */
static tc_val where_keys(lo_chain *c, tc_val row, tc_loc loc) {
  const tc_val zero = lo_const_f(&c->b, c->mm.acc, 0);
  if (!row.id) return row;
  const tc_val max = lo_result(&c->b, TC_MM_ROWS, loc), low = lo_const_f(&c->b, c->mm.acc, -INFINITY);
  const tc_val none = lo_op(&c->b, OP_EQ, TC_BOOL, max, low, (tc_val){0}, loc);
  return lo_op(&c->b, OP_WHERE, c->mm.acc, none, zero, row, loc);
}

bool lo_take_softmax(lo_chain *c, lo_translation *rows, tc_val *row) {
  const tc_loc loc = rows->k->loc;
  const tc_val x = lo_translate(rows, c->softmax->max->value),
               e = lo_translate(rows, c->softmax->sum->value);
  const tc_expr *exp = op_of(c, e, OP_EXP), *apart = exp ? op_of(c, exp->in[0], OP_SUB) : NULL;
  if (c->softmax->max->dtype != c->mm.acc || c->softmax->sum->dtype != c->mm.acc) return false;
  if (!apart || apart->in[0].id != x.id || !lo_is_online_centre(&c->b, apart->in[1], TC_MM_ROWS))
    return false;
  tc_action *a = lo_alloc(c->L, c->L->arena, sizeof *a);
  const tc_val centre = apart->in[1];
  *a = lo_online_action(&c->b, x, TC_MM_ROWS, loc);
  c->total = lo_online_total(&c->b, TC_MM_ROWS, centre, loc);
  const tc_val v = lo_unrounded(c, lo_translate(rows, c->softmax->store->value));
  factors f = {.of = lo_find_dependent(c->L, c->b.k, c->mm.nbatch + 2, 1u << TC_MM_INNER),
               .x = x, .e = e, .term = a->term};
  if (c->failed || !split_factors(c, v, &f) || f.terms != 1) return false;
  c->mm.inner.rows = (tc_stage){.naction = 1, .action = a};
  c->mm.a = f.along;
  *row = f.or_none ? where_keys(c, f.row, loc) : f.row;
  return true;
}
