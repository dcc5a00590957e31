/* last.c - which nodes are placed first, so that their groups run last.
 *
 * A mean loss sums up numbers of rows, and its gradient needs what these are made of as well: the
 * maximum and the sum of exponentials of each row.  Where the mean's group ran in front of the
 * gradient's, these would be arrays; where it runs last, they join the loops of the gradient, and
 * one kernel does both. */
#include "lower/lowering.h"

static bool passes(tc_class c) {
  return c == TC_CLASS_EW || c == TC_CLASS_VIEW || c == TC_CLASS_INDEX || c == TC_CLASS_REDUCE;
}

/* A reduction to one number of what other reductions left. */
static bool sums_rows(lo *L, const tc_node *n) {
  return lo_class(n) == TC_CLASS_REDUCE && !tc_dim_is(L->fact[n->in[0].id].reduced, 0);
}

/* Numbers that such reductions (of operands that are `shared`; NULL: of any) and nothing but
 * numbers and results are made of. */
static bool *numbers(lo *L, const bool *shared) {
  bool *last = lo_alloc(L, L->scratch, L->count + 1);
  for (uint32_t id = 1; id <= L->count; id++) {
    const tc_node *n = lo_node(L, (tc_ref){id});
    if (!tc_dim_is(L->fact[id].numel, 1) || !passes(lo_class(n))) continue;
    last[id] = sums_rows(L, n) && (!shared || shared[n->in[0].id]);
    for (int k = 0; k < n->nin; k++) last[id] |= n->in[k].id && last[n->in[k].id];
  }
  for (uint32_t id = L->count; id > 0; id--) {
    const tc_node *n = lo_node(L, (tc_ref){id});
    for (int k = 0; k < n->nin && !last[id]; k++) last[n->in[k].id] = false;
  }
  return last;
}

/* Nodes that are made of a reduction which leads to others than `last`, too. */
static bool *shared_reductions(lo *L, const bool *last) {
  bool *others = lo_alloc(L, L->scratch, L->count + 1),
       *shared = lo_alloc(L, L->scratch, L->count + 1);
  for (uint32_t id = L->count; id > 0; id--) {
    const tc_node *n = lo_node(L, (tc_ref){id});
    const bool leads = others[id] || (L->place[id].target && !last[id]);
    const bool effect = lo_class(n) == TC_CLASS_EFFECT;
    others[id] = leads || effect;
    for (int k = 0; k < n->nin; k++) others[n->in[k].id] |= others[id];
  }
  for (uint32_t id = 1; id <= L->count; id++) {
    const tc_node *n = lo_node(L, (tc_ref){id});
    if (!passes(lo_class(n))) continue;
    shared[id] =
        others[id] && (lo_class(n) == TC_CLASS_REDUCE || !tc_dim_is(L->fact[id].reduced, 0));
    for (int k = 0; k < n->nin; k++) shared[id] |= n->in[k].id && shared[n->in[k].id];
  }
  return shared;
}

const bool *lo_find_last(lo *L) { return numbers(L, shared_reductions(L, numbers(L, NULL))); }
