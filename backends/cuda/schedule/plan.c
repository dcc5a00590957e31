/* plan.c - the schedule of a kernel's nests: the decisions in their order.
 *
 * Each looks at the nest, at the decisions before it, and at nothing else. */
#include "backends/cuda/schedule/plan.h"

#include "backends/cuda/emit.h"
#include "backends/cuda/schedule/access.h"
#include "backends/cuda/schedule/product.h"
#include "backends/cuda/schedule/sort.h"

#include <stdlib.h>
#include <string.h>

/* ---- sizes of what threads do ---------------------------------------------------------------- */

/* 32-bit registers that the loads of one item take, roughly. */
static int load_registers(const tc_cuda_plan *x, int lanes) {
  int r = 0;
  for (uint32_t i = 1; i < x->k->nexpr; ++i) {
    const tc_expr *e = &x->k->expr[i];
    if (!x->need[i] || e->kind != TC_EX_LOAD || tc_cuda_is_local(x->k, x->p, e->buffer)) continue;
    const bool varies = x->n->vector >= 0 && !tc_dim_is(e->address.coef[x->n->vector], 0);
    r += (varies ? lanes : 1) * (e->dtype == TC_F64 || e->dtype == TC_I64 ? 2 : 1);
  }
  return r;
}

static int count_ops(const tc_cuda_plan *x) {
  int n = 0;
  for (uint32_t i = 1; i < x->k->nexpr; ++i) n += x->need[i] && x->k->expr[i].kind == TC_EX_OP;
  return n;
}

static int choose_unroll(int registers, int ops) {
  int u = 4;
  while (u > 1 && (u * registers > 48 || (u > 2 && ops > 12) || ops > 80)) u /= 2;
  return u;
}

/* ---- the functions of a nest ----------------------------------------------------------------- */

/* Columns: registers for one sum of every lane, in f32 and f64, and for the early loads, which are
 * not converted yet; where they are few, twice as many loads are early and five blocks fit a
 * multiprocessor.  All items of a short column are at hand at once, and one thread's.  The number
 * of blocks is said in any case: without, ptxas moves loads back to where they are used. */
static void plan_columns(const tc_cuda_plan *x, tc_cuda_variant *v) {
  enum { PREFETCHED = 32, FEW = 64, SUM = 3, BLOCKS = 5, SHORT = 16 };
  const int lanes = (int)v->lanes;
  int sums = 0, loads = 0;
  for (uint32_t s = 0; s < x->n->nstage; ++s)
    for (uint32_t i = 0; i < x->n->stage[s].naction; ++i)
      sums += x->n->stage[s].action[i].kind != TC_ACT_STORE;
  for (uint32_t i = 1; i < x->k->nexpr; ++i)
    if (x->need[i] && x->k->expr[i].kind == TC_EX_LOAD)
      loads += (int)tc_dtype_bytes(x->p->buffer[x->k->buffer[x->k->expr[i].buffer]].dtype);
  const int item = (loads * lanes + 3) / 4;
  if (v->unroll == 4 && 2 * v->unroll * item <= PREFETCHED) v->unroll *= 2;
  const int64_t items = tc_cuda_constant_items(x->n, lanes);
  if (items > 0 && items <= SHORT && items * item <= FEW) v->unroll = items, v->group = 1;
  v->blocks = sums * lanes * SUM + item * v->unroll <= FEW ? BLOCKS : 1;
}

/* All threads of a block look at all points of a scatter: few large blocks do that less often. */
static int block_threads(int form) {
  enum { SCATTER = 512 };
  return form == TC_CUDA_SCATTER ? SCATTER : form == TC_CUDA_FLAT ? TC_CUDA_THREADS : TC_CUDA_BLOCK;
}

/* What all functions have that do not say otherwise: accesses of one element, no conditions. */
static tc_cuda_variant plan_general(const tc_cuda_plan *x) {
  enum { ONES = 4 /* items in flight where accesses are of one element */ };
  return (tc_cuda_variant){.lanes = 1,
                           .unroll = ONES,
                           .items = TC_CUDA_ITEMS,
                           .most = TC_CUDA_LARGEST_GROUP,
                           .threads = block_threads(x->nest->form),
                           .shared = x->nest->cache.n > 0};
}

/* Accesses of the full width.  Behind many operations other threads hide the loads, not other
 * items. */
static tc_cuda_variant plan_aligned(const tc_cuda_plan *x, tc_cuda_variant v) {
  enum { LIGHT = 6 };
  const int ops = count_ops(x);
  v.aligned = v.index32 = true;
  v.lanes = x->nest->width;
  v.unroll = choose_unroll(load_registers(x, (int)v.lanes), ops);
  if (x->nest->form != TC_CUDA_FLAT || ops <= LIGHT) return v;
  v.unroll = 1;
  if (v.lanes > 4) v.threads = TC_CUDA_BLOCK;
  return v;
}

static tc_cuda_variant plan_scalar(const tc_cuda_plan *x, tc_cuda_variant v) {
  v.index32 = true;
  v.unroll = 2 * choose_unroll(load_registers(x, 1), count_ops(x));
  return v;
}

/* Which functions there are beside those of aligned accesses. */
typedef struct others {
  bool anywhere; /* loads begin anywhere, stores are aligned */
  bool scalar;   /* accesses are of one element */
} others;

/* Elements through rows that may lie apart, by some load. */
static bool counts_rows(const tc_cuda_plan *x) {
  for (uint32_t i = 1; i < x->k->nexpr; ++i)
    if (x->need[i] && tc_cuda_counts_rows(x->k, x->n, x->nest, &x->k->expr[i])) return true;
  return false;
}

enum { WORD = 4 };

/* Single accesses of less than a word are too narrow; of operands, which views may move. */
static others plan_others(const tc_cuda_plan *x, tc_cuda_alignment all) {
  const int form = x->nest->form;
  const tc_cuda_alignment stores = tc_cuda_find_alignment(x, false);
  if (all != TC_CUDA_SOMETIMES || x->nest->index64) return (others){.scalar = all == TC_CUDA_NEVER};
  const bool anywhere =
      (form == TC_CUDA_FLAT || form == TC_CUDA_ROWS || form == TC_CUDA_COLUMNS) &&
      stores != TC_CUDA_NEVER && tc_cuda_loads_operand(x, WORD);
  return (others){.anywhere = anywhere, .scalar = !anywhere || stores != TC_CUDA_ALWAYS || counts_rows(x)};
}

static tc_cuda_variant plan_anywhere(tc_cuda_variant aligned) {
  aligned.aligned = false;
  aligned.aligned_stores = true;
  return aligned;
}

static tc_cuda_variant plan_overlapping(tc_cuda_variant aligned) {
  aligned.aligned = false;
  aligned.overlapping = true;
  return aligned;
}

/* Items begin where the rows are aligned.  Loads that begin anywhere beside stores in phase take the place of single elements
 * that are too narrow. */
static void plan_in_phase(tc_cuda_plan *x, tc_cuda_variant aligned) {
  aligned.aligned = false;
  aligned.in_phase = true;
  aligned.least = tc_cuda_least_in_phase(aligned.lanes);
  tc_cuda_plan_rows(x, aligned);
  aligned.in_phase = false;
  aligned.stores_in_phase = true;
  if (x->phased) tc_cuda_plan_rows(x, aligned);
}

static void plan_row_variants(tc_cuda_plan *x, tc_cuda_variant aligned, tc_cuda_variant scalar,
                              tc_cuda_alignment alignment) {
  const others o = plan_others(x, alignment); /* before x->need is that of a stage */
  const bool narrow = tc_cuda_loads_operand(x, WORD),
             phased = !x->nest->index64 && tc_cuda_may_be_in_phase(x->k, x->p, x->n, (int)aligned.lanes);
  tc_cuda_plan_tiled_rows(x, scalar);
  if (alignment != TC_CUDA_NEVER) tc_cuda_plan_rows(x, aligned);
  if (alignment == TC_CUDA_ALWAYS) return;
  if (tc_cuda_may_peel(x->k, x->p, x->n, x->need)) {
    tc_cuda_plan_unaligned_rows(x, scalar);
    return;
  }
  x->phased = phased && narrow;
  const bool anywhere = o.anywhere && tc_cuda_plan_rows(x, plan_anywhere(aligned));
  if (phased) plan_in_phase(x, aligned);
  if (o.scalar || !anywhere) tc_cuda_plan_rows(x, scalar);
}

/* Lanes that go on from row to row load one by one, several of an item at a time; else accesses are of one element, as in
 * rows that are shorter than an item if only the launcher knows. */
static void plan_without_alignment(tc_cuda_plan *x, tc_cuda_variant aligned, tc_cuda_variant scalar) {
  enum { LEAST_LANES = 4 };
  tc_cuda_variant dense = aligned;
  dense.aligned = false;
  dense.dense = true;
  dense.unroll = 1;
  if (aligned.lanes >= LEAST_LANES && tc_cuda_may_be_dense(x->k, x->p, x->n, x->nest)) tc_cuda_add(x, dense);
  tc_cuda_add(x, scalar);
}

/* Of a row, at least: its sequential axes. */
static int64_t least_elements(const tc_cuda_plan *x) {
  const tc_dim all = tc_cuda_points(x->p, x->n, x->n->nparallel, x->n->naxis);
  int64_t least = 0, most;
  if (!tc_dim_bad(all)) tc_dim_range(tc_graph_dims(x->p->graph), all, &least, &most);
  return least;
}

/* Functions for rows that are shorter than all that there are. */
static void drop_too_short(tc_cuda_plan *x) {
  const int64_t least = least_elements(x);
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->nvariant; ++i)
    if (!x->variant[i].longest || x->variant[i].longest * x->variant[i].lanes >= least) x->variant[n++] = x->variant[i];
  x->nvariant = n;
}

/* Does the nest combine what another one of the kernel has left of chunks?  There is little of it. */
static bool combines_parts(const tc_cuda_plan *x) {
  if (x->n->when != TC_WHERE_CUT || !tc_cuda_has_kind(x->n, TC_ACT_REDUCE)) return false;
  for (uint32_t i = 1; i < x->k->nexpr; ++i)
    if (x->need[i] && x->k->expr[i].kind == TC_EX_LOAD && !tc_kernel_writes(x->k, x->k->expr[i].buffer)) return false;
  return true;
}

/* The last function, with accesses of one element and 64-bit indices, has no conditions. */
static void plan_variants(tc_cuda_plan *x) {
  tc_cuda_variant general = plan_general(x), aligned = plan_aligned(x, general),
                  scalar = plan_scalar(x, general);
  const tc_cuda_alignment alignment =
      x->nest->index64 ? TC_CUDA_ALWAYS
                       : tc_cuda_find_alignment(x, true);
  const bool unaligned = alignment != TC_CUDA_ALWAYS;
  if (combines_parts(x)) tc_cuda_add(x, scalar);
  else if (x->nest->form == TC_CUDA_ROWS) plan_row_variants(x, aligned, scalar, alignment);
  else if (x->nest->form == TC_CUDA_SCATTER) {
    scalar.unroll = 2 * general.unroll;
    tc_cuda_add(x, scalar);
  } else if (x->nest->form == TC_CUDA_TRANSPOSE) tc_cuda_plan_tiles(x, aligned, scalar, unaligned);
  else {
    if (x->nest->form == TC_CUDA_COLUMNS && !tc_cuda_has_kind(x->n, TC_ACT_SCAN)) {
      plan_columns(x, &aligned);
      plan_columns(x, &scalar);
    }
    const others o = plan_others(x, alignment);
    if (alignment != TC_CUDA_NEVER) tc_cuda_add(x, aligned);
    if (alignment != TC_CUDA_ALWAYS && tc_cuda_may_overlap(x->k, x->p, x->n, x->nest)) tc_cuda_add(x, plan_overlapping(aligned));
    else if (o.anywhere) tc_cuda_add(x, plan_anywhere(aligned));
    if (o.scalar) plan_without_alignment(x, aligned, scalar);
  }
  if (x->nest->form == TC_CUDA_SERIAL) general.unroll = 1;
  if (x->nest->form == TC_CUDA_ROWS) drop_too_short(x);
  tc_cuda_add(x, general);
}

/* ---- a nest ---------------------------------------------------------------------------------- */

/* Short reductions, and those of many results, are not cut. */
static void plan_cut(tc_cuda_plan *x) {
  int64_t least, most;
  if (x->n->when == TC_ALWAYS) return;
  x->nest->whole = x->n->whole;
  tc_dim_range(tc_graph_dims(x->p->graph), x->n->results, &least, &most);
  if (most >= x->n->many) x->nest->many_results = x->n->many;
}

static bool put_variants(const tc_cuda_plan *x, tc_schedule_nest *s) {
  tc_arena *arena = x->p->arena;
  tc_cuda_variant *v = tc_arena_alloc(arena, (x->nvariant + 1) * sizeof *v);
  s->variant = tc_arena_alloc(arena, (x->nvariant + 1) * sizeof *s->variant);
  if (!v || !s->variant) return false;
  memcpy(v, x->variant, x->nvariant * sizeof *v);
  s->common = x->nest;
  s->nvariant = x->nvariant;
  for (uint32_t i = 0; i < s->nvariant; ++i) s->variant[i] = (tc_schedule_variant){.nest = &v[i]};
  return true;
}

static bool plan_nest(tc_cuda_plan *x, tc_schedule_nest *s) {
  x->nest = tc_arena_alloc(x->p->arena, sizeof *x->nest);
  x->need = calloc(x->k->nexpr + 1, 1);
  bool ok = x->nest && x->need;
  if (ok) {
    tc_cuda_mark(x->k, x->n, x->need);
    tc_cuda_plan_form(x);
    plan_cut(x);
    ok = tc_cuda_plan_cache(x);
  }
  if (ok) plan_variants(x);
  ok = ok && tc_cuda_plan_lists(x) && put_variants(x, s);
  free(x->need);
  return ok;
}

/* ---- a kernel -------------------------------------------------------------------------------- */

/* Nests without stages are another one's, already done. */
static bool plan_nests(const tc_program *p, const tc_kernel *k, tc_schedule *s) {
  s->nest = tc_arena_alloc(p->arena, (k->nnest + 1) * sizeof *s->nest);
  bool ok = s->nest;
  for (uint32_t i = 0; ok && i < k->nnest; ++i) {
    tc_cuda_plan x = {.k = k, .p = p, .n = &k->nest[i]};
    ok = !k->nest[i].nstage || plan_nest(&x, &s->nest[i]);
  }
  return ok;
}

static tc_schedule *new_schedule(const tc_program *p, bool approximate) {
  tc_schedule *s = tc_arena_alloc(p->arena, sizeof *s);
  tc_cuda_kernel_schedule *own = tc_arena_alloc(p->arena, sizeof *own);
  if (!s || !own) return NULL;
  *own = (tc_cuda_kernel_schedule){.approximate = approximate,
                                   .template = -1};
  for (int i = 0; i < TC_CUDA_OPERANDS; ++i) own->along[i] = -1, own->width[i] = 1;
  s->kernel = own;
  return s;
}

/* And the nest that the library leaves of it. */
static bool plan_product(const tc_program *p, const tc_kernel *k, tc_schedule *s) {
  if (!tc_cuda_plan_product(k, p, (tc_cuda_kernel_schedule *)s->kernel) ||
      !tc_cuda_library_rest(k, p, &s->product))
    return false;
  if (!s->product) return true;
  tc_cuda_kernel_schedule *own = (tc_cuda_kernel_schedule *)s->kernel;
  own->one_pass = tc_cuda_may_one_pass(&k->mm, own->template);
  tc_schedule *rest = new_schedule(p, false);
  s->product->schedule = rest;
  return rest && plan_nests(p, s->product, rest);
}

static bool plan_sort(const tc_kernel *k, tc_schedule *s) {
  ((tc_cuda_kernel_schedule *)s->kernel)->room = tc_cuda_sort_most(&k->sort);
  return true;
}

static bool plan_kernel(const tc_program *p, tc_kernel *k) {
  if (k->kind == TC_KERNEL_CALL) return true;
  tc_schedule *s = new_schedule(p, tc_cuda_stores_halves(k, p));
  k->schedule = s;
  if (s && k->kind == TC_KERNEL_SORT) return plan_sort(k, s);
  return s && (k->kind == TC_KERNEL_NESTS ? plan_nests(p, k, s) : plan_product(p, k, s));
}

bool tc_cuda_plan_program(tc_program *p) {
  for (uint32_t i = 0; i < p->nkernel; ++i)
    if (!plan_kernel(p, &p->kernel[i])) return false;
  return true;
}
