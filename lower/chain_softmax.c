/* chain_softmax.c - weights of a softmax in a chain of products: terms of online_softmax times what is one for a row. */
#include "lower/chain.h"

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
  const tc_expr e = c->b.k->expr[v.id];
  if (e.kind == TC_EX_ROUND && e.storage == c->mm.operand) return lo_unrounded(c, e.in[0]);
  if (e.kind != TC_EX_OP || e.op != OP_MUL) return v;
  const tc_val x = lo_unrounded(c, e.in[0]), y = lo_unrounded(c, e.in[1]);
  if (x.id == e.in[0].id && y.id == e.in[1].id) return v;
  return lo_op(&c->b, OP_MUL, e.dtype, x, y, (tc_val){0}, e.loc);
}

tc_val lo_times(lo_chain *c, tc_val x, tc_val y, tc_loc loc) {
  if (!x.id || !y.id) return x.id ? x : y;
  return lo_op(&c->b, OP_MUL, c->mm.acc, x, y, (tc_val){0}, loc);
}

/* v as a product of what changes along k, and of what does not; of the exponentials `e` as `term`.
 * Without them, a factor has to do with neither maximum nor sum. */
typedef struct factors {
  const uint8_t *of; /* per value: does it change ALONG k, has it to do with OF_ROWS */
  tc_val along, row;
  int terms;
} factors;

static bool split_factors(lo_chain *c, tc_val v, tc_val e, tc_val term, factors *f) {
  const tc_expr x = c->b.k->expr[v.id];
  if (v.id == e.id) {
    f->along = lo_times(c, f->along, term, x.loc);
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
  if (x.kind == TC_EX_OP && x.op == OP_MUL)
    return split_factors(c, x.in[0], e, term, f) && split_factors(c, x.in[1], e, term, f);
  if (x.kind != TC_EX_OP || x.op != OP_DIV || f->of[x.in[1].id] & LO_ALONG) return false;
  const tc_val by =
      lo_op(&c->b, OP_RECIPROCAL, c->mm.acc, x.in[1], (tc_val){0}, (tc_val){0}, x.loc);
  f->row = lo_times(c, f->row, by, x.loc);
  return split_factors(c, x.in[0], e, term, f);
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
  factors f = {.of = lo_find_dependent(c->L, c->b.k, c->mm.nbatch + 2, 1u << TC_MM_INNER)};
  if (c->failed || !split_factors(c, v, e, a->term, &f) || f.terms != 1) return false;
  c->mm.inner.rows = (tc_stage){.naction = 1, .action = a};
  c->mm.a = f.along;
  *row = f.row;
  return true;
}
