/* online_softmax.c - a maximum and a sum of exponentials from one pass over a row.
 *
 *   m = max x,  s = sum e^(x - c),  c = m, or m where that is finite and else 0
 *
 * are two passes, for the sum waits for the maximum.  As the two accumulators m and l = sum e^(x -
 * m) of one reduction (ONLINE_SOFTMAX of graph/ops/reductions.def) they are one, and s = l * f, f =
 * e^(m - c), or 1 + (m - c) where c = m: of finite m, this is l; of infinite m, it is infinite, 0
 * or NaN as the sum itself would be. */
#include "lower/lowering.h"

typedef struct pair {
  uint32_t max, sum; /* acts */
  tc_val centre;     /* c */
} pair;

/* A stage of floating numbers that reduces, and does nothing else. */
static bool is_only(const lo_kb *b, uint32_t act, tc_reducer r) {
  const lo_act *a = &b->act[act];
  if (a->a.kind != TC_ACT_REDUCE || a->a.reducer != r || !tc_dtype_is_float(a->a.dtype) || !a->axes)
    return false;
  for (uint32_t i = 0; i < b->nact; i++)
    if (i != act && b->act[i].level == a->level && b->act[i].axes == a->axes) return false;
  return true;
}

static const tc_expr *op_of(const lo_kb *b, tc_val v, tc_op op) {
  const tc_expr *e = &b->k->expr[v.id];
  return e->kind == TC_EX_OP && e->op == op ? e : NULL;
}

static bool is_result(const lo_kb *b, tc_val v, uint32_t result) {
  const tc_expr *e = &b->k->expr[v.id];
  return e->kind == TC_EX_RESULT && e->index == result;
}

bool lo_is_online_centre(const lo_kb *b, tc_val v, uint32_t result) {
  const tc_expr *w = op_of(b, v, OP_WHERE);
  if (!w) return is_result(b, v, result);
  const tc_expr *finite = op_of(b, w->in[0], OP_ISFINITE), *zero = &b->k->expr[w->in[2].id];
  return finite && is_result(b, finite->in[0], result) && is_result(b, w->in[1], result) &&
         zero->kind == TC_EX_CONST && !(zero->f < 0 || zero->f > 0);
}

/* Act `sum` sums e^(x - c) of act `max`'s x and c. */
static bool is_pair(const lo_kb *b, pair *p) {
  const tc_action *max = &b->act[p->max].a, *sum = &b->act[p->sum].a;
  if (!is_only(b, p->max, TC_REDUCE_MAX) || !is_only(b, p->sum, TC_REDUCE_SUM)) return false;
  if (b->act[p->max].axes != b->act[p->sum].axes || max->dtype != sum->dtype) return false;
  const tc_expr *e = op_of(b, sum->value, OP_EXP), *d = e ? op_of(b, e->in[0], OP_SUB) : NULL;
  if (!d || d->in[0].id != max->value.id || !lo_is_online_centre(b, d->in[1], max->index))
    return false;
  p->centre = d->in[1];
  return true;
}

/* Does another act need the exponentials, or x, where that is more than a load? */
static bool has_other_readers(lo_kb *b, const pair *p) {
  uint8_t *need = lo_alloc(b->L, b->L->scratch, b->k->nexpr + 1u);
  for (uint32_t i = 0; i < b->nact; i++)
    if (i != p->max && i != p->sum) tc_mark_action(&b->act[i].a, need);
  tc_mark_operands(b->k, need);
  const uint32_t x = b->act[p->max].a.value.id;
  return need[b->act[p->sum].a.value.id] || (need[x] && b->k->expr[x].kind != TC_EX_LOAD);
}

/* Exponentials of f64 take long, and rescaling takes some more of them: it pays on GPUs, where they
 * are needed once. */
static bool pays(lo_kb *b, bool terms_alone, const pair *p) {
  const bool f32 = b->act[p->max].a.dtype == TC_F32;
  if (f32 && !terms_alone) return true;
  return (f32 || !terms_alone) && !has_other_readers(b, p);
}

static bool find_pair(lo_kb *b, bool terms_alone, pair *p) {
  for (p->max = 0; p->max < b->nact; p->max++)
    for (p->sum = 0; p->sum < b->nact; p->sum++)
      if (is_pair(b, p) && pays(b, terms_alone, p)) return true;
  return false;
}

/* ---- results --------------------------------------------------------------------------------- */

typedef struct replacement {
  lo_kb *b;
  uint32_t end; /* of the expressions that it knows */
  tc_val *to;   /* what takes the place of each */
} replacement;

static bool move(const replacement *r, tc_val *v) {
  const uint32_t old = v->id;
  if (old >= r->b->first && old < r->end) *v = r->to[old];
  return v->id != old;
}

static bool move_address(const replacement *r, tc_address *a) {
  bool moved = false;
  for (int t = 0; t < a->nterm; t++) moved |= move(r, &a->term[t].value);
  return moved;
}

static tc_val moved(const replacement *r, uint32_t id) {
  tc_expr e = r->b->k->expr[id];
  bool changed = move(r, &e.guard);
  changed |= move_address(r, &e.address);
  for (int i = 0; i < 3; i++) changed |= move(r, &e.in[i]);
  return changed ? lo_expr(r->b, &e) : (tc_val){id};
}

static void move_act(const replacement *r, tc_action *a) {
  move(r, &a->value);
  for (int i = 0; i + 1 < TC_MAX_ACCUMULATORS; i++) move(r, &a->further[i]);
  move(r, &a->term);
  move(r, &a->guard);
  move_address(r, &a->address);
}

/* In all acts, and in *v, `by` takes the place of the result, in expressions in front of `end`. */
static void replace_result(lo_kb *b, uint32_t result, tc_val by, uint32_t end, tc_val *v) {
  replacement r = {.b = b, .end = end};
  r.to = lo_alloc(b->L, b->L->scratch, end * sizeof *r.to);
  for (uint32_t id = b->first; id < end; id++)
    r.to[id] = is_result(b, (tc_val){id}, result) ? by : moved(&r, id);
  for (uint32_t i = 0; i < b->nact; i++) move_act(&r, &b->act[i].a);
  move(&r, v);
}

/* ---- the reduction --------------------------------------------------------------------------- */

/* Results of both accumulators: those that there are, if they are neighbours. */
static uint32_t take_results(lo_kb *b, pair *p) {
  const uint32_t max = b->act[p->max].a.index;
  const int level = b->act[p->max].level + 1;
  const tc_dtype d = b->act[p->max].a.dtype;
  if (b->act[p->sum].a.index == max + 1) return max;
  const uint32_t first = lo_new_result(b, d, level);
  lo_new_result(b, d, level);
  replace_result(b, max, lo_result(b, first, (tc_loc){0}), b->k->nexpr, &p->centre);
  return first;
}

tc_action lo_online_action(lo_kb *b, tc_val x, uint32_t first, tc_loc loc) {
  const tc_reducer online = TC_REDUCE_ONLINE_SOFTMAX;
  const tc_dtype d = b->result_type[first];
  const tc_val from[] = {x, lo_result(b, first, loc)};
  tc_val lifted[TC_MAX_ACCUMULATORS], term[TC_MAX_ACCUMULATORS];
  tc_rule lift, terms;
  if (!tc_lift_rule(online, d, &lift) || !tc_term_rule(online, d, &terms))
    lo_fail(b->L, loc, "a reduction without a rule");
  lo_apply(b, &lift, from, loc, lifted);
  lo_apply(b, &terms, from, loc, term);
  return (tc_action){.kind = TC_ACT_REDUCE,
                     .reducer = online,
                     .dtype = d,
                     .index = first,
                     .value = lifted[0],
                     .further = {lifted[1]},
                     .term = term[1]};
}

tc_val lo_online_total(lo_kb *b, uint32_t first, tc_val centre, tc_loc loc) {
  const tc_dtype d = b->result_type[first];
  const tc_val m = lo_result(b, first, loc), l = lo_result(b, first + 1, loc), none = {0};
  const tc_val apart = lo_op(b, OP_SUB, d, m, centre, none, loc);
  const tc_val factor = centre.id == m.id
                            ? lo_op(b, OP_ADD, d, lo_const_f(b, d, 1), apart, none, loc)
                            : lo_op(b, OP_EXP, d, apart, none, none, loc);
  return lo_op(b, OP_MUL, d, l, factor, none, loc);
}

/* s takes the place of the sum's result. */
static void replace_sum(lo_kb *b, pair *p, uint32_t first, tc_loc loc) {
  const uint32_t end = b->k->nexpr;
  const tc_val sum = lo_online_total(b, first, p->centre, loc);
  replace_result(b, b->act[p->sum].a.index, sum, end, &p->centre);
}

/* The stage of the maximum reduces to both; that of the sum goes. */
static void fuse(lo_kb *b, pair *p) {
  const tc_loc loc = b->k->expr[b->act[p->sum].a.value.id].loc;
  const uint32_t first = take_results(b, p);
  replace_sum(b, p, first, loc);
  tc_action *a = &b->act[p->max].a;
  const uint32_t serves = a->serves;
  *a = lo_online_action(b, a->value, first, loc);
  a->serves = serves;
  for (uint32_t i = p->sum; i + 1 < b->nact; i++) b->act[i] = b->act[i + 1];
  b->nact--;
}

bool lo_online_softmax(lo_kb *b, bool terms_alone) {
  pair p;
  bool any = false;
  while (find_pair(b, terms_alone, &p)) fuse(b, &p), any = true;
  return any;
}
