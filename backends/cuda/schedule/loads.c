/* loads.c - which loads of a nest are treated otherwise than the rest, and which sums join a total.
 *
 * L2 residency.  Hints are for arrays larger than the L2 cache, which a nest reads once, into
 * registers, while it writes others.  Without a hint, written lines leave the cache late, when
 * others evict them, and memory alternates between reads and writes.  Loads with the policy
 * evict_last make written lines the first to be evicted, soon and in order: 2 to 3 % more bandwidth
 * (docs/cuda.md).  What is read again and again gets the same policy, or it would be evicted,
 * too. */
#include "backends/cuda/schedule/plan.h"

#include "backends/print/print.h"

#include <stdlib.h>

/* ---- lists ----------------------------------------------------------------------------------- */

/* The marked expressions of the kernel, in its order. */
static bool make_list(const tc_cuda_plan *x, const uint8_t *marked, tc_schedule_list *l) {
  uint32_t n = 0;
  for (uint32_t i = 1; i < x->k->nexpr; ++i) n += marked[i] != 0;
  l->n = 0;
  if (!n) return true;
  l->at = tc_arena_alloc(x->p->arena, n * sizeof *l->at);
  if (!l->at) return false;
  for (uint32_t i = 1; i < x->k->nexpr; ++i)
    if (marked[i]) l->at[l->n++] = i;
  return true;
}

/* ---- shared memory --------------------------------------------------------------------------- */

bool tc_cuda_plan_cache(tc_cuda_plan *x) {
  const tc_nest streamed = tc_nest_streamed(x->n);
  if (x->nest->form != TC_CUDA_ROWS) return true;
  uint8_t *marked = calloc(x->k->nexpr + 1, 1);
  if (marked) tc_cuda_find_smem_cache(x->k, x->p, &streamed, 1, marked);
  const bool ok = marked && make_list(x, marked, &x->nest->cache);
  free(marked);
  return ok;
}

static bool plan_tile(const tc_cuda_plan *x, bool unaligned, tc_schedule_list *l) {
  uint8_t *marked = calloc(x->k->nexpr + 1, 1);
  if (marked) tc_cuda_mark_tiles(x, unaligned, TC_CUDA_SHARED, marked);
  const bool ok = marked && make_list(x, marked, l);
  free(marked);
  return ok;
}

static bool plan_tile_loads(tc_cuda_plan *x) {
  if (x->nest->form != TC_CUDA_TRANSPOSE) return true;
  return plan_tile(x, false, &x->nest->tile) &&
         (!x->nest->side || plan_tile(x, true, &x->nest->unaligned_tile));
}

/* ---- prefetch -------------------------------------------------------------------------------- */

/* Marks what passes behind the first one need, and it does not. */
static void mark_later(const tc_cuda_plan *x, uint8_t *now, uint8_t *later) {
  uint32_t first = 0;
  while (first < x->n->nstage && !tc_cuda_is_pass(x->n, &x->n->stage[first])) ++first;
  if (first == x->n->nstage) return;
  tc_cuda_mark_stage(x->k, &x->n->stage[first], now);
  for (uint32_t s = first + 1; s < x->n->nstage; ++s)
    if (tc_cuda_is_pass(x->n, &x->n->stage[s])) tc_cuda_mark_stage(x->k, &x->n->stage[s], later);
  for (uint32_t i = 0; i < x->k->nexpr; ++i) later[i] = later[i] && !now[i];
}

/* Do all rows share load `id`, and does nobody write it? */
static bool is_shared(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                      const uint32_t *depends, uint32_t id) {
  const tc_expr *e = &k->expr[id];
  if (e->kind != TC_EX_LOAD || e->guard.id || e->address.nterm || n->vector < 0) return false;
  if (tc_cuda_is_local(k, p, e->buffer)) return false;
  return !(depends[id] & ((1u << n->nparallel) - 1)) && tc_dim_is(e->address.coef[n->vector], 1) &&
         !tc_kernel_writes(k, e->buffer);
}

/* Unmarks what rows do not share. */
static bool keep_shared(const tc_cuda_plan *x, uint8_t *marked) {
  uint32_t *depends = tc_cuda_depends(x->k, x->n);
  for (uint32_t i = 1; depends && i < x->k->nexpr; ++i)
    marked[i] = marked[i] && is_shared(x->k, x->p, x->n, depends, i);
  free(depends);
  return depends;
}

bool tc_cuda_mark_prefetch(const tc_cuda_plan *x, uint8_t *marked) {
  uint8_t *now = calloc(x->k->nexpr + 1, 1);
  if (now && x->n->nparallel) mark_later(x, now, marked);
  const bool ok = now && keep_shared(x, marked);
  free(now);
  return ok;
}

bool tc_cuda_mark_shared(const tc_cuda_plan *x, uint8_t *marked) {
  for (uint32_t s = 0; s < x->n->nstage; ++s)
    if (tc_cuda_is_pass(x->n, &x->n->stage[s])) tc_cuda_mark_stage(x->k, &x->n->stage[s], marked);
  return keep_shared(x, marked);
}

static bool plan_load_once(tc_cuda_plan *x) {
  bool tiles = false;
  for (uint32_t i = 0; i < x->nvariant; ++i) tiles |= x->variant[i].tile;
  if (!tiles) return true;
  uint8_t *marked = calloc(x->k->nexpr + 1, 1);
  const bool ok = marked && tc_cuda_mark_shared(x, marked) && make_list(x, marked, &x->nest->load_once);
  free(marked);
  return ok;
}

static bool keeps_rows(const tc_cuda_plan *x) {
  for (uint32_t i = 0; i < x->nvariant; ++i)
    if (x->variant[i].registers) return true;
  return false;
}

/* Not those of halves: the registers of more rows on a multiprocessor are worth more. */
static bool plan_prefetch(tc_cuda_plan *x) {
  enum { LANES = 4 };
  if (!keeps_rows(x) || tc_cuda_has_kind(x->n, TC_ACT_SCAN) || x->nest->width > LANES) return true;
  uint8_t *marked = calloc(x->k->nexpr + 1, 1);
  const bool ok =
      marked && tc_cuda_mark_prefetch(x, marked) && make_list(x, marked, &x->nest->prefetch);
  free(marked);
  return ok;
}

/* What all rows share is in the caches: it is loaded early only where that takes few registers. */
static void plan_late_shared(tc_cuda_plan *x) {
  enum { REGISTERS = 32, ACCESS = 4 };
  uint32_t shared = 0; /* the first function whose threads share a row */
  if (x->nest->form != TC_CUDA_ROWS || !x->n->nparallel) return;
  while (shared + 1 < x->nvariant && x->variant[shared].group == 1) ++shared;
  x->nest->late_shared = REGISTERS / (ACCESS * x->variant[shared].unroll) + 1;
}

/* ---- caches ---------------------------------------------------------------------------------- */

bool tc_cuda_is_only_read(const tc_kernel *k, const tc_program *p, const tc_expr *e) {
  return e->kind == TC_EX_LOAD && !e->guard.id && !tc_cuda_is_local(k, p, e->buffer) &&
         !tc_kernel_writes(k, e->buffer);
}

/* Can what the nest reads, `bytes` for every point, be more than a cache holds? */
static bool may_be_large(const tc_program *p, const tc_nest *n, int bytes) {
  enum { LEAST = 16 << 20 };
  int64_t low, high;
  for (int i = 0; i < n->naxis; ++i)
    if (n->axis[i].of >= 0) return false;
  const tc_dim points = tc_cuda_points(p, n, 0, n->naxis);
  if (tc_dim_bad(points)) return true;
  tc_dim_range(tc_graph_dims(p->graph), points, &low, &high);
  return high > LEAST / bytes;
}

/* Only functions of rows without any test use it. */
static bool has_full(const tc_cuda_plan *x) {
  for (uint32_t i = 0; i < x->nvariant; ++i)
    if (x->variant[i].full) return true;
  return false;
}

static bool plan_evict_last(tc_cuda_plan *x) {
  if (!has_full(x) || tc_cuda_has_kind(x->n, TC_ACT_SCAN) ||
      !tc_cuda_writes_all(x->k, x->p, x->n, &x->n->stage[x->n->nstage - 1]))
    return true;
  uint8_t *marked = calloc(x->k->nexpr + 1, 1);
  if (!marked) return false;
  int bytes = 0;
  tc_cuda_mark(x->k, x->n, marked);
  for (uint32_t i = 1; i < x->k->nexpr; ++i) {
    const tc_expr *e = &x->k->expr[i];
    marked[i] = marked[i] && tc_cuda_is_only_read(x->k, x->p, e);
    if (marked[i] && tc_cuda_covers(x->n, &e->address))
      bytes += (int)tc_dtype_bytes(x->p->buffer[x->k->buffer[e->buffer]].dtype);
  }
  const bool large = bytes && may_be_large(x->p, x->n, bytes);
  const bool ok = !large || make_list(x, marked, &x->nest->evict_last);
  free(marked);
  return ok;
}

static bool writes(const tc_nest *n, uint32_t buffer) {
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i)
      if (tc_cuda_is_store(&n->stage[s].action[i]) && n->stage[s].action[i].buffer == buffer)
        return true;
  return false;
}

/* Does the load read what no other one of the nest reads, and nobody writes? */
bool tc_cuda_reads_once(const tc_kernel *k, const tc_nest *n, uint32_t id) {
  const tc_expr *e = &k->expr[id];
  return e->kind == TC_EX_LOAD && !e->guard.id && !writes(n, e->buffer) &&
         tc_cuda_covers(n, &e->address);
}

static bool plan_bypass_l1(tc_cuda_plan *x) {
  int passes = 0;
  for (uint32_t s = 0; s < x->n->nstage; ++s) passes += tc_cuda_is_pass(x->n, &x->n->stage[s]);
  if (x->nest->form != TC_CUDA_COLUMNS || tc_cuda_has_kind(x->n, TC_ACT_SCAN) || passes != 1)
    return true;
  uint8_t *marked = calloc(x->k->nexpr + 1, 1);
  if (!marked) return false;
  tc_cuda_mark(x->k, x->n, marked);
  for (uint32_t i = 1; i < x->k->nexpr; ++i)
    marked[i] = marked[i] && !tc_cuda_is_local(x->k, x->p, x->k->expr[i].buffer) &&
                tc_cuda_reads_once(x->k, x->n, i);
  const bool ok = make_list(x, marked, &x->nest->bypass_l1);
  free(marked);
  return ok;
}

/* ---- sums ------------------------------------------------------------------------------------ */

bool tc_cuda_sums_in_f64(const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind == TC_ACT_REDUCE && tc_print_sums_in_f64(&st->action[i])) return true;
  return false;
}

static bool may_be_long(const tc_cuda_plan *x, const tc_stage *st) {
  enum { SHORT = 16384, SHORT_COLUMN = 2048 };
  const int64_t most = x->nest->form == TC_CUDA_COLUMNS ? SHORT_COLUMN : SHORT;
  int64_t points = 1;
  for (int i = 0; i < x->n->naxis; ++i) {
    if (!(st->axes >> i & 1)) continue;
    int64_t lo, hi;
    tc_dim_range(tc_graph_dims(x->p->graph), x->n->axis[i].extent, &lo, &hi);
    if (hi < 0 || hi > most) return true;
    points *= hi;
    if (points > most) return true;
  }
  return false;
}

static bool plan_f64_totals(tc_cuda_plan *x) {
  tc_schedule_list *l = &x->nest->f64_totals;
  const uint32_t n = tc_nest_stages(x->n);
  l->at = tc_arena_alloc(x->p->arena, (n + 1) * sizeof *l->at);
  for (uint32_t s = 0; l->at && s < n; ++s)
    if (tc_cuda_sums_in_f64(&x->n->stage[s]) && may_be_long(x, &x->n->stage[s])) l->at[l->n++] = s;
  return l->at;
}

static bool plan_in_order(tc_cuda_plan *x) {
  tc_schedule_list *l = &x->nest->in_order;
  const uint32_t n = tc_nest_stages(x->n);
  l->at = tc_arena_alloc(x->p->arena, (n + 1) * sizeof *l->at);
  for (uint32_t s = 0; l->at && s < n; ++s)
    if (tc_cuda_finds_places(x->k, x->n, &x->n->stage[s])) l->at[l->n++] = s;
  return l->at;
}

bool tc_cuda_plan_lists(tc_cuda_plan *x) {
  plan_late_shared(x);
  return plan_tile_loads(x) && plan_prefetch(x) && plan_load_once(x) && plan_evict_last(x) && plan_bypass_l1(x) &&
         plan_f64_totals(x) && plan_in_order(x);
}
