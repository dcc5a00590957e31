/* vector_axis.c - which axis of a nest runs in vector lanes.
 *
 * Every axis gets a score, in sixteenths of a byte moved: what it costs or saves that neighbouring
 * points along it share a vector.  Neighbouring elements are one access; others are one per lane.
 * An axis shorter than a vector leaves lanes empty, so arithmetic that runs along it costs its
 * share of them; a reduction along the lanes has to be combined across them at the end of each row.
 */
#include "lower/lowering.h"

enum {
  SCALE = 16,
  OFTEN = 4096, /* more rounds of the inner loops than this change nothing */
  CYCLE = 12,   /* an operation on one element alone costs as much as so many bytes moved */
  ACCESS = 4    /* operations that an access of a part of a vector costs */
};

/* How often something happens, against what happens once for each outer point. */
static int64_t times(const lo_kb *b, uint32_t axes) {
  int64_t n = 1;
  for (int s = 0; s < b->nslot; s++) {
    if (!(axes >> s & 1) || !b->slot[s].sequential || b->slot[s].dead) continue;
    const int64_t e = lo_guess(b->L, b->slot[s].extent);
    n = e >= OFTEN / n ? OFTEN : n * (e > 1 ? e : 1);
  }
  return n;
}

/* Elements of `bytes` each in a vector, of those that an axis of this extent fills. */
static int64_t lanes_of(int64_t bytes) { return bytes > 4 ? 8 : 16; }

static int64_t filled(const lo_kb *b, int s, int64_t lanes) {
  const int64_t e = lo_guess(b->L, b->slot[s].extent);
  return e < 1 ? 1 : e < lanes ? e : lanes;
}

/* Cost per element of `ops` vector operations where only some lanes are used, beyond that of full
 * ones. */
static int64_t waste(int64_t ops, int64_t used, int64_t lanes) {
  return ops * CYCLE * SCALE * (lanes - used) / (lanes * used);
}

/* Does the address change from point to point otherwise than by a step, or whether it is accessed
 * at all? */
static bool is_chosen(const lo_kb *b, const tc_address *a, tc_val guard, int s) {
  bool chosen = guard.id && b->axes[guard.id] >> s & 1;
  for (int t = 0; t < a->nterm; t++)
    chosen |= a->term[t].free && b->axes[a->term[t].value.id] >> s & 1;
  return chosen;
}

/* Elements a few apart are taken out of that many vectors where the target interleaves: each of these is a load and a
 * shuffle. */
static int64_t cost_apart(const lo_kb *b, const tc_address *a, int s, int64_t lanes) {
  const int64_t step = tc_dim_is_const(a->coef[s]) ? tc_dim_value(a->coef[s]) : 0, line_by_line = CYCLE * SCALE;
  if (step < 2 || step > b->L->target->interleave) return line_by_line;
  const int64_t vectors = 2 * step * CYCLE * SCALE / filled(b, s, lanes);
  return vectors < line_by_line ? vectors : line_by_line;
}

static int64_t access_score(const lo_kb *b, const tc_address *a, tc_val guard, int s, uint32_t buffer, bool load) {
  const tc_dtype d = b->L->p->buffer[b->k->buffer[buffer]].dtype;
  const int64_t bytes = (int64_t)tc_dtype_bytes(d), lanes = lanes_of(bytes);
  const bool chosen = is_chosen(b, a, guard, s);
  if (tc_dim_is(a->coef[s], 0) && !chosen) return 0;
  if (chosen || (!load && !tc_dim_is(a->coef[s], 1))) return -(bytes > 4 ? 2 * CYCLE : CYCLE) * SCALE; /* line by line */
  if (!tc_dim_is(a->coef[s], 1)) return -cost_apart(b, a, s, lanes) * (bytes > 4 ? 2 : 1);
  return bytes * SCALE - waste(ACCESS, filled(b, s, lanes), lanes);
}

/* Lanes along a sequential axis do nothing for what happens once for each outer point. */
static int64_t arithmetic_score(const lo_kb *b, int64_t ops, tc_dtype d, uint32_t axes, int s) {
  const int64_t lanes = lanes_of((int64_t)tc_dtype_bytes(d));
  const bool outside = b->slot[s].sequential && !(axes & lo_sequential_slots(b));
  return -waste(ops, outside ? 1 : filled(b, s, lanes), lanes);
}

static int64_t reduce_score(const lo_kb *b, const lo_act *a, int s) {
  const int64_t ops = a->a.further[0].id ? 3 : 1; /* of two accumulators: a comparison, and both */
  const int64_t step = arithmetic_score(b, ops, a->a.dtype, a->axes, s);
  const int64_t across = a->axes >> s & 1 ? ops * b->L->target->across * CYCLE * SCALE : 0;
  return step * times(b, a->axes) - across;
}

static int64_t action_score(const lo_kb *b, const lo_act *a, int s) {
  switch (a->a.kind) {
  case TC_ACT_STORE:
  case TC_ACT_ADD:
    return access_score(b, &a->a.address, a->a.guard, s, a->a.buffer, false) * times(b, a->axes);
  case TC_ACT_REDUCE:
    return reduce_score(b, a, s);
  default:
    return 0;
  }
}

static int64_t slot_score(const lo_kb *b, int s) {
  int64_t score = 0;
  for (uint32_t id = b->first; id < b->k->nexpr; id++) {
    const tc_expr *e = &b->k->expr[id];
    const int64_t one = e->kind == TC_EX_LOAD
                            ? access_score(b, &e->address, e->guard, s, e->buffer, true)
                            : arithmetic_score(b, lo_expr_cost(e), e->dtype, b->axes[id], s);
    score += one * times(b, b->axes[id]);
  }
  for (uint32_t i = 0; i < b->nact; i++) score += action_score(b, &b->act[i], s);
  return score;
}

/* Neighbours along s are put next to each other, never in the same place. */
static bool scatters_apart(const lo_kb *b, int s) {
  for (uint32_t i = 0; i < b->nact; i++) {
    const tc_address *to = &b->act[i].a.address;
    if (!tc_dim_is(to->coef[s], 1)) return false;
    for (int t = 0; t < to->nterm; t++)
      if (b->axes[to->term[t].value.id] >> s & 1) return false;
  }
  return true;
}

/* Points along s are parts of an axis, the last of them shorter: lanes would end at different
 * places. */
static bool counts_parts(const lo_kb *b, int s) {
  for (int k = 0; k < b->nslot; k++)
    if (!b->slot[k].dead && b->slot[k].of == s) return true;
  return false;
}

static bool allowed(const lo_kb *b, int s) {
  const tc_target *t = b->L->target;
  if (b->slot[s].dead || counts_parts(b, s)) return false;
  if (b->g->scan.id && b->slot[s].sequential) return t->scan_lanes;
  return !b->g->serial || (t->scatter_lanes && scatters_apart(b, s));
}

/* Does the access that changes along both go through neighbours along `row`, from one row to the
 * next? */
static bool goes_on(const lo_kb *b, const tc_address *a, int row, int from) {
  if (tc_dim_is(a->coef[row], 0) || tc_dim_is(a->coef[from], 0)) return true;
  return !a->nterm && tc_dim_is(a->coef[row], 1) && tc_dim_same(a->coef[from], b->slot[row].extent);
}

/* The axis of rows of which neighbours along s are one piece of memory, or -1. */
static int row_of(const lo_kb *b, int s) {
  const uint32_t inner = lo_sequential_slots(b);
  if (!inner || inner & (inner - 1)) return -1;
  const int row = __builtin_ctz(inner);
  for (uint32_t id = b->first; id < b->k->nexpr; id++)
    if (b->k->expr[id].kind == TC_EX_LOAD && !goes_on(b, &b->k->expr[id].address, row, s))
      return -1;
  for (uint32_t i = 0; i < b->nact; i++)
    if (b->act[i].a.kind <= TC_ACT_ADD && !goes_on(b, &b->act[i].a.address, row, s)) return -1;
  return allowed(b, row) ? row : -1;
}

/* The axis along which all stores are of neighbours, or -1. */
static int stored_axis(const lo_kb *b) {
  for (int s = 0; s < b->nslot; s++) {
    bool all = b->nact > 0 && allowed(b, s);
    for (uint32_t i = 0; all && i < b->nact; i++) all = b->act[i].a.kind == TC_ACT_STORE && tc_dim_is(b->act[i].a.address.coef[s], 1);
    if (all) return s;
  }
  return -1;
}

int lo_choose_vector(lo_kb *b) {
  int best = -1;
  int64_t high = 0;
  if (b->ninterval) return b->g->lane;
  const int stored = b->L->target->lanes_along_stores && !lo_sequential_slots(b) && !b->g->serial ? stored_axis(b) : -1;
  if (stored >= 0) return stored;
  for (int s = 0; s < b->nslot; s++) {
    if (!allowed(b, s)) continue;
    const int64_t score = 2 * slot_score(b, s) + b->slot[s].sequential;
    if (best < 0 || score >= high) best = s, high = score;
  }
  const int row = best >= 0 && b->L->target->row_tiles ? row_of(b, best) : -1;
  return row < 0 ? best : row;
}
