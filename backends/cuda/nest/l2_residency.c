/* l2_residency.c - residency hints for arrays larger than the L2 cache, which a nest reads once, into
 * registers, while it writes others.
 *
 * Without a hint, written lines leave the cache late, when others evict them, and memory alternates
 * between reads and writes.  Loads with the policy evict_last make written lines the first to be
 * evicted, soon and in order: 2 to 3 % more bandwidth (docs/cuda.md).  What is read again and again gets
 * the same policy, or it would be evicted, too.  Kernels that follow would find a part of the cache
 * occupied: the last of these lines, as many as the cache holds, are released where they were used. */
#include "backends/cuda/nest/nest.h"

#include <stdlib.h>

/* Does the address differ from point to point, along every axis? */
static bool covers(const tc_nest *n, const tc_address *a) {
  for (int i = 0; i < n->naxis; ++i)
    if (tc_dim_is(a->coef[i], 0) && !tc_dim_is(n->axis[i].extent, 1)) return false;
  return !a->nterm;
}

static bool writes_all(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                       const tc_stage *st) {
  bool any = false;
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    any |= a->kind == TC_ACT_STORE && !tc_cuda_is_local(k, p, a->buffer) && covers(n, &a->address);
  }
  return any;
}

static bool is_only_read(const tc_kernel *k, const tc_program *p, const tc_expr *e) {
  return e->kind == TC_EX_LOAD && !e->guard.id && !tc_cuda_is_local(k, p, e->buffer) &&
         !tc_kernel_writes(k, e->buffer);
}

static bool writes(const tc_nest *n, uint32_t buffer) {
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i)
      if (tc_cuda_is_store(&n->stage[s].action[i]) && n->stage[s].action[i].buffer == buffer)
        return true;
  return false;
}

bool tc_cuda_reads_once(const tc_cuda_nest *x, uint32_t load) {
  const tc_expr *e = &x->s.k->expr[load];
  if (x->plan.kind != TC_CUDA_COLUMNS || x->plan.scan) return false;
  int passes = 0;
  for (uint32_t s = 0; s < x->nest->nstage; ++s)
    passes += tc_cuda_is_pass(x->nest, &x->nest->stage[s]);
  return passes == 1 && !writes(x->nest, e->buffer) && covers(x->nest, &e->address);
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
static bool has_full(const tc_cuda_plan *plan) {
  bool any = false;
  for (int i = 0; i < plan->nform; ++i) any |= plan->form[i].full;
  return any;
}

int tc_cuda_find_resident(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                          const tc_cuda_plan *plan, uint8_t *residency) {
  uint8_t *need = calloc(k->nexpr + 1, 1);
  int bytes = 0;
  if (need && has_full(plan) && !plan->scan && writes_all(k, p, n, &n->stage[n->nstage - 1]))
    tc_cuda_mark(k, n, need);
  for (uint32_t i = 1; need && i < k->nexpr; ++i) {
    const tc_expr *e = &k->expr[i];
    need[i] = !need[i] || !is_only_read(k, p, e) ? 0
              : covers(n, &e->address)           ? TC_CUDA_READ_ONCE
                                                 : TC_CUDA_READ_OFTEN;
    if (need[i] == TC_CUDA_READ_ONCE)
      bytes += (int)tc_dtype_bytes(p->buffer[k->buffer[e->buffer]].dtype);
  }
  if (bytes && !may_be_large(p, n, bytes)) bytes = 0;
  for (uint32_t i = 1; residency && need && bytes && i < k->nexpr; ++i) residency[i] = need[i];
  free(need);
  return bytes;
}

static bool any(const tc_cuda_nest *x) {
  bool any = false;
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i) any |= x->residency[i];
  return any;
}

void tc_cuda_declare_residency(tc_cuda_nest *x) {
  if (any(x))
    tc_print_line(&x->s, "const tc_policy policy = tc_evict_last_while(release_from < points);");
}

bool tc_cuda_releases(const tc_cuda_nest *x, const tc_stage *st) {
  return any(x) && writes_all(x->s.k, x->s.p, x->nest, st);
}

void tc_cuda_put_release(tc_cuda_nest *x) {
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i) {
    if (x->residency[i] != TC_CUDA_READ_ONCE) continue;
    const tc_expr *e = &x->s.k->expr[i];
    tc_buf t = {0};
    tc_print_address(&x->s, &e->address, &t);
    tc_print_line(&x->s, "tc_release<TC_L>(b%u + (%s));", e->buffer, t.text ? t.text : "0");
    tc_buf_free(&t);
  }
}
