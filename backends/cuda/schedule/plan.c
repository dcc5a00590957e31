/* plan.c - what form a nest takes, how wide its accesses are, what its threads keep. */
#include "backends/cuda/nest/nest.h"

#include <stdlib.h>

static bool has_kind(const tc_nest *n, tc_act_kind kind) {
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t a = 0; a < n->stage[s].naction; ++a)
      if (n->stage[s].action[a].kind == kind) return true;
  return false;
}

bool tc_cuda_is_store(const tc_action *a) {
  return a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD;
}

bool tc_cuda_is_local(const tc_kernel *k, const tc_program *p, uint32_t buffer) {
  return p->buffer[k->buffer[buffer]].kind == TC_BUF_LOCAL;
}

static tc_cuda_kind kind_of(const tc_nest *n) {
  if (n->serial) return TC_CUDA_SERIAL;
  if (!has_kind(n, TC_ACT_REDUCE) && !has_kind(n, TC_ACT_SCAN) && n->nstage <= 1)
    return TC_CUDA_FLAT;
  return n->vector >= 0 && n->vector < n->nparallel ? TC_CUDA_COLUMNS : TC_CUDA_ROWS;
}

/* ---- what a nest is made of ------------------------------------------------------------------ */

void tc_cuda_mark_stage(const tc_kernel *k, const tc_stage *st, uint8_t *need) {
  for (uint32_t i = 0; i < st->naction; ++i) tc_mark_action(&st->action[i], need);
  tc_mark_operands(k, need);
}

void tc_cuda_mark(const tc_kernel *k, const tc_nest *n, uint8_t *need) {
  for (uint32_t s = 0; s < n->nstage; ++s) tc_cuda_mark_stage(k, &n->stage[s], need);
}

/* ---- sizes of what threads do ---------------------------------------------------------------- */

/* Addresses without a buffer (positions) and constants in them may be larger than any buffer. */
static bool is_far(const tc_kernel *k, const tc_program *p, const tc_nest *n, const uint8_t *need) {
  enum { NEAR = 1 << 24 };
  tc_dims *c = tc_graph_dims(p->graph);
  if (tc_dim_bad(tc_cuda_points(p, n, 0, n->nparallel)) ||
      tc_dim_bad(tc_cuda_points(p, n, n->nparallel, n->naxis)))
    return true;
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    const tc_address *a = &k->expr[i].address;
    if (!need[i] || k->expr[i].kind != TC_EX_INDEX) continue;
    const tc_dim d[2] = {a->offset, tc_dim_const(0)};
    for (int j = -1; j < n->naxis; ++j) {
      int64_t lo, hi;
      tc_dim_range(c, j < 0 ? d[0] : a->coef[j], &lo, &hi);
      if (tc_dim_is_const(j < 0 ? d[0] : a->coef[j]) && (lo < -NEAR || hi > NEAR)) return true;
    }
  }
  return false;
}

/* 32-bit registers that the loads of one item take, roughly. */
static int load_registers(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                          const uint8_t *need, int lanes) {
  int r = 0;
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    const tc_expr *e = &k->expr[i];
    if (!need[i] || e->kind != TC_EX_LOAD || tc_cuda_is_local(k, p, e->buffer)) continue;
    const bool varies = n->vector >= 0 && !tc_dim_is(e->address.coef[n->vector], 0);
    r += (varies ? lanes : 1) * (e->dtype == TC_F64 || e->dtype == TC_I64 ? 2 : 1);
  }
  return r;
}

static int count_ops(const tc_kernel *k, const uint8_t *need) {
  int n = 0;
  for (uint32_t i = 1; i < k->nexpr; ++i) n += need[i] && k->expr[i].kind == TC_EX_OP;
  return n;
}

static int choose_unroll(int registers, int ops) {
  int u = 4;
  while (u > 1 && (u * registers > 48 || (u > 2 && ops > 12) || ops > 80)) u /= 2;
  return u;
}

bool tc_cuda_is_pass(const tc_nest *n, const tc_stage *st) {
  const uint32_t sequential = ((1u << n->naxis) - 1) & ~((1u << n->nparallel) - 1);
  return sequential && st->axes == sequential;
}

/* ---- the functions of a nest ----------------------------------------------------------------- */

void tc_cuda_add_form(tc_cuda_plan *plan, tc_cuda_instance f) {
  if (plan->nform < TC_CUDA_FORMS) plan->form[plan->nform++] = f;
}

/* Columns: registers for one sum of every lane, in f32 and f64, and for the early loads, which are
 * not converted yet; where they are few, twice as many loads are early and five blocks fit a
 * multiprocessor.  One is said in any case: without, ptxas moves loads back to where they are used. */
static void plan_columns(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                         const uint8_t *need, tc_cuda_instance *f) {
  enum { PREFETCHED = 32, FEW = 64, SUM = 3, BLOCKS = 5 };
  int sums = 0, loads = 0;
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i)
      sums += n->stage[s].action[i].kind != TC_ACT_STORE;
  for (uint32_t i = 1; i < k->nexpr; ++i)
    if (need[i] && k->expr[i].kind == TC_EX_LOAD)
      loads += (int)tc_dtype_bytes(p->buffer[k->buffer[k->expr[i].buffer]].dtype);
  const int item = (loads * f->lanes + 3) / 4;
  if (f->unroll == 4 && 2 * f->unroll * item <= PREFETCHED) f->unroll *= 2;
  f->blocks = sums * f->lanes * SUM + item * f->unroll <= FEW ? BLOCKS : 1;
}

/* Tiles with 16-byte accesses, unless sizes forbid them, and tiles that begin anywhere; or else with
 * accesses of one element. */
static void plan_transpose(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                           const uint8_t *need, tc_cuda_plan *plan, tc_cuda_instance vectorized,
                           bool unaligned) {
  tc_cuda_instance scalar = vectorized;
  scalar.vectorized = false;
  scalar.lanes = 1;
  const bool any = tc_cuda_plan_unaligned_transpose(k, p, n, need, plan, &scalar);
  if (!any || vectorized.lanes >= scalar.lanes) tc_cuda_add_form(plan, vectorized);
  plan->unaligned = any && (unaligned || vectorized.lanes < scalar.lanes);
  if (unaligned || plan->unaligned) tc_cuda_add_form(plan, scalar);
}

tc_cuda_plan tc_cuda_plan_nest(const tc_kernel *k, const tc_kernel *plain, const tc_program *p,
                               const tc_nest *n) {
  enum {
    ONES = 4, /* items in flight where accesses are of one element */
    LIGHT = 6
  }; /* operations: behind more, other threads hide the loads, not other items */
  tc_cuda_plan plan = {.kind = kind_of(n), .lanes = 1, .scan = has_kind(n, TC_ACT_SCAN)};
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (!need) return plan;
  tc_cuda_mark(k, n, need);
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t a = 0; a < n->stage[s].naction; ++a)
      plan.tuples |=
          n->stage[s].action[a].kind == TC_ACT_REDUCE && tc_print_is_tuple(&n->stage[s].action[a]);
  if (plan.kind == TC_CUDA_FLAT) tc_cuda_plan_transpose(k, p, n, need, &plan);
  plan.lanes = tc_cuda_choose_lanes(k, p, n, &plan, need);
  plan.far = is_far(k, p, n, need);
  const int ops = count_ops(k, need);
  tc_cuda_instance general = {.lanes = 1,
                              .unroll = ONES,
                              .each = 8,
                              .most = TC_CUDA_LARGEST_GROUP,
                              .threads = TC_CUDA_BLOCK};
  const tc_nest *again = plain && plan.kind == TC_CUDA_ROWS ? &plain->nest[n - k->nest] : NULL;
  if (again) general.smem_cache = tc_cuda_find_smem_cache(plain, p, again, 1, NULL);
  plan.smem_cache = general.smem_cache > 0;
  tc_cuda_instance vectorized = general, scalar = general;
  vectorized.vectorized = vectorized.small = scalar.small = true;
  vectorized.lanes = plan.lanes;
  if (plan.smem_cache)
    vectorized.smem_cache = tc_cuda_find_smem_cache(plain, p, again, plan.lanes, NULL);
  vectorized.unroll = choose_unroll(load_registers(k, p, n, need, plan.lanes), ops);
  if (plan.kind == TC_CUDA_FLAT)
    vectorized.threads = general.threads = scalar.threads = TC_CUDA_THREADS;
  if (plan.kind == TC_CUDA_FLAT && ops > LIGHT) vectorized.unroll = 1;
  if (plan.kind == TC_CUDA_FLAT && ops > LIGHT && vectorized.lanes > 4)
    vectorized.threads = TC_CUDA_BLOCK;
  scalar.unroll = 2 * choose_unroll(load_registers(k, p, n, need, 1), ops);
  const bool unaligned = !plan.far && tc_cuda_may_be_unaligned(k, p, n, &plan, need);
  tc_cuda_mark(k, n, need);
  if (plan.kind == TC_CUDA_ROWS) {
    plan.unaligned =
        unaligned && tc_cuda_count_passes(n) < 2 && tc_cuda_unaligned_load(k, p, n, need);
    tc_cuda_plan_rows(k, p, n, need, &plan, vectorized);
    if (plan.unaligned) tc_cuda_plan_unaligned_rows(&plan, scalar);
    else if (unaligned) tc_cuda_plan_rows(k, p, n, need, &plan, scalar);
  } else if (plan.kind == TC_CUDA_TRANSPOSE) {
    plan_transpose(k, p, n, need, &plan, vectorized, unaligned);
  } else {
    if (plan.kind == TC_CUDA_COLUMNS && !plan.scan) plan_columns(k, p, n, need, &vectorized);
    tc_cuda_add_form(&plan, vectorized);
    if (unaligned) tc_cuda_add_form(&plan, scalar);
  }
  if (plan.kind == TC_CUDA_SERIAL) general.unroll = 1;
  tc_cuda_add_form(&plan, general);
  for (int i = 0; i < plan.nform; ++i) plan.in_registers |= plan.form[i].in_registers;
  free(need);
  return plan;
}

uint32_t tc_cuda_number(tc_cuda_plan *plan, uint32_t first) {
  for (int i = 0; i < plan->nform; ++i) plan->form[i].number = first++;
  return first;
}

uint32_t tc_cuda_slice_axes(const tc_nest *n) {
  uint32_t m = (1u << n->naxis) - 1;
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i)
      for (int a = 0; a < n->naxis; ++a)
        if (tc_dim_is(n->stage[s].action[i].address.coef[a], 0)) m &= ~(1u << a);
  return m;
}
