/* any_width.c - rows and columns of a number that is no multiple of an item's.
 *
 * Flat nests that store all of their points one behind another, whatever ends between them (rows of
 * odd widths, channels of images with an odd number of pixels): lanes of such a nest need not end
 * with a row.  What it stores is written 16 bytes at a time, and so is read what lies as it does;
 * other elements are loaded one by one, for each lane has indices of its own.
 *
 * Columns: the last item begins so that it ends with them. */
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

static void look_at_size(const tc_cuda_accesses *x, tc_cuda_access a, void *self) {
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
  tc_cuda_each_wide_store(&x, look_at_size, &l);
  for (uint32_t i = 1; i < k->nexpr; ++i) l.apart |= need[i] && tc_cuda_counts_rows(k, n, s, &k->expr[i]);
  const bool pays = l.narrow && l.apart && !draws_apart(k, n, need, steps);
  free(need);
  return pays;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* A store is to an array that the nest does not read, once for each column: stores begin anywhere, one by one. */
static bool may_repeat(const tc_kernel *k, const uint8_t *need, const tc_stage *st, const tc_action *a) {
  if (a->kind == TC_ACT_REDUCE) return true;
  return a->kind == TC_ACT_STORE && !st->axes && !a->address.nterm && !tc_cuda_loads(k, need, a->buffer);
}

static bool may_repeat_all(const tc_kernel *k, const tc_nest *n, const uint8_t *need) {
  for (uint32_t i = 0; i < n->nstage; ++i)
    for (uint32_t j = 0; j < n->stage[i].naction; ++j)
      if (!may_repeat(k, need, &n->stage[i], &n->stage[i].action[j])) return false;
  return true;
}

bool tc_cuda_may_overlap(const tc_kernel *k, const tc_program *p, const tc_nest *n, const tc_cuda_nest_schedule *s) {
  if (s->form != TC_CUDA_COLUMNS || s->index64 || n->vector < 0 || n->axis[n->vector].of >= 0) return false;
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (!need) return false;
  looked l = {0};
  tc_cuda_mark(k, n, need);
  const tc_cuda_accesses x = tc_cuda_accesses_of(k, p, n, s, need);
  if (may_repeat_all(k, n, need)) tc_cuda_each_wide_load(&x, look_at_size, &l);
  free(need);
  return l.narrow;
}
