/* unaligned_rows.c - which rows may begin anywhere: those that are read by one load, in one pass,
 * and not written. */
#include "backends/cuda/schedule/facts.h"

#include "backends/print/print.h"

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
