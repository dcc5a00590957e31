/* shared_cache.c - shared memory as a cache of rows that registers do not hold and more than one
 * pass reads: the first pass stores their items there, as many as fit, and later passes load them;
 * the rest is read again, from the caches.  A thread loads what it stored itself, so there is no
 * barrier. */
#include "backends/cuda/nest/nest.h"

#include <stdlib.h>
#include <string.h>

/* Does the load differ from row to row, and run along the lanes? */
static bool is_row(const tc_kernel *k, const tc_program *p, const tc_nest *n, const tc_expr *e) {
  if (e->kind != TC_EX_LOAD || e->guard.id || e->address.nterm) return false;
  bool varies = false;
  for (int a = 0; a < n->nparallel; ++a) varies |= !tc_dim_is(e->address.coef[a], 0);
  return varies && tc_dim_is(e->address.coef[n->vector], 1) && !tc_cuda_is_local(k, p, e->buffer);
}

static bool has_scan(const tc_nest *n) {
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i)
      if (n->stage[s].action[i].kind == TC_ACT_SCAN) return true;
  return false;
}

/* Adds to passes[id] for every expression that a pass over the row needs. */
static void count_passes(const tc_kernel *k, const tc_nest *n, uint8_t *need, uint8_t *passes) {
  for (uint32_t s = 0; s < n->nstage; ++s) {
    if (!tc_cuda_is_pass(n, &n->stage[s])) continue;
    memset(need, 0, k->nexpr + 1);
    tc_cuda_mark_stage(k, &n->stage[s], need);
    for (uint32_t i = 1; i < k->nexpr; ++i)
      if (need[i] && passes[i] < 2) ++passes[i];
  }
}

/* As sizeof(tc_held<T, TC_L>). */
static int held_bytes(const tc_kernel *k, const tc_program *p, uint32_t buffer, int lanes) {
  enum { LEAST = 4 };
  const int bytes = (int)tc_dtype_bytes(p->buffer[k->buffer[buffer]].dtype) * lanes;
  return bytes < LEAST ? LEAST : bytes;
}

int tc_cuda_find_smem_cache(const tc_kernel *k, const tc_program *p, const tc_nest *n, int lanes,
                            uint8_t *marked) {
  if (n->serial || n->vector < n->nparallel || has_scan(n)) return 0;
  uint8_t *need = calloc(k->nexpr + 1, 1), *passes = calloc(k->nexpr + 1, 1);
  int bytes = 0;
  if (need && passes) count_passes(k, n, need, passes);
  for (uint32_t i = 1; need && passes && i < k->nexpr; ++i) {
    const tc_expr *e = &k->expr[i];
    if (passes[i] < 2 || !is_row(k, p, n, e)) continue;
    bytes += held_bytes(k, p, e->buffer, lanes);
    if (marked) marked[i] = 1;
  }
  free(need);
  free(passes);
  return bytes;
}

void tc_cuda_declare_smem_cache(tc_cuda_nest *x) {
  enum { COMBINE = 64 }; /* words of 16 bytes that results of warps take */
  const tc_kernel *k = x->s.k;
  tc_buf type = {0}, before = {0};
  tc_print_line(&x->s, "enum { TC_HALF = (TC_U + 1) / 2 };");
  tc_print_line(&x->s, "const tc_int cached = (tc_int)cache_items; /* items in shared memory */");
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    if (!x->smem_cache[i]) continue;
    type.len = 0;
    tc_putf(&type, "tc_held<tc_%s, TC_L>",
            tc_print_storage(x->s.p->buffer[k->buffer[k->expr[i].buffer]].dtype));
    tc_print_line(&x->s, "%s *const s%u = (%s *)(tc_shared + %d + cached / 16 * (int)(0%s));",
                  type.text, i, type.text, COMBINE, before.text ? before.text : "");
    tc_putf(&before, " + sizeof(%s)", type.text);
  }
  if (type.failed || before.failed) x->s.out->failed = true;
  tc_buf_free(&type);
  tc_buf_free(&before);
}

void tc_cuda_put_smem_fill(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base) {
  bool any = false;
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i)
    any |= x->early[i] && x->smem_cache[i] == TC_CUDA_SMEM_FILL;
  if (!any) return;
  tc_cuda_open_items(x, w, base);
  for (uint32_t i = 1; i < x->s.k->nexpr; ++i) {
    if (!x->early[i] || x->smem_cache[i] != TC_CUDA_SMEM_FILL) continue;
    tc_print_line(&x->s, "if (item < cached) s%u[item] = w%u[u];", i, i);
    x->smem_cache[i] = TC_CUDA_SMEM_FILLED;
  }
  tc_cuda_close_items(x);
}

int tc_cuda_cache_bytes(const tc_kernel *k, const tc_program *p, const tc_schedule_list *l,
                        int lanes) {
  int bytes = 0;
  for (uint32_t i = 0; i < l->n; ++i) bytes += held_bytes(k, p, k->expr[l->at[i]].buffer, lanes);
  return bytes;
}
