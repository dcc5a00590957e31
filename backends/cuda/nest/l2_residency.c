/* l2_residency.c - residency hints for loads of arrays larger than the L2 cache (schedule/loads.c).
 *
 * Kernels that follow would find a part of the cache occupied: the last of these lines, as many as
 * the cache holds, are released where they were used. */
#include "backends/cuda/nest/nest.h"

void tc_cuda_mark_residency(tc_cuda_nest *x) {
  const tc_schedule_list *l = &x->plan->evict_last;
  for (uint32_t i = 0; i < l->n; ++i)
    x->residency[l->at[i]] = tc_cuda_covers(x->nest, &x->s.k->expr[l->at[i]].address)
                                 ? TC_CUDA_READ_ONCE
                                 : TC_CUDA_READ_OFTEN;
}

int tc_cuda_resident_bytes(const tc_cuda_text *x) {
  const tc_schedule_list *l = &tc_cuda_nest_schedule_of(x->schedule)->evict_last;
  int bytes = 0;
  for (uint32_t i = 0; i < l->n; ++i) {
    const tc_expr *e = &x->k->expr[l->at[i]];
    if (tc_cuda_covers(&x->k->nest[x->nest], &e->address))
      bytes += (int)tc_dtype_bytes(x->p->buffer[x->k->buffer[e->buffer]].dtype);
  }
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
  return any(x) && tc_cuda_writes_all(x->s.k, x->s.p, x->nest, st);
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
