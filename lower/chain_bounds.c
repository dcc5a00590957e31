/* chain_bounds.c - which keys of a chain's row count: where its scores are -inf by comparisons of
 * places alone (a causal mask, a window), their terms are 0, and tiles of such keys need not be
 * computed.  So where A is 0 then. */
#include <math.h>

#include "lower/loop.h"

typedef struct bounds {
  const tc_kernel *k;
  tc_dims *dims;
  tc_mm_keys *keys;
} bounds;

static const tc_expr *expr_of(const bounds *b, tc_val v) { return &b->k->expr[v.id]; }

/* a += b * by */
static void add(const bounds *b, tc_address *a, const tc_address *more, tc_dim by) {
  a->offset = tc_dim_add(b->dims, a->offset, tc_dim_mul(b->dims, more->offset, by));
  for (int i = 0; i < TC_MAX_AXES; i++)
    a->coef[i] = tc_dim_add(b->dims, a->coef[i], tc_dim_mul(b->dims, more->coef[i], by));
}

static tc_address constant(tc_dim d) {
  tc_address a = {.offset = d};
  for (int i = 0; i < TC_MAX_AXES; i++) a.coef[i] = tc_dim_const(0);
  return a;
}

static bool is_constant(const tc_address *a) {
  for (int i = 0; i < TC_MAX_AXES; i++)
    if (!tc_dim_is(a->coef[i], 0)) return false;
  return true;
}

/* An integer as a sum over axes. */
static bool find_affine(const bounds *b, tc_val v, tc_address *out) {
  const tc_expr *e = expr_of(b, v);
  tc_address y;
  if (e->dtype != TC_I64) return false;
  switch (e->kind) {
  case TC_EX_INDEX: *out = e->address; return !e->address.nterm;
  case TC_EX_CONST: *out = constant(tc_dim_const(e->i)); return true;
  case TC_EX_DIM: *out = constant(e->dim); return true;
  case TC_EX_OP: break;
  default: return false;
  }
  if (e->op != OP_ADD && e->op != OP_SUB && e->op != OP_MUL) return false;
  if (!find_affine(b, e->in[0], out) || !find_affine(b, e->in[1], &y)) return false;
  if (e->op != OP_MUL) {
    add(b, out, &y, tc_dim_const(e->op == OP_ADD ? 1 : -1));
    return true;
  }
  if (!is_constant(out) && !is_constant(&y)) return false;
  const tc_address *of = is_constant(out) ? &y : out, *by = of == out ? &y : out;
  tc_address product = constant(tc_dim_const(0));
  add(b, &product, of, by->offset);
  *out = product;
  return true;
}

/* Is every part of it a number? */
static bool is_good(const tc_address *a) {
  bool good = !tc_dim_bad(a->offset);
  for (int i = 0; i < TC_MAX_AXES; i++) good = good && !tc_dim_bad(a->coef[i]);
  return good;
}

/* Keys of which a > 0 do not count: where a goes up by one with the key, those from -rest + 1 on;
 * where it goes down by one, those below the rest.  For the others `test` is as `holds` says. */
static void exclude(const bounds *b, tc_address a, tc_val test, bool holds) {
  const int m = b->k->mm.nbatch, key = m + 2;
  const bool up = tc_dim_is(a.coef[key], 1), down = tc_dim_is(a.coef[key], -1);
  tc_address rest = a, limit = constant(tc_dim_const(0));
  if (!up && !down) return;
  rest.coef[key] = tc_dim_const(0);
  add(b, &limit, &rest, tc_dim_const(up ? -1 : 1));
  if (up) limit.offset = tc_dim_add(b->dims, limit.offset, tc_dim_const(1));
  if (!is_good(&limit) || !tc_dim_is_const(limit.coef[m])) return;
  tc_mm_keys *const keys = b->keys;
  if (up && !keys->has_end)
    keys->end = limit, keys->has_end = true, keys->end_test = test, keys->end_holds = holds;
  if (down && !keys->has_first)
    keys->first = limit, keys->has_first = true, keys->first_test = test, keys->first_holds = holds;
}

/* Scores are -inf where the comparison is as `holds` says. */
static void exclude_where(const bounds *b, tc_val v, bool holds) {
  const tc_expr *e = expr_of(b, v);
  tc_address x, y;
  if (e->kind != TC_EX_OP) return;
  if (e->op == OP_NOT) {
    exclude_where(b, e->in[0], !holds);
    return;
  }
  const bool both = e->op == OP_AND || e->op == OP_BITAND,
             either = e->op == OP_OR || e->op == OP_BITOR;
  if (e->dtype == TC_BOOL && ((both && !holds) || (either && holds))) { /* one of them is enough */
    exclude_where(b, e->in[0], holds);
    exclude_where(b, e->in[1], holds);
    return;
  }
  const bool less = e->op == OP_LT || e->op == OP_LE, more = e->op == OP_GT || e->op == OP_GE;
  if ((!less && !more) || !find_affine(b, e->in[0], &x) || !find_affine(b, e->in[1], &y)) return;
  /* x > y, x >= y, or the reverse; and integers that are not greater are less or equal */
  const bool greater = more == holds, equal = (e->op == OP_LE || e->op == OP_GE) == holds;
  tc_address difference = constant(tc_dim_const(equal ? 1 : 0));
  add(b, &difference, &x, tc_dim_const(greater ? 1 : -1));
  add(b, &difference, &y, tc_dim_const(greater ? -1 : 1));
  exclude(b, difference, v, !holds);
}

static bool is_nothing(const bounds *b, tc_val v) {
  const tc_expr *e = expr_of(b, v);
  if (e->kind == TC_EX_ROUND) return is_nothing(b, e->in[0]);
  return e->kind == TC_EX_CONST && tc_dtype_is_float(e->dtype) && isinf(e->f) && e->f < 0;
}

static bool is_positive(const bounds *b, tc_val v) {
  const tc_expr *e = expr_of(b, v);
  return e->kind == TC_EX_CONST && e->f > 0;
}

/* Of where(condition, x, y): x or y is what `is` says, or `find` finds where it is. */
static void find_in_where(const bounds *b, const tc_expr *e, bool (*is)(const bounds *, tc_val),
                          void (*find)(const bounds *, tc_val)) {
  if (is(b, e->in[1])) exclude_where(b, e->in[0], true), find(b, e->in[2]);
  if (is(b, e->in[2])) exclude_where(b, e->in[0], false), find(b, e->in[1]);
}

/* Finds where v is -inf. */
static void find_bounds(const bounds *b, tc_val v) {
  const tc_expr *e = expr_of(b, v);
  if (e->kind == TC_EX_ROUND) find_bounds(b, e->in[0]);
  if (e->kind != TC_EX_OP) return;
  switch (e->op) {
  case OP_WHERE: find_in_where(b, e, is_nothing, find_bounds); return;
  case OP_ADD:
    find_bounds(b, e->in[0]);
    find_bounds(b, e->in[1]);
    return;
  case OP_MUL:
    if (is_positive(b, e->in[0])) find_bounds(b, e->in[1]);
    if (is_positive(b, e->in[1])) find_bounds(b, e->in[0]);
    return;
  default: return;
  }
}

static bool is_zero(const bounds *b, tc_val v) { return tc_is_zero(b->k, v); }

/* Finds where v is 0: e to the -inf, of a difference from a number of its row, and multiples. */
static void find_zeros(const bounds *b, tc_val v) {
  const tc_expr *e = expr_of(b, v);
  if (e->kind == TC_EX_ROUND) find_zeros(b, e->in[0]);
  if (e->kind != TC_EX_OP) return;
  switch (e->op) {
  case OP_WHERE: find_in_where(b, e, is_zero, find_zeros); return;
  case OP_MUL:
    find_zeros(b, e->in[0]);
    find_zeros(b, e->in[1]);
    return;
  case OP_EXP:
    e = expr_of(b, e->in[0]);
    if (e->kind == TC_EX_OP && e->op == OP_SUB) find_bounds(b, e->in[0]);
    return;
  default: return;
  }
}

tc_mm_keys tc_mm_find_keys(const tc_kernel *k, tc_dims *dims) {
  tc_mm_keys keys = {0};
  const bounds b = {k, dims, &keys};
  if (!tc_mm_is_chain(&k->mm)) return keys;
  if (k->mm.inner.rows.naction) find_bounds(&b, k->mm.inner.rows.action->value);
  else find_zeros(&b, k->mm.a);
  return keys;
}
