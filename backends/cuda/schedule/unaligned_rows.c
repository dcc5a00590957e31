/* unaligned_rows.c - which rows may begin anywhere: those that are read by one load, in one pass,
 * and not written; and those that are all equally far behind aligned addresses. */
#include "backends/cuda/schedule/facts.h"

#include "backends/print/print.h"

#include <stdlib.h>

static bool is_stored(const tc_kernel *k, const tc_program *p, const tc_nest *n) {
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i) {
      const tc_action *a = &n->stage[s].action[i];
      if (a->kind == TC_ACT_SCAN) return true;
      if (a->kind == TC_ACT_REDUCE && tc_print_is_tuple(a) && !a->term.id &&
          !tc_cuda_finds_places(k, n, &n->stage[s]))
        return true;
      if (n->stage[s].axes && tc_cuda_is_store(a) && !tc_cuda_is_local(k, p, a->buffer))
        return true;
    }
  return false;
}

uint32_t tc_cuda_unaligned_load(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                                const uint8_t *need) {
  const int v = n->vector;
  if (n->naxis != n->nparallel + 1 || v != n->nparallel || n->axis[v].of >= 0) return 0;
  if (is_stored(k, p, n)) return 0;
  uint32_t found = 0;
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    const tc_expr *e = &k->expr[i];
    if (!need[i] || e->kind == TC_EX_RANDOM) {
      if (need[i]) return 0;
      continue;
    }
    if (e->kind != TC_EX_LOAD || tc_cuda_is_local(k, p, e->buffer)) continue;
    if (tc_dim_is(e->address.coef[v], 0) && !e->guard.id) continue;
    if (found || e->guard.id || e->address.nterm || !tc_dim_is(e->address.coef[v], 1)) return 0;
    found = i;
  }
  return found;
}

bool tc_cuda_may_peel(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                      const uint8_t *need) {
  return tc_cuda_count_passes(n) < 2 && tc_cuda_unaligned_load(k, p, n, need);
}

/* ---- in phase -------------------------------------------------------------------------------- */

/* What may be done at an item may be done at a peeled element. */
static bool may_peel_action(const tc_kernel *k, const tc_program *p, const tc_stage *st, const tc_action *a, int v) {
  if (a->kind == TC_ACT_REDUCE) return !tc_print_is_tuple(a) || a->term.id;
  if (a->kind != TC_ACT_STORE || a->guard.id) return false;
  return !st->axes || tc_cuda_is_local(k, p, a->buffer) || (!a->address.nterm && tc_dim_is(a->address.coef[v], 1));
}

static bool may_peel_stages(const tc_kernel *k, const tc_program *p, const tc_nest *n) {
  for (uint32_t s = 0; s < n->nstage; ++s) {
    const tc_stage *st = &n->stage[s];
    if (st->interval || (st->axes && st->axes != 1u << n->vector)) return false;
    for (uint32_t i = 0; i < st->naction; ++i)
      if (!may_peel_action(k, p, st, &st->action[i], n->vector)) return false;
  }
  return true;
}

static bool may_peel_load(const tc_kernel *k, const tc_program *p, const tc_expr *e, int v) {
  if (e->kind != TC_EX_LOAD || tc_cuda_is_local(k, p, e->buffer)) return e->kind != TC_EX_RANDOM;
  return !e->guard.id && (tc_dim_is(e->address.coef[v], 0) || (!e->address.nterm && tc_dim_is(e->address.coef[v], 1)));
}

/* The stages for rows that are kept, or others. */
static bool may_peel_rows(const tc_kernel *k, const tc_program *p, const tc_nest *n) {
  uint8_t *need = calloc(k->nexpr + 1, 1);
  bool may = need && may_peel_stages(k, p, n);
  if (need) tc_cuda_mark(k, n, need);
  for (uint32_t i = 1; may && i < k->nexpr; ++i) may = !need[i] || may_peel_load(k, p, &k->expr[i], n->vector);
  free(need);
  return may;
}

/* The access is of a row of its own: so far the first. */
static void take_first(const tc_kernel *k, const tc_program *p, const tc_nest *n, const tc_address *a, uint32_t buffer, tc_cuda_row *first) {
  if (first->address || tc_cuda_is_local(k, p, buffer) || !tc_dim_is(a->coef[n->vector], 1) || !tc_cuda_changes(n, a)) return;
  *first = (tc_cuda_row){a, buffer, tc_dtype_bytes(p->buffer[k->buffer[buffer]].dtype)};
}

static void take_first_store(const tc_kernel *k, const tc_program *p, const tc_nest *n, tc_cuda_row *first) {
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; n->stage[s].axes && i < n->stage[s].naction; ++i) {
      const tc_action *a = &n->stage[s].action[i];
      if (tc_cuda_is_store(a)) take_first(k, p, n, &a->address, a->buffer, first);
    }
}

tc_cuda_row tc_cuda_phase(const tc_kernel *k, const tc_program *p, const tc_nest *n) {
  const tc_nest streamed = tc_nest_streamed(n);
  const int v = n->vector;
  tc_cuda_row first = {0};
  if (n->serial || !n->nparallel || n->naxis != n->nparallel + 1 || v != n->nparallel || n->axis[v].of >= 0) return first;
  if (!may_peel_rows(k, p, n) || !may_peel_rows(k, p, &streamed)) return first;
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (!need) return first;
  tc_cuda_mark(k, n, need);
  take_first_store(k, p, n, &first);
  for (uint32_t i = 1; i < k->nexpr; ++i)
    if (need[i] && k->expr[i].kind == TC_EX_LOAD) take_first(k, p, n, &k->expr[i].address, k->expr[i].buffer, &first);
  free(need);
  return first;
}
