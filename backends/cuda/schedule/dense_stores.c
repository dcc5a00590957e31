/* dense_stores.c - nests that store all of their points one behind another, whatever ends between
 * them: rows of odd widths, channels of images with an odd number of pixels.
 *
 * Lanes of such a nest need not end with a row.  What it stores is written 16 bytes at a time, and
 * so is read what lies as it does; other elements are loaded one by one, for each lane has indices
 * of its own. */
#include "backends/cuda/schedule/access.h"
#include "backends/cuda/schedule/plan.h"
#include "lower/flat_rows.h"

#include <stdlib.h>

/* The steps of an address of neighbours, from the last axis to the first, behind the lanes'. */
static void find_steps(const tc_program *p, const tc_nest *n, tc_dim steps[TC_MAX_AXES]) {
  tc_dims *c = tc_graph_dims(p->graph);
  tc_dim step = n->axis[n->vector].extent;
  for (int i = 0; i < TC_MAX_AXES; ++i) steps[i] = tc_dim_const(0);
  steps[n->vector] = tc_dim_const(1);
  for (int i = n->naxis; i-- > 0;) {
    if (i == n->vector) continue;
    steps[i] = step;
    step = tc_dim_mul(c, step, n->axis[i].extent);
  }
}

static bool has_steps(const tc_nest *n, const tc_address *a, const tc_dim steps[TC_MAX_AXES]) {
  for (int i = 0; i < n->naxis; ++i)
    if (tc_dim_bad(steps[i]) || !tc_dim_same(a->coef[i], steps[i])) return false;
  return a->nterm == 0;
}

bool tc_cuda_stores_densely(const tc_kernel *k, const tc_program *p, const tc_nest *n, tc_dim steps[TC_MAX_AXES]) {
  tc_dim own[TC_MAX_AXES], *at = steps ? steps : own;
  if (k->kind != TC_KERNEL_NESTS || n->vector < 0 || n->nstage != 1) return false;
  for (int i = 0; i < n->naxis; ++i)
    if (n->axis[i].of >= 0) return false;
  find_steps(p, n, at);
  for (uint32_t i = 0; i < n->stage->naction; ++i) {
    const tc_action *a = &n->stage->action[i];
    if (a->kind != TC_ACT_STORE || a->guard.id || !has_steps(n, &a->address, at)) return false;
  }
  return n->stage->naction > 0;
}

/* ---- does it pay? ---------------------------------------------------------------------------- */

typedef struct looked {
  bool narrow, apart; /* elements smaller than a word; rows that end, or lie apart */
} looked;

static void look_at_store(const tc_cuda_accesses *x, tc_cuda_access a, void *self) {
  enum { WORD = 4 };
  looked *l = self;
  l->narrow |= tc_cuda_element_bytes(x, a.buffer) < WORD;
}

/* Numbers of random elements may exceed 32 bits, which lanes' indices are of. */
static bool draws_apart(const tc_kernel *k, const tc_nest *n, const uint8_t *need, const tc_dim steps[TC_MAX_AXES]) {
  for (uint32_t i = 1; i < k->nexpr; ++i)
    if (need[i] && k->expr[i].kind == TC_EX_RANDOM && !has_steps(n, &k->expr[i].address, steps)) return true;
  return false;
}

bool tc_cuda_may_be_dense(const tc_kernel *k, const tc_program *p, const tc_nest *n, const tc_cuda_nest_schedule *s) {
  tc_dim steps[TC_MAX_AXES];
  if (s->form != TC_CUDA_FLAT || s->index64 || !tc_cuda_stores_densely(k, p, n, steps)) return false;
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (!need) return false;
  tc_cuda_mark(k, n, need);
  const tc_cuda_accesses x = tc_cuda_accesses_of(k, p, n, s, need);
  looked l = {.apart = n->naxis > 1};
  tc_cuda_each_wide_store(&x, look_at_store, &l);
  for (uint32_t i = 1; i < k->nexpr; ++i) l.apart |= need[i] && tc_cuda_counts_rows(k, n, s, &k->expr[i]);
  const bool pays = l.narrow && l.apart && !draws_apart(k, n, need, steps);
  free(need);
  return pays;
}
