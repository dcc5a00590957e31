/* channel_unroll.c - an axis of few points that all stores have, such as the channels of pixels or
 * the coordinates of points, is unrolled.
 *
 * Lanes along so short an axis would be empty, and lanes along the pixels would store every s-th
 * element.  So the lanes run along the pixels, and each channel is an action of its own at the same
 * point: a backend interleaves what these store, and stores whole vectors.
 *
 *   nest i < N, c < 3           nest i < N
 *     store y[3*i + c] = ...      store y[3*i] = ...  store y[3*i + 1] = ...  store y[3*i + 2] = ... */
#include "lower/lowering.h"

#include <string.h>

enum { EXPRESSIONS = 48 }; /* of which so many copies are made at most */

static bool is_stored(const tc_action *a) { return a->kind == TC_ACT_STORE; }

/* Is slot s the channel of what this action stores, and some other slot the pixel? */
static bool is_channel(const lo_kb *b, const tc_action *a, int s) {
  if (!tc_dim_is(a->address.coef[s], 1)) return false;
  for (int v = 0; v < b->nslot; v++)
    if (!b->slot[v].dead && v != s && tc_dim_same(a->address.coef[v], b->slot[s].extent))
      return true;
  return false;
}

static bool is_short(const lo_kb *b, int s) {
  const tc_dim e = b->slot[s].extent;
  return tc_dim_is_const(e) && tc_dim_value(e) > 1 && tc_dim_value(e) <= b->L->target->interleave;
}

/* The slot that is the channel of all stores, or -1. */
static int channel_slot(const lo_kb *b) {
  for (int s = 0; s < b->nslot; s++) {
    bool all = !b->slot[s].dead && is_short(b, s);
    for (uint32_t i = 0; all && i < b->nact; i++)
      all = is_stored(&b->act[i].a) && is_channel(b, &b->act[i].a, s);
    if (all) return s;
  }
  return -1;
}

static void move(lo_kb *b, tc_address *a, int s, int64_t to) {
  const tc_dim step = tc_dim_mul(b->L->dims, a->coef[s], tc_dim_const(to));
  a->offset = tc_dim_add(b->L->dims, a->offset, step);
  a->coef[s] = tc_dim_const(0);
}

/* copy[id - first]: the expression that is to `id` of the first channel what it is of another. */
static void replace(const uint32_t *copy, uint32_t first, uint32_t end, tc_val *v) {
  if (v->id >= first && v->id < end) v->id = copy[v->id - first];
}

static void replace_terms(const uint32_t *copy, uint32_t first, uint32_t end, tc_address *a) {
  for (int t = 0; t < a->nterm; t++) replace(copy, first, end, &a->term[t].value);
}

static void copy_expressions(lo_kb *b, uint32_t end, int s, int64_t to, uint32_t *copy) {
  for (uint32_t id = b->first; id < end; id++) {
    tc_expr e = b->k->expr[id];
    copy[id - b->first] = id;
    if (!(b->axes[id] >> s & 1)) continue;
    for (int i = 0; i < 3; i++) replace(copy, b->first, end, &e.in[i]);
    replace(copy, b->first, end, &e.guard);
    replace_terms(copy, b->first, end, &e.address);
    if (!tc_dim_is(e.address.coef[s], 0)) move(b, &e.address, s, to);
    copy[id - b->first] = lo_expr(b, &e).id;
  }
}

static void copy_actions(lo_kb *b, uint32_t end, uint32_t nact, int s, int64_t to,
                         const uint32_t *copy) {
  for (uint32_t i = 0; i < nact; i++) {
    lo_act a = b->act[i];
    replace(copy, b->first, end, &a.a.value);
    replace(copy, b->first, end, &a.a.guard);
    replace_terms(copy, b->first, end, &a.a.address);
    move(b, &a.a.address, s, to);
    lo_push_act(b, a);
  }
}

static void drop_channel(lo_kb *b, tc_address *a, const void *slot) {
  move(b, a, *(const int *)slot, 0);
}

void lo_unroll_channels(lo_kb *b) {
  const int s = lo_sequential_slots(b) || b->g->serial ? -1 : channel_slot(b);
  const uint32_t end = b->k->nexpr, nact = b->nact;
  if (s < 0 || end - b->first > EXPRESSIONS) return;
  uint32_t *copy = lo_alloc(b->L, b->L->scratch, (end - b->first + 1) * sizeof *copy);
  for (int64_t to = 1; to < tc_dim_value(b->slot[s].extent); to++) {
    copy_expressions(b, end, s, to, copy);
    copy_actions(b, end, nact, s, to, copy);
  }
  lo_map_addresses(b, drop_channel, &s); /* what is left is the first channel */
  b->slot[s].dead = true;
  lo_refresh(b);
}

/* ---- nests that each store one channel ------------------------------------------------------- */

static bool same_axes(const tc_nest *a, const tc_nest *b) {
  if (a->naxis != b->naxis || a->nparallel != b->nparallel || a->vector != b->vector) return false;
  for (int i = 0; i < a->naxis; i++)
    if (!tc_dim_same(a->axis[i].extent, b->axis[i].extent) || a->axis[i].of != b->axis[i].of ||
        (a->axis[i].of >= 0 && !tc_dim_same(a->axis[i].total, b->axis[i].total)))
      return false;
  return true;
}

/* Stores and nothing else, in one stage. */
static bool only_stores(const tc_nest *n) {
  if (n->nstage != 1 || n->serial || n->when != TC_ALWAYS || n->vector < 0) return false;
  for (uint32_t i = 0; i < n->stage[0].naction; i++)
    if (!is_stored(&n->stage[0].action[i])) return false;
  return true;
}

/* Do they store different channels of pixels along `vector`? */
static bool are_apart(lo *L, const tc_action *a, const tc_action *b, int vector) {
  const tc_dim step = a->address.coef[vector];
  if (a->buffer != b->buffer || a->address.nterm || b->address.nterm) return false;
  if (!tc_dim_is_const(step) || tc_dim_value(step) < 2 ||
      tc_dim_value(step) > L->target->interleave)
    return false;
  for (int i = 0; i < TC_MAX_AXES; i++)
    if (!tc_dim_same(a->address.coef[i], b->address.coef[i]) ||
        tc_dim_multiple(L->dims, a->address.coef[i]) % tc_dim_value(step))
      return false;
  const tc_dim far = tc_dim_sub(L->dims, a->address.offset, b->address.offset);
  return tc_dim_is_const(far) && tc_dim_value(far) % tc_dim_value(step);
}

/* Marks what the one stage of the nest computes. */
static void mark(const tc_kernel *k, const tc_nest *n, uint8_t *need) {
  memset(need, 0, k->nexpr);
  for (uint32_t i = 0; i < n->stage[0].naction; i++) tc_mark_action(&n->stage[0].action[i], need);
  tc_mark_operands(k, need);
}

static bool reads(const tc_kernel *k, const tc_nest *n, uint32_t buffer, uint8_t *need) {
  mark(k, n, need);
  for (uint32_t id = 1; id < k->nexpr; id++)
    if (need[id] && k->expr[id].kind == TC_EX_LOAD && k->expr[id].buffer == buffer) return true;
  return false;
}

static bool can_run_together(lo *L, const tc_kernel *k, const tc_nest *a, const tc_nest *b,
                             uint8_t *need) {
  if (!only_stores(a) || !only_stores(b) || !same_axes(a, b)) return false;
  if (a->stage[0].axes != b->stage[0].axes) return false;
  for (uint32_t i = 0; i < a->stage[0].naction; i++)
    for (uint32_t j = 0; j < b->stage[0].naction; j++)
      if (!are_apart(L, &a->stage[0].action[i], &b->stage[0].action[j], a->vector)) return false;
  const uint32_t to = a->stage[0].action[0].buffer; /* the one buffer of all */
  return !reads(k, a, to, need) && !reads(k, b, to, need);
}

static void append(lo *L, tc_nest *a, const tc_nest *b) {
  tc_stage *s = &a->stage[0];
  const uint32_t n = s->naction, more = b->stage[0].naction;
  tc_action *all = lo_alloc(L, L->arena, (n + more) * sizeof *all);
  memcpy(all, s->action, n * sizeof *all);
  memcpy(all + n, b->stage[0].action, more * sizeof *all);
  s->action = all;
  s->naction = n + more;
  const tc_dim work = tc_dim_add(L->dims, a->work, b->work);
  if (!tc_dim_bad(work)) a->work = work;
}

void lo_join_channels(lo *L, tc_kernel *k) {
  if (!L->target->interleave || k->nnest < 2) return;
  uint8_t *need = lo_alloc(L, L->scratch, k->nexpr + 1);
  uint32_t kept = 1;
  for (uint32_t i = 1; i < k->nnest; i++) {
    tc_nest *last = &k->nest[kept - 1];
    if (can_run_together(L, k, last, &k->nest[i], need)) append(L, last, &k->nest[i]);
    else k->nest[kept++] = k->nest[i];
  }
  k->nnest = kept;
}
